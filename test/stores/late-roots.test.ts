import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { openStores } from "../../src/stores/registry.ts";
import { type Agent, ownRoot, tell } from "../built/five-stores.ts";
import { sid } from "../support/fake-store.ts";

const IDS: { readonly [agent in Agent]: string } = {
  claude: "00000000-0000-4000-8000-000000000001",
  codex: "019ad3b5-1a00-7000-8000-000000000001",
  daemon: "ses_1",
  hermes: "20261130_1",
  opencode: "ses_1",
};

for (const agent of Object.keys(IDS) as Agent[]) {
  test(`the first session ever of ${agent} is found at once, and told of, though its folder was not there`, {
    timeout: 30_000,
  }, async (t) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "late-")));
    const end = new AbortController();
    t.after(() => {
      end.abort();
      rmSync(home, { recursive: true, force: true });
    });
    const environment = environmentFrom({ home });
    const parts = { environment, clock: systemClock, watcher: createWatcher(), extraRoots: {} };
    const store = openStores(parts).find((each) => each.agent === agent);
    assert.ok(store);
    assert.deepEqual(await store.list("sweep"), []);
    const changes = store.changes(end.signal)[Symbol.asyncIterator]();
    let change = changes.next();
    const written = { id: IDS[agent], at: Date.parse("2026-11-30T10:00:00Z"), title: "one", cwd: "/home/dev/demo" };
    tell(agent, ownRoot(home, agent), written);
    assert.equal((await store.find(sid(IDS[agent])))?.id, IDS[agent]);
    // Never a sweep: only what is told leads to a look.
    for (let rows = 0; rows === 0; ) {
      await change;
      change = changes.next();
      rows = (await store.list("quick")).length;
    }
  });
}
