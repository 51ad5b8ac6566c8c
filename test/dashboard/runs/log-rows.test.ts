import assert from "node:assert/strict";
import { test } from "node:test";
import { promptIn, rowsOf } from "../../../src/dashboard/app/runs/log-rows.ts";

const rows = (text: string, from = 0) => rowsOf({ from, to: from + text.length, text });
const HEAD =
  "14:05:09 codex in /srv/shop, access edit, by you\n         Tidy up.\n           Then test.\n         ---\n";

test("an entry is a row with its time, and its further lines less what they are indented by", () => {
  assert.deepEqual(rows(`${HEAD}14:05:10 started\n`, 7), [
    {
      key: "7.0",
      time: "14:05:09",
      text: "codex in /srv/shop, access edit, by you\nTidy up.\n  Then test.\n---",
      kind: "step",
    },
    { key: `7.${HEAD.length}`, time: "14:05:10", text: "started", kind: "step" },
  ]);
});

test("answers, signs of life and ends are told apart from steps", () => {
  const kinds = (line: string) => rows(`14:05:09 ${line}\n`).map(({ kind }) => kind);
  assert.deepEqual(kinds("answer: All done."), ["answer"]);
  assert.deepEqual(kinds("60s · still running"), ["waiting"]);
  assert.deepEqual(kinds("finished after 173s · done"), ["done"]);
  assert.deepEqual(kinds("finished after 3s · cancelled"), ["interrupted"]);
  assert.deepEqual(kinds("finished after 3s · failed: no finished after 1s · done"), ["failed"]);
  assert.deepEqual(kinds("12s · step 1 · running: npm test"), ["step"]);
});

test("a text that is no log is shown as it is, in rows of a bounded size", () => {
  const text = Array.from({ length: 1_000 }, (_, i) => `line ${i}`).join("\n");
  const made = rows(text);
  assert.equal(made.map((row) => row.text).join("\n"), text);
  assert.deepEqual(new Set(made.map(({ kind }) => kind)), new Set(["more"]));
  assert.equal(
    made.every((row) => row.text.split("\n").length <= 80),
    true,
  );
});

test("a very long line stands in several rows, and no character is cut in two", () => {
  const line = `14:05:09 ${"🎈".repeat(50_000)}`;
  const made = rows(line);
  assert.equal(made.length > 5, true);
  assert.equal(`14:05:09 ${made.map((row) => row.text).join("")}`, line);
  assert.equal(
    made.every(({ text }) => !/\p{Cs}/u.test(text)),
    true,
  );
});

test("rows keep their keys when a log grows at its end", () => {
  const before = rows(`${HEAD}14:05:10 sta`, 3).map(({ key }) => key);
  const after = rows(`${HEAD}14:05:10 started\n14:05:11 more\n`, 3).map(({ key }) => key);
  assert.deepEqual(after.slice(0, before.length), before);
});

test("the prompt is what stands between a log's header and its line of dashes, with dashes of its own", () => {
  assert.deepEqual(promptIn(`${HEAD}14:05:10 started\n`), { prompt: "Tidy up.\n  Then test.", cut: false });
  const dashes = HEAD.replace("         ---\n", "         ---\n         More.\n         ---\n");
  assert.deepEqual(promptIn(dashes), { prompt: "Tidy up.\n  Then test.\n---\nMore.", cut: false });
});

test("a prompt that does not end in what was read is said to be cut", () => {
  assert.deepEqual(promptIn("14:05:09 codex in /srv\n         Tidy up."), { prompt: "Tidy up.", cut: true });
});

test("a log without a header tells no prompt", () => {
  assert.equal(promptIn("npm test\nok"), undefined);
  assert.equal(promptIn(""), undefined);
});
