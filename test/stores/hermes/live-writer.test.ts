import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { BUDGET, Home, TEN } from "./home.ts";

const ROWS = 1_000;

test("who follows a chat while another process writes it gets every row once", { timeout: 30_000 }, async (t) => {
  const home = new Home(t);
  home.session("s1");
  const program = `const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(${JSON.stringify(home.database)}, { timeout: 5000 });
    const add = db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', ?, ?)");
    let n = 0;
    const step = () => {
      for (let i = 0; i < 5; i++, n++) add.run("row " + n, ${TEN} + n);
      if (n % 200 === 0) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      if (n < ${ROWS}) setTimeout(step, 1); else db.close();
    };
    step();`;
  const writer = spawn(process.execPath, ["--no-warnings", "-e", program], { stdio: ["ignore", "ignore", "inherit"] });
  t.after(() => writer.kill());
  let isWriting = true;
  const ended = new Promise((resolve) =>
    writer.once("exit", (code) => {
      isWriting = false;
      resolve(code);
    }),
  );
  const ref = await home.ref("s1");
  const told: unknown[] = [];
  for (let from: Cursor = START, last = false; !last; ) {
    last = !isWriting;
    for (let more = true; more; ) {
      const page = await home.store.entries(ref, from, BUDGET);
      assert.equal(page.reset, undefined);
      told.push(...page.entries.map((entry) => "text" in entry && entry.text));
      more = page.next !== from;
      from = page.next;
    }
    await new Promise(setImmediate);
  }
  assert.equal(await ended, 0);
  assert.deepEqual(
    told,
    Array.from({ length: ROWS }, (_, n) => `row ${n}`),
  );
});
