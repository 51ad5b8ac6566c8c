import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FIXTURES, freshChats, placesIn, shown } from "./fixtures.ts";

const PROJECTS = join(FIXTURES, "projects");
const EXPECTED = join(FIXTURES, "expected");
const README = readFileSync(join(FIXTURES, "..", "README.md"), "utf8");

for (const place of placesIn(PROJECTS)) {
  test(`the chats of the fixture ${place.session} are what people have read and found right`, async () => {
    const expected = JSON.parse(readFileSync(join(EXPECTED, `${place.session}.json`), "utf8"));
    assert.deepEqual(JSON.parse(JSON.stringify(await shown(freshChats(), place))), expected);
  });

  test(`the fixture ${place.session} has a line that says what it shows`, () => {
    assert.ok(README.includes(`\`${place.session.slice(0, 8)}\``));
  });
}

test("no expectation is left of a fixture that is gone", () => {
  const sessions = placesIn(PROJECTS).map(({ session }) => `${session}.json`);
  assert.deepEqual(readdirSync(EXPECTED).sort(), sessions.sort());
});
