import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FIXTURES, makeHome, openStore, shown } from "./fixtures.ts";

const home = mkdtempSync(join(tmpdir(), "opencode-expected-"));
after(() => rmSync(home, { recursive: true, force: true }));
makeHome(home);

const EXPECTED = join(FIXTURES, "expected");

for (const file of readdirSync(EXPECTED)) {
  test(`what the session of ${file} shows is what people have read and found right`, async () => {
    const expected = JSON.parse(readFileSync(join(EXPECTED, file), "utf8"));
    const now = await shown(openStore(home), file.slice(0, -".json".length));
    assert.deepEqual(JSON.parse(JSON.stringify(now)), expected);
  });
}

test("every session of the fixtures that is no child has its expectation", async () => {
  const sessions = (await openStore(home).list("sweep")).filter(({ parent }) => parent === undefined);
  assert.deepEqual(sessions.map(({ id }) => `${id}.json`).sort(), readdirSync(EXPECTED).sort());
});
