import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { keepAtWork } from "../../src/commands/demo/at-work.ts";
import { writeHistory } from "../../src/commands/demo/history.ts";
import { removeLeftovers } from "../../src/commands/demo/leftovers.ts";
import { run } from "../../src/commands/run.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { PortTaken } from "../../src/server/listen.ts";
import { PAGE_BUDGET } from "../../src/stores/pages.ts";
import { openStores } from "../../src/stores/registry.ts";
import type { Store } from "../../src/stores/store.ts";
import { START } from "../../src/transcript/cursor.ts";
import { toItems } from "../../src/transcript/item.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { fakeContext } from "./fake.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-history-")));
after(() => rmSync(home, { recursive: true }));

test("the made-up history is read as it was meant: several projects, all kinds of items, subagents, nothing left out", async () => {
  writeHistory(home, systemClock.now());
  const [claude] = openStores({
    environment: environmentFrom({ home }),
    clock: systemClock,
    watcher: createWatcher(),
    extraRoots: {},
  });
  assert.ok(claude);
  const listed = await claude.list("sweep");
  assert.deepEqual(listed.map(({ cwd }) => cwd.slice(home.length + 1)).sort(), [
    "notes",
    "notes",
    "shop",
    "shop",
    "shop",
    "翻訳",
  ]);
  const told = await Promise.all(listed.map(({ id }) => kindsIn(claude, id)));
  assert.deepEqual([...new Set(told.flatMap(({ kinds }) => kinds))].sort(), [
    "assistant",
    "subagent",
    "tool Agent",
    "tool Agent error",
    "tool Bash",
    "tool Bash error",
    "tool Edit",
    "tool Grep",
    "tool Read",
    "tool Write",
    "tool bash",
    "tool command",
    "tool compact",
    "tool error error",
    "tool interrupted",
    "user",
  ]);
  assert.deepEqual(told.flatMap(({ children }) => children).sort(), ["done", "done, nested", "failed"]);
  assert.deepEqual((await claude.report()).skipped, []);
});

async function kindsIn(
  store: Store,
  id: Parameters<Store["find"]>[0],
): Promise<{ kinds: string[]; children: string[] }> {
  const ref = await store.find(id);
  assert.ok(ref);
  const { entries } = await store.entries(ref, START, PAGE_BUDGET);
  const kinds = toItems(entries).map(({ kind, tool, error }) =>
    [kind, tool, error && "error"].filter(Boolean).join(" "),
  );
  const { children } = await store.children(ref);
  return {
    kinds,
    children: children.map(({ status, parent }) => (parent === undefined ? status : `${status}, nested`)),
  };
}

/** Lets demos write below `temporary`. */
function demosIn(t: TestContext, temporary: string): void {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = temporary;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
}

test("a demo that can't be written says where, and what to do", async (t) => {
  const temporary = join(temporaryFolder(t), "missing");
  demosIn(t, temporary);
  const untilInterrupted = () => new AbortController().signal;
  const thisProcess = () => ({ pid: process.pid, procStart: undefined });
  const context = fakeContext([], { untilInterrupted, bridge: { thisProcess } });
  assert.equal(await run(context, COMMANDS, ["demo"]), 1);
  const why = `agent-bridge: the demo can't be written into ${temporary} (ENOENT): see to its permissions and its space, or name another folder in TMPDIR\n`;
  assert.equal(context.terminal.written.err, why);
});

test("the session at work stops when its folder has been taken away, and the demo goes on", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const folder = temporaryFolder(t);
  const history = writeHistory(folder, systemClock.now());
  const end = new AbortController();
  keepAtWork(history, { pid: process.pid, procStart: undefined }, systemClock, end.signal);
  t.mock.timers.tick(2_000);
  rmSync(join(folder, ".claude"), { recursive: true });
  t.mock.timers.tick(4_000);
  mkdirSync(dirname(history.live.file), { recursive: true });
  t.mock.timers.tick(4_000);
  assert.equal(existsSync(history.live.file), false);
  end.abort();
});

test("a demo on a port that is taken says so in one line, leaves nothing behind and stops its work", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const temporary = temporaryFolder(t);
  demosIn(t, temporary);
  const context = fakeContext([], {
    untilInterrupted: () => new AbortController().signal,
    bridge: {
      thisProcess: () => ({ pid: process.pid, procStart: undefined }),
      running: async () => undefined,
      ownFiles: () => ({
        home: { path: temporary, found: true },
        key: { found: true },
        config: { found: false, warnings: [] },
      }),
      serve: async (_, port) => {
        throw new PortTaken(port, undefined);
      },
    },
  });
  assert.equal(await run(context, COMMANDS, ["demo", "--port", "1"]), 1);
  assert.match(context.terminal.written.err, /^agent-bridge: port 1 is taken by another program; .*\n$/);
  assert.deepEqual(readdirSync(temporary), []);
  // The session at work would write into a folder that is gone.
  t.mock.timers.tick(10_000);
});

test("the folders of demos that were killed are removed by a later one, and nothing else is", async (t) => {
  const temporary = temporaryFolder(t);
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const dead = child.pid;
  const kept = [
    `agent-bridge-demo-${process.pid}-abc123`,
    "agent-bridge-demo-abc123",
    `agent-bridge-${dead}-abc123`,
    "other",
  ];
  for (const name of [...kept, `agent-bridge-demo-${dead}-abc123`])
    mkdirSync(join(temporary, name, "deep"), { recursive: true });
  const file = `agent-bridge-demo-${dead}-file`;
  writeFileSync(join(temporary, file), "");
  const target = temporaryFolder(t);
  const linked = `agent-bridge-demo-${dead}-link`;
  symlinkSync(target, join(temporary, linked));
  removeLeftovers(temporary);
  assert.deepEqual(readdirSync(temporary).sort(), [...kept, file, linked].sort());
  assert.ok(existsSync(target));
  removeLeftovers(join(temporary, "nowhere"));
});
