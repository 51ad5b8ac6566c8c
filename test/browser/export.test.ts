import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { htmlWriter } from "../../src/export/html.ts";
import type { ExportedMessage } from "../../src/export/model.ts";
import { readable, readableLine } from "../../src/transcript/printable.ts";
import { documentOf, META, SUBAGENT } from "../support/exported.ts";
import { FIELDS, PIECES } from "../support/hostile.ts";

const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];

let browser: Browser;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-bridge-export-"));
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", ...QUIET],
  });
});

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** What a page did that a document must not do. */
interface Deeds {
  readonly page: Page;
  /** Requests, dialogs, console messages (a policy that was broken is one), errors, and windows that were opened. */
  readonly seen: string[];
}

async function opened(options: Parameters<Browser["newPage"]>[0] = {}): Promise<Deeds> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const seen: string[] = [];
  await page.context().route("**/*", (route) => {
    seen.push(`routed ${route.request().url().slice(0, 200)}`);
    return route.request().url().startsWith("file:") ? route.continue() : route.abort();
  });
  page.on("request", (request) => seen.push(`asked for ${request.url().slice(0, 200)}`));
  page.on("console", (message) => seen.push(`console ${message.text()}`));
  page.on("pageerror", (error) => seen.push(`error ${error.message}`));
  page.on("popup", () => seen.push("window"));
  page.on("dialog", (dialog) => {
    seen.push("dialog");
    return dialog.dismiss();
  });
  return { page, seen };
}

async function openedFile(
  html: string,
  options: Parameters<Browser["newPage"]>[0] = {},
): Promise<Deeds & { url: string }> {
  const file = join(folder, "export.html");
  await writeFile(file, html);
  const deeds = await opened(options);
  const url = pathToFileURL(file).href;
  await deeds.page.goto(url);
  return { ...deeds, url };
}

test("what a page does is noticed here", async () => {
  const { page, seen } = await opened();
  const image = "<img src=https://evil.example/a.png>";
  const style = "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'\"><b style='color:red'></b>";
  await page.setContent(
    `${image}<script>window.ran = 1; alert(1); open("about:blank"); throw new Error("x")</script>${style}`,
  );
  for (const deed of [
    /^asked for https:\/\/evil/,
    /^routed https:\/\/evil/,
    /^dialog$/,
    /^window$/,
    /^error x$/,
    /^console .*style/i,
  ]) {
    assert.equal(
      seen.some((one) => deed.test(one)),
      true,
      `${deed} ${JSON.stringify(seen)}`,
    );
  }
  assert.equal(await page.evaluate("window.ran"), 1);
  await page.close();
});

/** Every piece of hostile text in every place, each as a message of its own. */
const HOSTILE: readonly ExportedMessage[] = FIELDS.flatMap((field) =>
  PIECES.flatMap((piece) => field.make(`a ${piece} b`).messages),
);

test("a document full of hostile texts runs nothing, asks for nothing and breaks no policy", async () => {
  const html = documentOf(htmlWriter(), { ...META, title: PIECES.join(" "), cwd: PIECES.join(" ") }, HOSTILE);
  const file = await openedFile(html);
  await unfoldAll(file.page);
  assert.deepEqual(file.seen, [`asked for ${file.url}`, `routed ${file.url}`]);
  assert.equal(await file.page.evaluate("window.ran"), undefined);
  assert.equal(await file.page.evaluate("document.scripts.length + document.images.length + frames.length"), 0);
  assert.deepEqual(
    await file.page.evaluate(`[...document.querySelectorAll(".md *")].map((e) => e.localName + " " + (e.protocol ?? ""))
    .filter((e) => !/^(?:(?:p|h[3-6]|[uo]l|li|blockquote|table|thead|tbody|tr|t[hd]|em|strong|s|code|pre|br|hr|input) |a (?:https?|mailto):)$/.test(e))`),
    [],
  );
  const bare = await opened();
  await bare.page.setContent(written(html));
  await unfoldAll(bare.page);
  assert.deepEqual(bare.seen, []);
  assert.equal(await bare.page.evaluate("window.ran"), undefined);
  await Promise.all([file.page.close(), bare.page.close()]);
});

/** Text as it comes out of a file of UTF-8. */
const written = (text: string): string => Buffer.from(text).toString();

/** The elements of the page with their attributes, and its text. A function of the page: it is sent there as text. */
const SHAPE = `(() => {
  const all = [...document.querySelectorAll("body *")];
  return {
    elements: all.map((e) => e.tagName + [...e.attributes].map((a) => " " + a.name + "=" + a.value).join("")),
    texts: [...document.querySelectorAll("bdi, pre, .text, .md")].map((e) => e.textContent),
  };
})()`;

interface Shape {
  readonly elements: readonly string[];
  readonly texts: readonly string[];
}

for (const field of FIELDS.filter(({ name }) => name !== "an answer")) {
  test(`${field.name} is to a browser that very text and nothing more`, async () => {
    const { page } = await opened();
    const pieces = PIECES.map((piece) => `a ${piece}\n<b>`);
    const shapeOf = async (texts: readonly string[]): Promise<Shape> => {
      const [first = "", ...others] = texts.map((text) => field.make(text));
      if (first === "") throw new Error("no text");
      const messages = others.flatMap((other) => other.messages);
      await page.setContent(written(documentOf(htmlWriter(), first.meta, [...first.messages, ...messages])));
      return (await page.evaluate(SHAPE)) as Shape;
    };
    const texts = field.isLine && field.make("").meta !== META ? [pieces.join(" ")] : pieces;
    const hostile = await shapeOf(texts);
    const benign = await shapeOf(texts.map(() => "Benign"));
    assert.deepEqual(hostile.elements, benign.elements);
    const shown = texts.map((text) => (field.isLine ? readableLine(text) : readable(text)));
    const missing = shown.map(written).filter((text) => !hostile.texts.includes(text));
    assert.deepEqual(missing, []);
    await page.close();
  });
}

/** A chat with every kind of message, some of them with lines that are far too long. */
const CHAT: readonly ExportedMessage[] = [
  { role: "user", text: `Why? ${"x".repeat(2_000)}` },
  {
    role: "assistant",
    model: "a-model",
    reasoning: `Hm ${"y".repeat(2_000)}`,
    text: `# One\n\n${"z".repeat(2_000)} \`${"code".repeat(200)}\`\n\n| ${"a |".repeat(30)}\n| ${"- |".repeat(30)}\n| ${"b |".repeat(30)}\n\n    ${"indented".repeat(100)}\n\n[l](http://a.example/${"p".repeat(500)})`,
    toolCalls: [{ name: "Bash".repeat(100), input: { command: `ls\n${"w".repeat(2_000)}`, a: "b".repeat(500) } }],
  },
  { role: "tool", toolName: "Bash", text: "v".repeat(2_000) },
  { role: "tool", toolName: "Bash", text: `failed ${"v".repeat(2_000)}`, isError: true },
  { role: "system", marker: "error", isError: true, text: "u".repeat(2_000) },
  { role: "system", marker: "interrupted", summary: "t".repeat(500) },
  { role: "system", marker: "compact-summary", text: "s".repeat(2_000) },
  { role: "system", marker: "command", text: "r".repeat(2_000) },
  { role: "user", text: "wrong", takenBack: true },
  {
    role: "system",
    subagent: {
      ...SUBAGENT,
      title: "q".repeat(160),
      messages: [
        { role: "assistant", text: "p".repeat(2_000) },
        {
          role: "system",
          subagent: { ...SUBAGENT, title: "Deeper", messages: [{ role: "user", text: "o".repeat(900) }] },
        },
      ],
    },
  },
];

const PAGE = documentOf(htmlWriter(), { ...META, title: "n".repeat(300), cwd: `/${"m".repeat(300)}` }, CHAT);

async function unfoldAll(page: Page): Promise<void> {
  await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
}

for (const width of [360, 1280]) {
  test(`nothing goes over the side of a window ${width} pixels wide, folded or not`, async () => {
    const { page } = await openedFile(PAGE, { viewport: { width, height: 800 } });
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
    await unfoldAll(page);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
    await page.close();
  });
}

test("what is folded opens and closes by keyboard", async () => {
  const { page } = await openedFile(PAGE);
  const isOpen = 'document.activeElement.tagName + " " + document.activeElement.parentElement.open';
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(isOpen), "SUMMARY false");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(isOpen), "SUMMARY true");
  await page.keyboard.press("Space");
  assert.equal(await page.evaluate(isOpen), "SUMMARY false");
  await page.close();
});

/** The least contrast (WCAG 2) of any text of the page with what it stands on, and that text. */
const LEAST_CONTRAST = `(() => {
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { const c = rgb(getComputedStyle(e).backgroundColor); return c[3] === 0 && e.parentElement ? ground(e.parentElement) : c; };
  const texts = [...document.querySelectorAll("body *")].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== ""));
  return texts.map((e) => {
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
    return { ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text: e.className + " " + e.textContent.slice(0, 40) };
  }).sort((a, b) => a.ratio - b.ratio)[0];
})()`;

for (const [media, colorScheme] of [
  ["screen", "light"],
  ["screen", "dark"],
  ["print", "dark"],
] as const) {
  test(`every text is easy to read on ${media} when ${colorScheme} is preferred`, async () => {
    const { page } = await openedFile(PAGE, { colorScheme });
    await page.emulateMedia({ media });
    await unfoldAll(page);
    const least = (await page.evaluate(LEAST_CONTRAST)) as { ratio: number; text: string };
    assert.equal(least.ratio >= 4.5, true, JSON.stringify(least));
    const isDark = 'getComputedStyle(document.querySelector(".user .role h2")).color.match(/\\d+/)[0] > 100';
    assert.equal(await page.evaluate(isDark), media === "screen" && colorScheme === "dark");
    await page.close();
  });
}

test("the page has one main heading, landmarks, and headings that skip no level", async () => {
  const { page } = await openedFile(PAGE);
  const levels = (await page.evaluate(
    '[...document.querySelectorAll(":is(h1,h2,h3,h4,h5,h6):not(.md *)")].map((h) => Number(h.tagName[1]))',
  )) as number[];
  assert.deepEqual([levels[0], levels.filter((level) => level === 1).length], [1, 1]);
  assert.deepEqual(
    levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1),
    [],
  );
  assert.equal(await page.evaluate('document.querySelectorAll("body > header, body > main, body > footer").length'), 3);
  await page.close();
});
