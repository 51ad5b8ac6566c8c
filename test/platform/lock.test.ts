import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { withLock } from "../../src/platform/lock.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const LOCK = new URL("../../src/platform/lock.ts", import.meta.url).href;

/** Another process that runs `program` with `withLock` and `home` at hand. */
function other(
  t: TestContext,
  home: string,
  program: string,
): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
  const script = `import { withLock } from ${JSON.stringify(LOCK)};
    import { readFileSync, writeFileSync } from "node:fs";
    const home = ${JSON.stringify(home)};
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

/** Holds it until it is killed; what could let it go is kept, as a lock that nobody can let go of is given up. */
const HOLDER = `await withLock(home, () => new Promise((free) => {
    console.log("held");
    setInterval(() => globalThis.never && free(), 1_000);
  }));`;

test("one at a time: what waits in this process goes on when the first is done", async (t) => {
  const home = join(folderOf(t), "home");
  const order: string[] = [];
  await Promise.all(
    ["a", "b", "c", "d"].map((name) =>
      withLock(
        home,
        async () => {
          order.push(`${name} in`);
          await new Promise(setImmediate);
          order.push(`${name} out`);
        },
        { tryEveryMs: 1 },
      ),
    ),
  );
  assert.equal(order.length, 8);
  for (let n = 0; n < 8; n += 2) assert.equal(order[n]?.[0], order[n + 1]?.[0], order.join(", "));
});

test("the lock gives back what was done, and is free again after a failure", async (t) => {
  const home = folderOf(t);
  assert.equal(await withLock(home, () => 7), 7);
  await assert.rejects(
    withLock(home, () => Promise.reject(new Error("in use"))),
    { message: "in use" },
  );
  assert.equal(await withLock(home, async () => 8, { waitMs: 0 }), 8);
});

test("folder and file are made for the user alone, and nothing else is left", async (t) => {
  const home = join(folderOf(t), "deep", "home");
  const during = await withLock(home, () => readdirSync(home));
  assert.deepEqual(during, ["lock.db"]);
  assert.deepEqual(readdirSync(home), ["lock.db"]);
  assert.equal(statSync(home).mode & 0o777, 0o700);
  assert.equal(statSync(join(home, "lock.db")).mode & 0o777, 0o600);
});

test("a lock that another process holds is waited for so long, and is free at once when that one is killed", async (t) => {
  const home = folderOf(t);
  for (let n = 0; n < 3; n++) {
    const holder = other(t, home, HOLDER);
    await once(holder.stdout, "data");
    await assert.rejects(
      withLock(home, () => assert.fail("two held it"), { waitMs: 40, tryEveryMs: 10 }),
      {
        kind: "failed",
        message: "another agent-bridge is writing; try again in a moment",
      },
    );
    const dead = once(holder, "exit");
    holder.kill("SIGKILL");
    await dead;
    assert.equal(await withLock(home, () => n, { waitMs: 0 }), n);
  }
});

test("one that waits gets it when its holder is killed", async (t) => {
  const home = folderOf(t);
  const holder = other(t, home, HOLDER);
  await once(holder.stdout, "data");
  const waiting = withLock(home, () => "mine", { tryEveryMs: 5, waitMs: 20_000 });
  holder.kill("SIGKILL");
  assert.equal(await waiting, "mine");
});

test("several processes that count in one file lose nothing, though one of them is killed", async (t) => {
  const home = folderOf(t);
  const counter = join(home, "counter");
  mkdirSync(home, { recursive: true });
  writeFileSync(counter, "0");
  const counting = `for (let n = 0; n < 25; n++) {
      await withLock(home, async () => {
        const count = Number(readFileSync(home + "/counter", "utf8"));
        await new Promise(setImmediate);
        writeFileSync(home + "/counter", String(count + 1));
      }, { tryEveryMs: 1, waitMs: 60_000 });
    }`;
  const victim = other(t, home, HOLDER);
  await once(victim.stdout, "data");
  const ends = [1, 2, 3].map(() => once(other(t, home, counting), "exit"));
  victim.kill("SIGKILL");
  for (const end of ends) assert.deepEqual(await end, [0, null]);
  assert.equal(readFileSync(counter, "utf8"), "75");
});

test("a home that can't be written is told in one line", async (t) => {
  const file = join(folderOf(t), "file");
  writeFileSync(file, "");
  const message = "agent-bridge's own folder can't be written: see --home and AGENT_BRIDGE_HOME";
  await assert.rejects(
    withLock(join(file, "home"), () => 1),
    { kind: "failed", message: /is a file, or lies below one: give a folder with --home or AGENT_BRIDGE_HOME$/ },
  );
  const occupied = folderOf(t);
  mkdirSync(join(occupied, "lock.db"));
  await assert.rejects(
    withLock(occupied, () => 1),
    { kind: "failed", message: "lock.db is a folder: move it away" },
  );
  const home = folderOf(t);
  writeFileSync(
    join(home, "lock.db"),
    "this is no database, and long enough to be read as the header of one".repeat(20),
  );
  await assert.rejects(
    withLock(home, () => 1),
    { kind: "failed", message },
  );
});
