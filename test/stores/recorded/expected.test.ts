import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { START } from "../../../src/transcript/cursor.ts";
import { type Item, toItems } from "../../../src/transcript/item.ts";
import { sid } from "../../support/fake-store.ts";
import { FIXTURES, openStore, SESSIONS } from "./fixtures.ts";
import { BUDGET } from "./home.ts";

/** An item on one line, as a person reads it. */
function lineOf({ kind, tool, summary, text, error, id, at, ref }: Item): string {
  const told = [kind === "tool" ? tool : kind, summary, text === undefined ? undefined : JSON.stringify(text)];
  const marks = `${error ? " ERROR" : ""} (${id} ${ref} ${new Date(at).toISOString()})`;
  return told.filter((part) => part !== undefined).join(" | ") + marks;
}

for (const session of SESSIONS) {
  test(`the chat of the fixture ${session} is what people have read and found right`, async () => {
    const store = openStore(FIXTURES);
    const ref = await store.find(sid(session));
    assert.ok(ref);
    const { entries } = await store.entries(ref, START, BUDGET);
    const shown = toItems(entries).map((item) => `${lineOf(item)}\n`);
    const totals = await store.totals(ref);
    const expected = readFileSync(join(FIXTURES, "expected", `${session}.txt`), "utf8");
    assert.equal(`${shown.join("")}totals ${JSON.stringify(totals)}\n`, expected);
  });
}

test("the list of the fixtures", async () => {
  const store = openStore(FIXTURES);
  const rows = await store.list("sweep");
  assert.deepEqual(rows.map(({ id, title, cwd, model }) => [id, title, cwd, model]).sort(), [
    ["ses_33", "From another program", "", undefined],
    ["sess_11aa22bb", "Count the files", "/home/dev/work/proj", "m-1"],
    ["sess_22bb33cc", "Write a long answer", "", undefined],
  ]);
  assert.equal(await store.find(sid("ses_cmd")), undefined);
  const { sessions, skipped } = await store.report();
  assert.equal(sessions, 3);
  assert.deepEqual(
    skipped.map(({ reason, count }) => [reason, count]),
    [["the recording of a plain command", 1]],
  );
});
