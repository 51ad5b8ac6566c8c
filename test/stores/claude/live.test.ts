import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { ProcessProof } from "../../../src/stores/claude/live-registry.ts";
import type { ClaudeChatReader } from "../../../src/stores/claude/store.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import { type ClaudeHome, claudeHome, prompt, sessionId } from "./claude-home.ts";

const id = sessionId(1);

/** A registration as 2.1.332 writes it. */
function register(home: ClaudeHome, name: string, record: object | string): string {
  const folder = join(home.home, ".claude", "sessions");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, typeof record === "string" ? record : JSON.stringify(record));
  return path;
}

const registration = (more: object = {}) => ({
  pid: 944,
  sessionId: id,
  cwd: "/home/dev/proj",
  startedAt: 1796030788295,
  procStart: "212183",
  version: "2.1.332",
  name: "proj-a8",
  status: "busy",
  ...more,
});

/** Processes by their start. */
const processes = (running: Record<number, string>): ProcessProof => ({
  isRunning: (pid, start) => running[pid] !== undefined && (start === undefined || running[pid] === start),
});

test("a session is live while the process that wrote itself down runs", async (t) => {
  const home = claudeHome(t);
  home.write("p", `${id}.jsonl`, [prompt("a")]);
  register(home, "944.json", registration());
  const running: Record<number, string> = { 944: "212183" };
  let now = 1_796_030_800_000;
  const store = home.store({ processes: processes(running), clock: { now: () => now as EpochMs } });
  assert.deepEqual((await store.list("sweep"))[0]?.live, { pid: 944, activity: "busy" });
  assert.deepEqual(await store.live(), [
    { id, pid: 944, cwd: "/home/dev/proj", startedAt: 1796030788295, activity: "busy", name: "proj-a8" },
  ]);
  delete running[944];
  now += 1_000;
  assert.equal((await store.list("quick"))[0]?.live, undefined);
  assert.deepEqual(await store.live(), []);
});

test("another process under the same number proves nothing", async (t) => {
  const home = claudeHome(t);
  register(home, "944.json", registration());
  assert.deepEqual(await home.store({ processes: processes({ 944: "999" }) }).live(), []);
});

test("only registrations are read: no key, nothing else, nothing half written, and no link out", async (t) => {
  const home = claudeHome(t);
  register(home, "944.0f0f.key", registration());
  register(home, "notes.json", registration());
  register(home, "1.json", '{"pid":1,"sessionId":');
  register(home, "2.json", registration({ pid: 2, sessionId: "../x" }));
  register(home, "3.json", registration({ pid: "x" }));
  writeFileSync(join(home.home, "secret.json"), JSON.stringify(registration({ pid: 4 })));
  symlinkSync(join(home.home, "secret.json"), join(home.home, ".claude", "sessions", "4.json"));
  assert.deepEqual(await home.store().live(), []);
});

test("fields that are missing or of another kind are left out", async (t) => {
  const home = claudeHome(t);
  register(home, "944.json", { pid: "944", sessionId: id, cwd: 7, startedAt: 5, procStart: 212183, status: null });
  const store = home.store({ processes: processes({ 944: "212183" }) });
  assert.deepEqual(await store.live(), [{ id, pid: 944, cwd: "", startedAt: 5 }]);
});

test("of two processes with one session the newer one has it", async (t) => {
  const home = claudeHome(t);
  register(home, "1.json", registration({ pid: 1, startedAt: 2000 }));
  register(home, "2.json", registration({ pid: 2, startedAt: 1000 }));
  assert.deepEqual(
    (await home.store().live()).map((proof) => proof.pid),
    [1],
  );
});

test("the reader of chats can ask who is live, and a registration that changed is read again within a second", async (t) => {
  const home = claudeHome(t);
  const path = register(home, "944.json", registration());
  let now = 1_796_030_800_000;
  let isLive: (session: SessionId) => boolean = () => false;
  const store = home.store({
    clock: { now: () => now as EpochMs },
    chats: (asked) => {
      isLive = asked;
      return {} as ClaudeChatReader;
    },
  });
  await store.find(sessionId(9));
  assert.deepEqual([isLive(id), isLive(sessionId(2))], [true, false]);
  writeFileSync(`${path}.new`, JSON.stringify(registration({ sessionId: sessionId(2) })));
  renameSync(`${path}.new`, path);
  now += 1_000;
  assert.deepEqual([isLive(id), isLive(sessionId(2))], [false, true]);
  rmSync(path);
  now += 1_000;
  assert.equal(isLive(sessionId(2)), false);
});
