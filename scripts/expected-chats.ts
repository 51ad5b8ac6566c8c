// Writes what the chats of the Claude Code fixtures show into fixtures/claude/expected. Read the difference before you
// commit it: these files are the contract's word on each fixture, not the program's.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES, freshChats, placesIn, readableJson, shown } from "../test/stores/claude/fixtures.ts";

const folder = join(FIXTURES, "expected");
mkdirSync(folder, { recursive: true });
for (const place of placesIn(join(FIXTURES, "projects"))) {
  writeFileSync(join(folder, `${place.session}.json`), readableJson(await shown(freshChats(), place)));
}
