import type { ExportedMessage, ExportMeta } from "../../src/export/model.ts";
import { META, SUBAGENT } from "./exported.ts";

/** Pieces of text that mean something to Markdown, HTML, a site that renders either, or a terminal. */
export const PIECES: readonly string[] = [
  ...[1, 2, 3, 4, 5, 9].flatMap((count) => ["`".repeat(count), "~".repeat(count)]),
  ...["```js\nx\n```", "~~~\nx\n~~~", "\n````\n# out\n", "\n\n", "\n", " ", "    code", "\ta"],
  ...[
    "<script>window.ran = 1</script>",
    "<img src=https://evil.example/i.png onerror='window.ran=1'>",
    "<!-- a",
    "-->",
    "<![CDATA[",
    "]]>",
  ],
  ...[
    "</details>",
    "<details>",
    "</summary>",
    "</pre>",
    "</div></article></main>",
    "</title>",
    "<style>*{display:none}</style>",
    "</style>",
  ],
  ...[
    "<a href=javascript:window.ran=1>a</a>",
    "<svg onload=window.ran=1>",
    "<iframe src=https://evil.example>",
    "<base href=//evil.example>",
  ],
  ...[
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href=//evil.example/a.css>",
    "<b>",
    "<?php ?>",
  ],
  ...[
    "# heading",
    "## two #",
    "a\n===",
    "a\n---",
    "- item",
    "* item",
    "+ item",
    "1. one",
    "2) two",
    "> quote",
    "***",
    "---",
    "___",
  ],
  ...[
    "[a](https://evil.example)",
    "[a]: https://evil.example 'b'",
    "[a][b]",
    "[a]",
    "![i](https://evil.example/i.png)",
    "[a](javascript:window.ran=1)",
  ],
  ...[
    "https://evil.example/p?a=b",
    "www.evil.example",
    "evil.example",
    "main.rs",
    "//localhost",
    "me@evil.example",
    "mailto:me@evil.example",
    "<https://evil.example>",
  ],
  ...[
    "| a | b |\n| - | - |\n| c | d |",
    "a | b\n-|-",
    "[^1]",
    "[^1]: note",
    "*em*",
    "_em_",
    "**strong**",
    "~~gone~~",
    "$x$",
    "$$\nx\n$$",
    ":smile:",
  ],
  ...[
    "@someone",
    "#12",
    "GH-12",
    "owner/name#3",
    "0123456789abcdef0123456789abcdef01234567",
    "&amp;",
    "&#60;b&#62;",
    "&lt;",
    "&copy",
    "\\",
    "\\`",
    "\\\n",
  ],
  ...[
    "\u001b[31mred\u001b[0m",
    "\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\",
    "\u001b]0;title\u0007",
    "\u009b31m",
    "\u202eright\u202c",
    "\u2066i\u2069",
  ],
  ...[
    "a\u0000b",
    "a\rb",
    "a\r\nb",
    "a\u2028b\u2029c",
    "a\u200bb",
    "\ufeff",
    "\u{e0041}",
    "👩\u200d💻",
    "می\u200cخواهم\u200f!",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0041}",
    "\u200e# heading",
    "1\u2060. one",
    "evil\u200b.example",
    "\u0085",
    "\u00a0",
    "\ud800",
    "\udc00a",
    "😀",
    "é",
    "עברית",
    "\u000b\u000c",
  ],
  ...[
    "javascript:window.ran=1",
    "data:text/html,<script>window.ran=1</script>",
    "{{x}}",
    "$" + "{x}",
    "'\"",
    "%3Cb%3E",
    "word",
    "Two words.",
  ],
];

/** A place where a foreign text stands, in a document that is otherwise the same. */
export interface Field {
  readonly name: string;
  /** The text stands on one line there. */
  readonly isLine: boolean;
  make(text: string): { readonly meta: ExportMeta; readonly messages: readonly ExportedMessage[] };
}

/** Every place of a foreign text, of every kind of message. */
export const FIELDS: readonly Field[] = [
  ofMeta("the title", (text) => ({ title: text })),
  ofMeta("the agent", (text) => ({ title: "Title", agent: text })),
  ofMeta("the folder", (text) => ({ cwd: text })),
  ofMeta("the model", (text) => ({ model: text })),
  block("what a user says", (text) => ({ role: "user", text })),
  block("an answer", (text) => ({ role: "assistant", text })),
  block("reasoning", (text) => ({ role: "assistant", reasoning: text })),
  line("the model of an answer", (text) => ({ role: "assistant", text: "yes", model: text })),
  line("the tool of a call", (text) => ({ role: "assistant", toolCalls: [{ name: text, input: undefined }] })),
  line("what a call does", (text) => ({ role: "assistant", toolCalls: [{ name: "Bash", input: {}, summary: text }] })),
  block("the input of a call", (text) => ({
    role: "assistant",
    toolCalls: [{ name: "Bash", summary: "runs", input: text }],
  })),
  block("the only field of an input", (text) => ({
    role: "assistant",
    toolCalls: [{ name: "Bash", summary: "runs", input: { command: text } }],
  })),
  line("the name of a field", (text) => ({
    role: "assistant",
    toolCalls: [{ name: "Bash", summary: "runs", input: { [text]: "ls" } }],
  })),
  block("the output of a tool", (text) => ({ role: "tool", toolName: "Bash", text })),
  block("the error of a tool", (text) => ({ role: "tool", toolName: "Bash", text, isError: true })),
  line("the tool of an output", (text) => ({ role: "tool", toolName: text, text: "done" })),
  block("an error", (text) => ({ role: "system", marker: "error", text, isError: true })),
  line("what an interruption says", (text) => ({ role: "system", marker: "interrupted", summary: text })),
  line("what an interruption says on a line of text", (text) => ({
    role: "system",
    marker: "interrupted",
    ...(/[\r\n]/.test(text) || text.length > 200 ? { summary: text } : { text }),
  })),
  block("what a compaction left", (text) => ({ role: "system", marker: "compact-summary", text })),
  block("a turn that was taken back", (text) => ({ role: "user", text, takenBack: true })),
  line("the title of a subagent", (text) => ({ role: "system", subagent: { ...SUBAGENT, title: text } })),
  line("the title of a subagent whose messages follow", (text) => ({
    role: "system",
    subagent: { ...SUBAGENT, title: text, messages: [{ role: "user", text: "go" }] },
  })),
  block("what a subagent is told", (text) => ({
    role: "system",
    subagent: { ...SUBAGENT, title: "Look", messages: [{ role: "user", text }] },
  })),
];

function ofMeta(name: string, make: (text: string) => Partial<ExportMeta>): Field {
  return { name, isLine: true, make: (text) => ({ meta: { ...META, ...make(text) }, messages: AROUND }) };
}

function line(name: string, make: (text: string) => ExportedMessage): Field {
  return { ...block(name, make), isLine: true };
}

function block(name: string, make: (text: string) => ExportedMessage): Field {
  const around = (message: ExportedMessage): ExportedMessage[] => [...AROUND, message, ...AROUND];
  return { name, isLine: false, make: (text) => ({ meta: META, messages: around(make(text)) }) };
}

const AROUND: readonly ExportedMessage[] = [{ role: "user", text: "before and after" }];
