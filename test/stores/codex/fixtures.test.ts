import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { CodexStore } from "../../../src/stores/codex/store.ts";
import type { Listed } from "../../../src/stores/store.ts";
import { toItems } from "../../../src/transcript/item.ts";
import { allEntries, found, Home, told } from "./home.ts";

const folder = fileURLToPath(new URL("../../../fixtures/codex", import.meta.url));
const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

function storeOver(t: TestContext, name: string): CodexStore {
  const home = new Home(t);
  home.locks = "";
  return home.store({ codexHome: join(folder, name) });
}

async function rowsOf(store: CodexStore): Promise<Listed[]> {
  return [...(await store.list("sweep"))].sort((a, b) => a.startedAt - b.startedAt);
}

/** The whole history of a home, as a person reads it. */
async function story(store: CodexStore): Promise<string> {
  const lines: string[] = [];
  for (const row of await rowsOf(store)) {
    const ref = await found(store, row.id);
    const { title, cwd, branch, model, parent } = row;
    lines.push(`# ${row.id}: ${title}`);
    // Without a resume command it is a flat file, whose last change only its own time stamp tells.
    const until = row.resume || parent ? new Date(row.updatedAt).toISOString() : "(its last change)";
    lines.push(`${new Date(row.startedAt).toISOString()} to ${until}`);
    lines.push(
      `${cwd || "(no folder)"}, ${branch ?? "(no branch)"}, ${model ?? "(no model)"}${parent ? `, child of ${parent}` : ""}`,
    );
    lines.push(`tokens ${JSON.stringify((await store.totals(ref))?.tokens)}`);
    for (const child of (await store.children(ref)).children)
      lines.push(`child ${child.id}: ${child.title}, ${child.status}`);
    for (const item of toItems(await allEntries(store, ref))) lines.push(`  ${item.ref} ${told(item)}`);
    lines.push("");
  }
  return lines.join("\n");
}

for (const { name } of names) {
  test(`${name} reads as expected`, async (t) => {
    const expected = join(folder, name, "expected.txt");
    const told = await story(storeOver(t, name));
    if (!existsSync(expected)) {
      writeFileSync(expected, told);
      assert.fail(`${expected} is new: read it, and judge it by the contract`);
    }
    assert.equal(told, readFileSync(expected, "utf8"));
  });

  test(`${name} reads the same from every record on, and backward`, async (t) => {
    const store = storeOver(t, name);
    for (const row of await rowsOf(store)) {
      const ref = await found(store, row.id);
      const whole = await allEntries(store, ref);
      for (const [index, entry] of whole.entries()) {
        const first = whole.findIndex(({ pos }) => pos === entry.pos);
        if (first !== index) continue;
        assert.deepEqual(await allEntries(store, ref, entry.pos), whole.slice(index));
        const before = await store.before(ref, entry.pos, { bytes: 512 * 1024, parts: 200 });
        assert.deepEqual(before.entries, whole.slice(0, index));
        assert.deepEqual(
          await store.record(ref, entry.pos),
          whole.filter(({ pos }) => pos === entry.pos),
        );
      }
    }
  });
}
