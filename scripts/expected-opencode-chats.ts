// Writes what the chats of the OpenCode fixtures show into fixtures/opencode/expected. Read the difference before you commit
// it: these files are the contract's word on each fixture, not the program's.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIXTURES, makeHome, openStore, readableJson, shown } from "../test/stores/opencode/fixtures.ts";

const home = mkdtempSync(join(tmpdir(), "expected-"));
const folder = join(FIXTURES, "expected");
try {
  makeHome(home);
  const store = openStore(home);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const { id, parent } of await store.list("sweep")) {
    if (parent === undefined) writeFileSync(join(folder, `${id}.json`), readableJson(await shown(store, id)));
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
