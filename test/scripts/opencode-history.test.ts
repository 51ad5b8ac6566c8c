import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { writeOpenCodeHistory } from "../../scripts/history/opencode.ts";
import { openStore, readOn, refOf } from "../stores/opencode/fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "opencode-history-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const PLAN = { seed: 1, sessions: 12, bytes: 2_000_000, longParts: 300 };
const made = writeOpenCodeHistory(join(folder, "made"), PLAN);

test("the same seed gives the same rows, another seed others", () => {
  const rowsIn = (path: string): unknown[] => {
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = ["session", "message", "part"].map((table) => database.prepare(`SELECT * FROM ${table}`).all());
    database.close();
    return rows;
  };
  const again = writeOpenCodeHistory(join(folder, "again"), PLAN);
  const other = writeOpenCodeHistory(join(folder, "other"), { ...PLAN, seed: 2 });
  assert.deepEqual(rowsIn(again.path), rowsIn(made.path));
  assert.notDeepEqual(rowsIn(other.path), rowsIn(made.path));
});

test("the store lists every session of a made database and reads every part of it", async () => {
  const store = openStore(made.home);
  const listed = await store.list("sweep");
  assert.deepEqual(listed.map(({ id }) => String(id)).sort(), made.sessions.map(({ id }) => id).sort());
  const [longest] = made.sessions;
  assert.ok(longest !== undefined && longest.parts >= 300 && longest.parts < 330);
  const { entries } = await readOn(store, await refOf(store, longest.id));
  const kinds = new Set(entries.map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ["assistant", "reasoning", "tool-call", "usage", "user"]);
  assert.ok(entries.length > longest.parts / 2);
});
