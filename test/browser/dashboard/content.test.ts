import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { FIELDS, PIECES } from "../../support/hostile.ts";
import { contentPages } from "./content-page.ts";
import { axe, nodes, screenshot } from "./harness.ts";

const open = contentPages();

const README = `# A heading

Some *emphasis*, **strong words**, ~~gone ones~~, \`inline code\` and [a link](https://example.com/a?b=c), and one bare: https://example.com/bare.
A line that follows.

## Steps

1. First of all
2. Then
   - a point
   - another one with \`code\`

- [x] done already
- [ ] still to do

> Quoted words
> on two lines

\`\`\`ts
// A comment that says why.
export function sum(numbers: readonly number[]): number {
  const text = "a string";
  return numbers.reduce((total, number) => total + number, 0); // and a line that is so long that it has to be scrolled sideways
}
\`\`\`

\`\`\`diff
@@ -1 +1 @@
-old
+new
\`\`\`

| Name | Count | Note |
| :--- | ---: | :---: |
| alpha | 12 | the first |
| beta | 3 | ![a picture](https://example.com/i.png) |

---

שלום עולם, and a last line.
`;

test("Markdown is shown as what it says, with no accessibility fault", async (t) => {
  const page = await open(t);
  await page.evaluate(`show(markdown(${JSON.stringify(README)}, app))`);
  assert.equal(await page.locator(".md > h3").textContent(), "A heading");
  assert.equal(await page.locator(".md > h4").textContent(), "Steps");
  const link = page.getByRole("link", { name: "a link" });
  assert.equal(await link.getAttribute("href"), "https://example.com/a?b=c");
  assert.equal(await link.getAttribute("rel"), "noreferrer noopener");
  assert.equal(await page.getByRole("checkbox", { name: "done already" }).isChecked(), true);
  assert.equal(await page.getByRole("checkbox", { name: "still to do" }).isDisabled(), true);
  assert.equal(await page.getByRole("table").getByRole("row").count(), 3);
  assert.equal(await page.getByRole("link", { name: "Image: a picture" }).count(), 1);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(await axe(page), []);
});

test("a plain answer costs few elements", async (t) => {
  const page = await open(t);
  const before = await nodes(page);
  await page.evaluate('show(markdown("One paragraph.\\n\\nAnother one.", app))');
  assert.equal((await nodes(page)) - before, 3);
});

test("code is copied as it is, folded when it is long, and reached by the keyboard when it scrolls", async (t) => {
  const page = await open(t, { permissions: ["clipboard-read", "clipboard-write"] });
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`);
  await page.evaluate(`show(markdown(${JSON.stringify(`~~~\n${lines.join("\n")}\n~~~`)}, app))`);
  const code = page.locator(".code code");
  assert.equal((await code.textContent())?.trimEnd(), lines.slice(0, 40).join("\n"));
  await page.getByRole("button", { name: "Copy" }).click();
  await page.waitForFunction("notes.length > 0");
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), lines.join("\n"));
  assert.equal(await page.evaluate("notes[0]"), "Code copied");
  await page.getByRole("button", { name: "Show 60 more lines" }).click();
  assert.equal(await code.textContent(), lines.join("\n"));
  assert.equal(await page.locator("pre[tabindex]").count(), 0);
  await page.getByRole("button", { name: "Show less" }).click();
  assert.equal((await code.textContent())?.trimEnd(), lines.slice(0, 40).join("\n"));
  await page.evaluate(`show(markdown("~~~\\n${"long ".repeat(200)}\\n~~~", app))`);
  await page.locator("pre[tabindex='0']").waitFor();
  assert.equal(await page.locator("pre[tabindex='0']").getAttribute("aria-label"), "Code");
});

test("a very long text is shown bit by bit", async (t) => {
  const page = await open(t);
  await page.evaluate('show(markdown("- point\\n".repeat(5000), app))');
  assert.equal((await nodes(page)) < 1000, true);
  const more = page.getByRole("button", { name: "Show more of this text" });
  while ((await more.count()) > 0) await more.click();
  assert.equal(await page.locator("li").count(), 5000);
});

test("what a person wrote stands as they wrote it, with its addresses as links", async (t) => {
  const page = await open(t);
  const text = "# not a heading\n  indented https://example.com/a.\nhttp://[bad javascript:window.ran=1";
  await page.evaluate(`show(plain(${JSON.stringify(text)}))`);
  assert.equal(await page.locator(".plain-text").textContent(), text);
  assert.deepEqual(await hrefs(page), ["https://example.com/a"]);
  await page.evaluate('show(plain("word ".repeat(4000)))');
  const more = page.getByRole("button", { name: /^Show [\d,]+ more characters$/ });
  await more.click();
  assert.equal((await page.locator(".plain-text").last().textContent())?.length, 19_999);
});

function hrefs(page: Page): Promise<string[]> {
  return page.evaluate('[...document.querySelectorAll("main a")].map((a) => a.getAttribute("href"))');
}

test("colours of a terminal are shown, and can be read in the light and in the dark", async (t) => {
  const codes = [...Array.from({ length: 8 }, (_, n) => [`3${n}`, `9${n}`, `4${n}`, `10${n}`]).flat(), "7", "2", "1;4"];
  const many = Array.from({ length: 256 }, (_, n) => [`38;5;${n}`, `48;5;${n}`, `38;5;${n};7`]).flat();
  const text = [...codes, ...many, "38;2;10;10;10", "38;2;250;250;250"]
    .map((code) => `\u001b[${code}mtext\u001b[0m `)
    .join("");
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await open(t, { colorScheme });
    await page.evaluate(
      `{ const p = document.createElement("pre"); p.style.whiteSpace = "pre-wrap"; p.append(ansiText(${JSON.stringify(text)})); show(p); }`,
    );
    assert.deepEqual(await axe(page), []);
    await screenshot(page, `content-colours-${colorScheme}`);
  }
});

const EDIT = {
  file_path: "/home/dev/work/proj/src/a-file-with-a-name.ts",
  old_string: "function a() {\n  return 1;\n}\n\n// a comment\nconst size = 10;\n",
  new_string:
    "function a() {\n  return 2;\n}\n\nconst size = 10;\nconst more = `a line that is so long that it is wrapped, since a diff never scrolls sideways, however long it is and whatever is in it`;\n",
};

test("changes of files are told by words and signs, not by colour alone", async (t) => {
  const page = await open(t);
  await page.evaluate(`show(diffView(editsOf("Edit", ${JSON.stringify(EDIT)}), app))`);
  assert.deepEqual(await page.locator(".diff-lines .removed").allTextContents(), ["  return 1;", "// a comment"]);
  assert.equal(await page.locator(".diff-lines .removed mark").textContent(), "1");
  assert.match(
    (await page.locator(".diff figcaption").textContent()) ?? "",
    /a-file-with-a-name\.ts\+2 added−2 removed/,
  );
  const sign = 'getComputedStyle(document.querySelector(".diff-lines .added"), "::before").content';
  assert.match(String(await page.evaluate(sign)), /"\+" \/ "added"/);
  assert.deepEqual(await axe(page), []);
});

test("a large change is shown bit by bit", async (t) => {
  const page = await open(t);
  await page.evaluate(`show(diffView(editsOf("Write", { file_path: "/a", content: "line\\n".repeat(3000) }), app))`);
  const lines = page.locator(".diff-lines li");
  assert.equal(await lines.count(), 200);
  await page.getByRole("button", { name: "Show 1,000 of 2,800 more lines" }).click();
  assert.equal(await lines.count(), 1200);
});

/** Unfolds a call whose record holds `items`; the page counts the loads, and fails as many as `failures` says. */
function unfold(page: Page, call: unknown, outputs: unknown, items: unknown, failures = 0): Promise<unknown> {
  return page.evaluate(`(() => {
    window.loads = 0;
    const records = ${JSON.stringify(items)};
    window.detail = toolDetail({ call: ${JSON.stringify(call)}, outputs: ${JSON.stringify(outputs)}, app, load: async (ref) => {
      if (++loads <= ${failures}) throw new Error("no");
      return records[ref];
    } });
    show(detail.element);
  })()`);
}

const CALL = { kind: "tool", at: 1, tool: "Bash", summary: "npm test", ref: "1" };
const OUTPUT = { kind: "tool", at: 2, tool: "Bash", text: "ok red …", ref: "2", of: "1", cut: true };
const WHOLE = {
  1: [{ ...CALL, input: { command: "npm test", description: "Run the tests", timeout: 1000 } }],
  2: [{ ...OUTPUT, cut: undefined, text: `ok \u001b[31mred\u001b[0m ${"more\n".repeat(5000)}end` }],
};

test("a call shows its command and fields, and its output whole and coloured, bit by bit", async (t) => {
  const page = await open(t);
  await unfold(page, CALL, [OUTPUT], WHOLE);
  await page.getByText("Run the tests").waitFor();
  assert.equal(await page.locator(".detail-input code").textContent(), "npm test");
  assert.deepEqual(await page.locator("dt").allTextContents(), ["description", "timeout"]);
  await page.locator(".tool-output .sgr-1").waitFor();
  await page.getByRole("button", { name: "Show 2,000 of 4,801 more lines" }).click();
  await page.getByRole("button", { name: "Show 2,000 of 2,801 more lines" }).click();
  await page.getByRole("button", { name: "Show 801 more lines" }).click();
  assert.match((await page.locator(".tool-output pre").textContent()) ?? "", /^ok red more\n(?:more\n)+end$/);
  assert.equal((await nodes(page)) < 60, true);
  await page.locator(".tool-output pre[tabindex]").waitFor();
  assert.deepEqual(await axe(page), []);
});

test("a call without an output says so, and its output comes when it is there", async (t) => {
  const page = await open(t);
  const failed = { ...OUTPUT, error: true };
  await unfold(page, CALL, [], { ...WHOLE, 2: [{ ...failed, cut: undefined, text: "all of it" }] });
  await page.getByText("No output so far.").waitFor();
  await page.evaluate(`detail.update(${JSON.stringify(CALL)}, [${JSON.stringify(failed)}])`);
  await page.getByText("all of it").waitFor();
  await page.getByText("Output: it failed").waitFor();
  assert.equal(await page.getByText("No output so far.").count(), 0);
  assert.equal(await page.evaluate("loads"), 2);
});

test("what can't be loaded says why, and can be tried again", async (t) => {
  const page = await open(t);
  await unfold(page, CALL, [], WHOLE, 1);
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Run the tests").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("tasks, patches and values of any kind are shown", async (t) => {
  const page = await open(t);
  const todos = [
    { content: "first", status: "completed" },
    { content: "second", status: "in_progress" },
  ];
  await unfold(page, { ...CALL, tool: "TodoWrite" }, [], { 1: [{ ...CALL, tool: "TodoWrite", input: { todos } }] });
  await page.getByText("second").waitFor();
  assert.deepEqual(await page.locator(".tasks li").allTextContents(), ["✓done: first", "▸in work: second"]);
  const input = { list: [1, { a: null }], flag: true, nothing: null, plan: "# A *plan*" };
  await unfold(page, { ...CALL, tool: "x" }, [], { 1: [{ ...CALL, tool: "x", input }] });
  await page.getByText("A plan").waitFor();
  assert.deepEqual(await page.locator("dt").allTextContents(), ["list", "flag", "plan"]);
});

test("nothing foreign runs, styles or loads anything, wherever it stands", async (t) => {
  const page = await open(t);
  const texts = [...PIECES, PIECES.join(""), PIECES.join("\n"), PIECES.join(" ")];
  const done = await page.evaluate(`(async () => {
    const texts = ${JSON.stringify(texts)};
    for (const text of texts) {
      show(markdown(text, app), plain(text), ansiText(text));
      for (const [tool, input, diffs] of [
        ["Edit", { file_path: text, old_string: text, new_string: text + "x" }],
        ["Write", { file_path: "a", content: text }],
        ["apply_patch", "*** Begin Patch\\n*** Add File: " + text + "\\n+" + text + "\\n*** Update File: b\\n@@ " + text + "\\n-" + text + "\\n*** End Patch"],
        ["x", {}, [{ path: text, oldText: text, newText: text + "y" }]],
        [text, { changes: { [text]: { type: "add", content: text } } }],
      ]) show(diffView(editsOf(tool, input, diffs) ?? [], app));
      for (const input of [text, { command: text }, { [text]: text }, { todos: [{ content: text, status: text }] }, [text], { plan: text }]) {
        const item = { kind: "tool", at: 1, tool: text, summary: text, text, ref: text };
        show(toolDetail({ call: item, outputs: [{ ...item, of: "1", error: true }], load: async () => [{ ...item, input }], app }).element);
      }
      await new Promise((resolve) => setTimeout(resolve));
      if (text.length < 500) document.querySelector("main").replaceChildren();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    return texts.length;
  })()`);
  assert.equal(done, texts.length);
  assert.equal(FIELDS.length > 0, true);
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.equal(await page.locator("main :is(img, script, iframe, style, link, meta, base, svg, object)").count(), 0);
  for (const href of await hrefs(page)) assert.match(href, /^(?:https?:\/\/|mailto:)/i);
  const shown = (await page.locator("main").textContent()) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
});

test("pictures of everything, for people to look at", async (t) => {
  for (const [name, options] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { viewport: { width: 390, height: 900 } }],
  ] as const) {
    const page = await open(t, options);
    await page.evaluate('document.body.style.height = "auto"');
    await page.evaluate(
      `show(markdown(${JSON.stringify(README)}, app), diffView(editsOf("Edit", ${JSON.stringify(EDIT)}), app))`,
    );
    const changes = {
      "/p/numbers.ts": { type: "update", unified_diff: "@@ -98,3 +98,4 @@ class A\n keep\n-old\n+new\n+more\n end\n" },
    };
    await page.evaluate(`show(diffView(editsOf("x", ${JSON.stringify({ changes })}), app))`);
    await unfold(page, CALL, [OUTPUT], WHOLE);
    await page.locator(".tool-output .sgr-1").waitFor();
    await page.locator(".tool-output pre[tabindex]").waitFor();
    const sideways = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert.equal(await page.evaluate(sideways), false, `${name} scrolls sideways`);
    assert.deepEqual(await axe(page), []);
    const { height } = (await page.locator("main").boundingBox()) ?? { height: 900 };
    await page.setViewportSize({ width: page.viewportSize()?.width ?? 900, height: Math.ceil(Math.min(height, 3000)) });
    await screenshot(page, `content-${name}`);
  }
});
