import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { markdownToHtml } from "../../../src/transcript/markdown/html.ts";
import { parseMarkdown } from "../../../src/transcript/markdown/parse.ts";
import { hostileTexts } from "./hostile.ts";

/** The tags that may be in our HTML, with all that may be in them. */
const TAG = new RegExp(
  [
    "<(/?)(h[3-6]|p|pre|code|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|em|strong|s|a|hr|br|input)",
    '(?:(?<=ol) start="\\d+"|(?<=t[hd]) align="(?:left|center|right)"|(?<=td) colspan="\\d+"',
    '|(?<=code) data-lang="[\\w+#.-]{1,40}"|(?<=input) type="checkbox" disabled(?: checked)?',
    '|(?<=<a) href="([^"]*)"(?: title="[^"]*")? rel="noopener noreferrer nofollow")?>',
  ].join(""),
  "g",
);

/** Asserts that `html` is well-formed, of the elements we know, and without a link that leads anywhere but to web or mail. */
function assertSafe(html: string, text: string): void {
  const open: string[] = [];
  const rest = html.replace(TAG, (tag, end: string, name: string, href: string | undefined) => {
    if (end !== "") assert.equal(open.pop(), name, `${tag} in ${JSON.stringify(text)}`);
    else if (!["hr", "br", "input"].includes(name)) {
      assert.ok(name !== "a" || (href !== undefined && !open.includes("a")), JSON.stringify(text));
      open.push(name);
    }
    if (href !== undefined) assertFollowable(href, text);
    const attributes =
      tag.replace(/^<\/?\w+|="[^"]*"|>$/g, "") + [...tag.matchAll(/="([^"]*)"/g)].map(([, value]) => value);
    assert.doesNotMatch(attributes, /[<>'`]|&(?!#\d+;)/, tag);
    return "";
  });
  assert.deepEqual(open, [], JSON.stringify(text));
  assert.doesNotMatch(rest, /[<>"']|&(?!#\d+;)/, JSON.stringify(text));
}

function assertFollowable(href: string, text: string): void {
  const address = href.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a browser takes these out before it looks at the scheme.
  assert.doesNotMatch(address, /[\u0000-\u0020\u007f]/, JSON.stringify(text));
  assert.match(address, /^(?:https?:\/\/|mailto:)/i, JSON.stringify(text));
  if (URL.canParse(address, "https://page.invalid/")) {
    const { protocol } = new URL(address, "https://page.invalid/");
    assert.ok(["http:", "https:", "mailto:"].includes(protocol), JSON.stringify(text));
  }
}

const PIECES = [
  ..."*_~`[]()!<>|#-+=:.&;\\\"' \t\na1é😀\u0000\u001b\u00a0\u200b\u202e\ud800",
  ..."** __ ~~ ``` ~~~ ![ ]( ][ ]: <br> www. - > --- |-| 1.".split(" "),
  ...["\n\n", "\n    ", "  \n", "\n- ", "\n> ", "\n| a | b |\n|---|:-:|\n", "- [ ] ", "[a]: ", "[a]", "](x 'y')"],
  ...[
    "<script>",
    "</p>",
    "<a href='",
    "<img src=x onerror=",
    "-->",
    "&lt;",
    "&#60;",
    "&quot;",
    "&#x22;",
    "&Tab;",
    "&#10;",
  ],
  ...[
    "javascript:",
    "JaVaScript&#58;",
    "data:text/html,",
    "vbscript:",
    "file:///",
    "//a.b",
    "https://a.b/",
    "mailto:a@b.c",
  ],
];

test("whatever a text says, its HTML is well-formed, of known elements, and leads to web and mail only", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => assertSafe(markdownToHtml(text), text)),
    { numRuns: 5_000 },
  );
});

test("an address that does something else never becomes one to follow, however it is spelled", () => {
  const addresses = [
    ...[
      "javascript:alert(1)",
      "JAVASCRIPT:alert(1)",
      " javascript:alert(1)",
      "java\tscript:alert(1)",
      "java&#10;script:alert(1)",
    ],
    ...[
      "&#106;avascript:alert(1)",
      "&#x6A;avascript&#x3a;alert(1)",
      "javascript&colon;alert(1)",
      "javascript\\:alert(1)",
    ],
    ...[
      "\u0001javascript:alert(1)",
      "&#1;javascript:alert(1)",
      "java\u0000script:alert(1)",
      "&Tab;javascript:alert(1)",
    ],
    ...[
      "data:text/html,<script>alert(1)</script>",
      "data:image/svg+xml;base64,AAAA",
      "vbscript:msgbox(1)",
      "file:///etc/passwd",
    ],
    ...[
      "//evil.example/x",
      "\\\\evil.example\\x",
      "/\\evil.example",
      "/path",
      "#fragment",
      "?query",
      "x.html",
      "blob:https://a.b/c",
    ],
    ...[
      "http:evil",
      "https:/evil",
      "https:\\\\evil",
      "http:///",
      "ht tp://a.b",
      "view-source:https://a.b",
      "ftp://a.b",
      "mailto:",
    ],
    ...["javascript://a.b/%0aalert(1)", "https&#58;//", "\u202ejavascript:alert(1)", "java\u200bscript:alert(1)"],
  ];
  for (const address of addresses) {
    for (const text of [
      `[a](${address})`,
      `[a](<${address}>)`,
      `![a](${address})`,
      `<${address}>`,
      `[a]\n\n[a]: ${address}`,
      `[a]\n\n[a]: <${address}> "t"`,
      `![a][]\n\n[a]: ${address}`,
    ]) {
      const html = markdownToHtml(text);
      const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
      assert.deepEqual(hrefs, [], JSON.stringify(text));
      assertSafe(html, text);
    }
  }
});

test("an answer that still comes in can be shown wherever it stops", () => {
  const answer =
    "# A *b*\n\n1. [x] `c` [d](https://e.f 'g')\n   - h ![i](j.png)\n\n> k &amp; **l\n> m** ~~n~~ <o@p.q>\n\n" +
    "```ts\nr\n```\n\n| s | t |\n|---|:-:|\n| `u\\|v` | <br> |\n\nw[^1] [x][y]\n===\n\n    z 😀\n\n[y]: <https://a.b> (c)\n";
  for (let end = 0; end <= answer.length; end++) {
    const text = answer.slice(0, end);
    assertSafe(markdownToHtml(text), text);
  }
});

test("hostile texts are safe too, and no tree is deeper than recursion can walk", () => {
  for (const [name, text] of Object.entries(hostileTexts(30_000))) {
    assertSafe(markdownToHtml(text), name);
    assert.ok(depthOf(parseMarkdown(text)) < 250, name);
  }
});

/** How many objects and arrays stand in each other. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let depth = 0;
  for (const child of Object.values(value)) depth = Math.max(depth, depthOf(child));
  return depth + 1;
}
