import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sid } from "../../support/fake-store.ts";
import { homeWith, SESSION, session } from "./conversation.ts";
import { dataFolder, openStore } from "./fixtures.ts";

test("a file that is no database does not stand in the way of the others, and holds no session", async (t) => {
  const { home } = homeWith(t, { session: [session()] });
  writeFileSync(join(dataFolder(home), "opencode-dev.db"), "no database");
  const store = openStore(home);
  await store.list("sweep");
  assert.equal(await store.find(sid("ses_other")), undefined);
  assert.equal((await store.find(sid(SESSION)))?.id, SESSION);
});
