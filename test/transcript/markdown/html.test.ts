import assert from "node:assert/strict";
import { test } from "node:test";
import { markdownToHtml } from "../../../src/transcript/markdown/html.ts";
import { ourHtml, peerHtml } from "./peer.ts";

const REL = 'rel="noopener noreferrer nofollow"';

test("an assistant's answer becomes headings below the page's own, lists, code, tables and links", () => {
  const answer = [
    "# Done",
    "I changed **two** files:",
    "",
    "1. `src/a.ts`: reads *all* lines",
    "   - [x] tested",
    "   - [ ] documented",
    '2. [the guide](https://example.com/guide?a=1&b=2 "Guide")',
    "",
    "```ts title=a.ts",
    "const a = b < c;",
    "```",
    "",
    "| File | Lines |",
    "|------|------:|",
    "| a.ts | 12 |",
    "",
    "---",
    "> ~~old~~ new<br>line",
  ].join("\n");
  assert.equal(
    markdownToHtml(answer),
    `<h3>Done</h3>
<p>I changed <strong>two</strong> files:</p>
<ol>
<li><code>src/a.ts</code>: reads <em>all</em> lines
<ul>
<li><input type="checkbox" disabled checked> tested</li>
<li><input type="checkbox" disabled> documented</li>
</ul>
</li>
<li><a href="https://example.com/guide?a=1&#38;b=2" title="Guide" ${REL}>the guide</a></li>
</ol>
<pre><code data-lang="ts">const a = b &#60; c;
</code></pre>
<table>
<thead>
<tr>
<th>File</th>
<th align="right">Lines</th>
</tr>
</thead>
<tbody>
<tr>
<td>a.ts</td>
<td align="right">12</td>
</tr>
</tbody>
</table>
<hr>
<blockquote>
<p><s>old</s> new<br>
line</p>
</blockquote>
`,
  );
});

test("no heading stands above the third level or below the sixth", () => {
  const levels = [1, 2, 3, 4, 5, 6].map((level) => markdownToHtml(`${"#".repeat(level)} a`).trim());
  assert.deepEqual(levels, ["<h3>a</h3>", "<h4>a</h4>", "<h5>a</h5>", "<h6>a</h6>", "<h6>a</h6>", "<h6>a</h6>"]);
});

test("a link that may not be followed shows where it would lead, once", () => {
  const shown = (text: string) => markdownToHtml(text).replace(/<\/?p>|\n/g, "");
  assert.equal(shown("[a.ts](src/a.ts:3)"), "a.ts (src/a.ts:3)");
  assert.equal(shown("[src/a.ts](src/a.ts) [`b`](b)"), "src/a.ts <code>b</code>");
  assert.equal(shown("[x](javascript:alert(1) 'y')"), "x (javascript:alert(1))");
  assert.equal(shown("[x](#top) [y]()"), "x (#top) y");
  assert.equal(shown("<ftp://a.b> ![c](d.png)"), "ftp://a.b Image: c (d.png)");
});

test("an image is a link to it, and within a link its text and address", () => {
  assert.equal(
    markdownToHtml("![a *b*](https://c.d/e.png)"),
    `<p><a href="https://c.d/e.png" ${REL}>Image: a b</a></p>\n`,
  );
  assert.equal(
    markdownToHtml("[![a](https://c.d/e.svg)](https://f.g)"),
    `<p><a href="https://f.g" ${REL}>Image: a (https://c.d/e.svg)</a></p>\n`,
  );
});

test("an address is followed with its spaces and controls out of the way", () => {
  assert.equal(markdownToHtml("[a](<https://b.c/d e>)"), `<p><a href="https://b.c/d%20e" ${REL}>a</a></p>\n`);
  assert.equal(markdownToHtml("[a](ht&#9;tps://b.c/&#10;d)"), `<p><a href="https://b.c/d" ${REL}>a</a></p>\n`);
});

test("of the language of a block of code no more stays than a word", () => {
  assert.match(markdownToHtml("~~~ c++ x\n~~~"), /^<pre><code data-lang="c\+\+">/);
  assert.match(markdownToHtml("~~~ \"><b onclick='x'>\n~~~"), /^<pre><code data-lang="b">/);
  assert.match(markdownToHtml(`~~~ ${"a".repeat(99)}\n~~~`), /^<pre><code data-lang="a{40}">/);
});

test("what an entity hides is not shown: neither controls nor marks that turn the direction of the text", () => {
  assert.equal(
    markdownToHtml("a&#27;[31m&#x202e;b&#0;&#xd800;&#x2066;&#xfeff;"),
    "<p>a\ufffd[31m\ufffdb\ufffd\ufffd\ufffd\ufffd</p>\n",
  );
  assert.equal(markdownToHtml("a\u001b[31mb\u202ec"), "<p>abc</p>\n");
  assert.equal(markdownToHtml("می&#8204;خواهم 👩&#x200d;💻"), "<p>می\u200cخواهم 👩\u200d💻</p>\n");
});

test("what a row has beyond the columns stays in its last cell, and what it lacks is one wide cell", () => {
  assert.match(markdownToHtml("|a|b|\n|-|-|\n|1|2|3|\n"), /<td>1<\/td>\n<td>2\|3<\/td>/);
  assert.match(markdownToHtml("|a|b|c|\n|-|-|-|\n|1|\n"), /<td>1<\/td>\n<td colspan="2"><\/td>/);
});

/** Where we differ from markdown-it on purpose, beside what `peerHtml` maps: the input, what we make of it, and why. */
const DIFFERENT: Record<string, [input: string, ours: string]> = {
  "<br> is a break, since nothing else breaks a line in a cell": ["a<br/>b", "<p>a<br>\nb</p>"],
  "a rare entity stays as it is written": ["&ClockwiseContourIntegral;", "<p>&amp;ClockwiseContourIntegral;</p>"],
  "three tildes or more strike nothing, as on GitHub": ["a ~~~~b~~~~", "<p>a ~~~~b~~~~</p>"],
  "dashes alone below a line with a bar underline a heading, as on GitHub": ["| a\n---", "<h4>| a</h4>"],
  "a row loses no cell that is beyond the columns": [
    "|a|b|\n|-|-|\n|1|2|3|",
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2|3</td></tr></tbody></table>",
  ],
  "a definition is part of a paragraph until that ends, as in CommonMark's own reader": [
    "> [x]: /u\nv",
    "<blockquote><p>v</p></blockquote>",
  ],
  "what precedes an unfinished target may be a reference, as in CommonMark's own reader": [
    "[x](\n\n[x]: https://a.b",
    `<p><a href="https://a.b" ${REL}>x</a>(</p>`,
  ],
  "lines in a code span are joined without their indentation, as in CommonMark's own reader": [
    "`a\n  b`",
    "<p><code>a b</code></p>",
  ],
  "an unfinished block of code ends its last line": ["```\na", "<pre><code>a\n</code></pre>"],
  "what stands in more than 32 others is text": [
    `${"> ".repeat(33)}a`,
    `${"<blockquote>".repeat(32)}<p>&gt; a</p>${"</blockquote>".repeat(32)}`,
  ],
  "no link stands in another": [
    "[a <https://b.c>](https://d.e)",
    `<p><a href="https://d.e" ${REL}>a https://b.c</a></p>`,
  ],
};

for (const [why, [input, ours]] of Object.entries(DIFFERENT)) {
  test(`other than markdown-it: ${why}`, () => {
    assert.equal(ourHtml(input), ours);
    assert.notEqual(peerHtml(input), ours);
  });
}
