import assert from "node:assert/strict";
import { Session } from "node:inspector/promises";
import { after, before, test } from "node:test";
import { hostileTexts, repeated } from "./hostile.ts";

const LENGTH = 6_000;

const session = new Session();
let markdownToHtml: (text: string) => string;

before(async () => {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  // Only what is compiled from now on is counted.
  ({ markdownToHtml } = await import("../../../src/transcript/markdown/html.ts"));
});

after(() => session.disconnect());

/**
 * How often the blocks of the reader's and the writer's code ran for `text`: the branches, and the rounds of loops. Functions
 * that are one block are left out, since calls of theirs are not counted once they are inlined.
 */
async function stepsFor(text: string): Promise<number> {
  await session.post("Profiler.takePreciseCoverage");
  markdownToHtml(text);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.includes("/src/transcript/markdown/"))
    .flatMap(({ functions }) => functions.filter(({ ranges }) => ranges.length > 1))
    .flatMap(({ ranges }) => ranges)
    .reduce((sum, { count }) => sum + count, 0);
}

test("rounds of loops are counted", async () => {
  assert.ok((await stepsFor(repeated("a *b* ", LENGTH))) > LENGTH / 6);
});

for (const [name, text] of Object.entries(hostileTexts(LENGTH))) {
  test(`a text twice as long takes twice the steps: ${name}`, async () => {
    const once = await stepsFor(text);
    const twice = await stepsFor(hostileTexts(2 * LENGTH)[name] ?? "");
    assert.ok(twice < 2.2 * once + 1_000, `${once} steps, and ${twice} for twice the text`);
    assert.ok(once < 150 * LENGTH, `${once} steps for ${text.length} characters`);
  });

  test(`what is written grows no faster than the text: ${name}`, () => {
    const html = markdownToHtml(text);
    assert.ok(html.length < 20 * text.length + 20_000, `${html.length} characters of HTML for ${text.length}`);
  });
}
