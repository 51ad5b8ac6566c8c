import { join } from "node:path";
import type { Talk } from "./claude.ts";

/** Markdown of every kind. */
const MARKDOWN = `# A heading

## A second one

A paragraph with **bold**, *emphasis*, ~~gone~~, \`code\` and a [link](https://example.com/a?b=c "title"), and one that stands
bare: https://example.com/bare.

- one
  - nested
    - deeper
- [x] done
- [ ] open

1. first
2. second

   with a paragraph of its own

> A quote
> > in a quote

| Name | Count | Note |
| :--- | ----: | :--: |
| a | 1 | left |
| ${"wide ".repeat(12)} | 2000 | ${"x".repeat(120)} |

---

\`\`\`ts
/** Adds. */
export function add(a: number, b: number): number {
  const text = "a string"; // a comment
  return a + b;
}
\`\`\`

\`\`\`
no language ${"long ".repeat(60)}
\`\`\`

![an image](https://example.com/i.png) and a footnote[^1].

[^1]: The note.
`;

const ANSI = [
  "\u001b[1mbold\u001b[0m \u001b[31mred\u001b[0m \u001b[32mgreen\u001b[0m \u001b[4munderlined\u001b[0m \u001b[7minverse\u001b[0m",
  "\u001b[38;5;208morange\u001b[0m \u001b[38;2;10;120;250mtrue colour\u001b[0m \u001b[41;97m on red \u001b[0m",
  "10%\r20%\r100% done",
  "\u001b]8;;https://example.com\u001b\\a link\u001b]8;;\u001b\\ and \u001b[2Kcleared",
].join("\n");

const FILE = Array.from({ length: 60 }, (_, line) => `${line + 1}\tconst value${line} = ${line};`).join("\n");

/** Says everything that a session can hold: every kind of item, Markdown, edits, coloured output, subagents. */
export function tellRich(talk: Talk): void {
  const file = join(talk.start.cwd, "src/login.ts");
  talk
    .title("Everything a session can hold")
    .user("Please show me **everything** you can do.\n\n    indented\n\nAnd keep my line\nbreaks.")
    .thinks("Let me think about that.\n\nFirst the Markdown, then the tools.")
    .says(MARKDOWN)
    .tool("Read", { file_path: file, offset: 1, limit: 60 }, FILE)
    .tool("Edit", { file_path: file, ...EDIT }, "The file has been updated.")
    .tool(
      "MultiEdit",
      { file_path: file, edits: [EDIT, { old_string: "one\ntwo", new_string: "one\nthree\ntwo" }] },
      "Applied 2 edits.",
    )
    .tool(
      "Write",
      { file_path: join(talk.start.cwd, "new.ts"), content: "export const one = 1;\nexport const two = 2;\n" },
      "File created.",
    )
    .tool("Bash", { command: "npm test -- --colour", description: "Run the tests" }, ANSI)
    .tool(
      "Bash",
      { command: "npm test\nnpm run lint && \\\n  npm run build" },
      `Exit code 1\n${"✖ a test that fails\n".repeat(40)}`,
      true,
    )
    .tool("Grep", { pattern: "query\\.next", path: "src", output_mode: "content" }, "src/logout.ts:4: query.next")
    .tool(
      "TodoWrite",
      { todos: [todo("Look", "completed"), todo("Change", "in_progress"), todo("Test", "pending")] },
      "Todos have been modified.",
    )
    .tool("WebFetch", { url: "https://example.com/page", prompt: "What does it say?" }, "It says nothing.")
    .tool(
      "mcp__tracker__list_issues",
      { state: "open", labels: ["bug", "ui"], nested: { deep: [1, 2, { three: true }] } },
      '{"issues":[{"id":1,"title":"A bug"}]}',
    )
    .says("Now two helpers.")
    .subagent(
      "a1f0c2d4e6b80912a",
      "Review prices",
      (child) => {
        child
          .tool("Bash", { command: "ls" }, "prices.ts")
          .subagent(
            "a3d2e4b6c8fa0714c",
            "Try the rounding",
            (deeper) => deeper.says("0.9999999999999999"),
            "0.9999999999999999",
          )
          .says("Prices are summed as floats.");
      },
      "Prices are summed as floats.",
    )
    .subagent("a2e1d3c5b7f90813b", "Watch the build", (child) =>
      child.tool("Bash", { command: "npm run build" }, "built"),
    )
    .add((script) => script.slash("cost", "", "Total cost: \u001b[1m$0.42\u001b[0m"))
    .add((script) => script.bash("git status --short", " M find.js"))
    .userBlocks([
      { type: "text", text: "What is in this picture?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    ])
    .says("I can't tell.")
    .add((script) => script.compacted("The login was fixed; the prices are still to be done."))
    .user("Go on.")
    .add((script) => script.apiError(529, "Overloaded"))
    .user("Again.")
    .says("Starting over …")
    .add((script) => script.interrupted())
    .user("Only the login.")
    .says("Done: login goes back to `next`.");
}

const EDIT = {
  old_string: '  const target = query.next;\n  return "/";\n',
  new_string: '  const target = safePath(query.next);\n  return target ?? "/";\n',
};

function todo(content: string, status: string): { readonly [key: string]: unknown } {
  return { content, status, activeForm: `${content}ing` };
}

/** Says texts of other scripts: right to left, without spaces, with joined emoji, and one line of 20,000 characters. */
export function tellWorld(talk: Talk): void {
  talk
    .title("إصلاح إعادة التوجيه بعد تسجيل الدخول (login.ts)")
    .user("أصلح إعادة التوجيه في `src/login.ts` من فضلك، ثم شغّل الاختبارات.")
    .says("تم الإصلاح:\n\n- تغيير `target()`\n- إضافة اختبار\n\n| الملف | السطور |\n| --- | --- |\n| login.ts | ١٢ |")
    .user("תקן את הבדיקה של login בבקשה (v2).")
    .says("הבדיקה עוברת כעת: `npm test` מחזיר 0.")
    .tool("Bash", { command: "echo 'שלום עולם'" }, "שלום עולם\nمرحبا بالعالم\nplain")
    .user("README を日本語に翻訳してください。改行なしの長い文章もお願いします。")
    .says(`${"日本語の長い文章は空白なしで続きます。".repeat(30)}\n\n한국어도 있습니다. 中文也有。`)
    .user("Emoji: 👩‍👩‍👧‍👦 👨🏽‍💻 🏳️‍🌈 🇩🇪 👍🏿 e\u0301 ﷽ Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢")
    .tool("Bash", { command: `echo ${"x".repeat(20_000)}` }, "y".repeat(20_000))
    .says("z".repeat(20_000));
}
