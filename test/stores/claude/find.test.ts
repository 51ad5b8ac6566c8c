import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../../src/platform/failure.ts";
import type { ClaudeChatReader } from "../../../src/stores/claude/store.ts";
import type { SessionRef } from "../../../src/stores/store.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import { claudeHome, type Line, prompt, sessionId } from "./claude-home.ts";
import { freshChats } from "./fixtures.ts";

const id = sessionId(1);
const file = `${id}.jsonl`;
const place = (projects: string, folder: string) => ({
  root: projects,
  file: join(projects, folder, file),
  session: id,
  mainFile: join(projects, folder, file),
  sideFolder: join(projects, folder, id),
});

test("a session is found by its id without any listing", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [prompt("a")]);
  assert.deepEqual(await home.store().find(id), { agent: "claude", id, place: place(home.projects, "p") });
});

test("a session that is known is found with one question to the system", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [prompt("a")]);
  const store = home.store();
  await store.list("sweep");
  home.work();
  await store.find(id);
  assert.deepEqual(home.work(), { folders: 0, stats: 1, opens: 0, reads: 0, parses: 0 });
});

test("a session that moved is found where it is now", async (t) => {
  const home = claudeHome(t);
  const path = home.write("p", file, [prompt("a")]);
  const store = home.store();
  await store.list("sweep");
  mkdirSync(join(home.projects, "q"));
  renameSync(path, join(home.projects, "q", file));
  assert.deepEqual((await store.find(id))?.place, place(home.projects, "q"));
  rmSync(join(home.projects, "q"), { recursive: true });
  assert.equal(await store.find(id), undefined);
});

test("of two files with one id the one written last is found", async (t) => {
  const home = claudeHome(t);
  home.write("a", file, [prompt("old")], new Date(1000));
  home.write("b", file, [prompt("new")], new Date(3000));
  home.write("c", file, [prompt("older")], new Date(2000));
  assert.deepEqual((await home.store().find(id))?.place, place(home.projects, "b"));
});

test("what lists leave out is found nevertheless", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [{ type: "mode", mode: "normal" }]);
  const store = home.store();
  assert.deepEqual(await store.list("sweep"), []);
  assert.notEqual(await store.find(id), undefined);
});

test("what lists leave out has a row of its own", async (t) => {
  const home = claudeHome(t);
  const written = new Date("2026-11-30T09:00:01Z");
  const store = home.store();
  const rowOf = async (folder: string, lines: readonly Line[]) => {
    const path = home.write(folder, file, lines, written);
    const ref = await store.find(id);
    const row = ref && (await store.unlisted(ref));
    rmSync(path);
    return row;
  };
  const at = written.getTime();
  const row = { agent: "claude", id, cwd: "", startedAt: at, updatedAt: at };
  assert.deepEqual(await rowOf("p", []), { ...row, title: "Untitled", bytes: 0 });
  assert.deepEqual(await rowOf("p", ["no record"]), { ...row, title: "Untitled", bytes: 10 });
  const side = await rowOf("-home-dev-proj", [prompt("side", { isSidechain: true })]);
  assert.deepEqual(
    [side?.title, side?.cwd, side?.branch, side?.resume?.cwd],
    ["Untitled", "/home/dev/proj", "main", "/home/dev/proj"],
  );
});

test("a session that moved without its side folder still has what is in that", async (t) => {
  const home = claudeHome(t);
  const path = home.write("p", file, [prompt("a")]);
  home.write(`p/${id}/subagents`, "agent-a1.jsonl", [prompt("do it", { isSidechain: true, sessionId: id })]);
  const store = home.store({ chats: () => freshChats() });
  await store.list("sweep");
  const stale = await store.find(id);
  assert.ok(stale);
  mkdirSync(join(home.projects, "q"));
  renameSync(path, join(home.projects, "q", file));
  const agents = async (ref: SessionRef | undefined) =>
    ref && (await store.children(ref)).children.map((child) => child.id);
  const child = "a1" as SessionId;
  // Known by its old place, looked for by name, and as listed anew.
  assert.deepEqual(await agents(stale), ["a1"]);
  assert.deepEqual(await agents(await store.find(id)), ["a1"]);
  await store.list("sweep");
  const moved = await store.find(id);
  assert.deepEqual(moved?.place, { ...place(home.projects, "q"), leftBehind: [join(home.projects, "p", id)] });
  assert.deepEqual(await agents(moved), ["a1"]);
  assert.ok(moved && (await store.child(moved, child)));
  home.write(`q/${id}/subagents`, "agent-a2.jsonl", [prompt("do it", { isSidechain: true, sessionId: id })]);
  assert.deepEqual((await agents(moved))?.sort(), ["a1", "a2"]);
  // What lies beside a copy of the transcript is that copy's.
  home.write("p", file, [prompt("a")], new Date(0));
  await store.list("sweep");
  assert.deepEqual((await store.find(id))?.place, place(home.projects, "q"));
});

test("nothing is found under an id that is no session's, nor behind a link out of the store", async (t) => {
  const home = claudeHome(t);
  home.write("p", "agent-0a1b2c3d.jsonl", [prompt("a")]);
  const outside = join(home.home, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, file), "{}\n");
  symlinkSync(join(outside, file), join(home.projects, "p", file));
  symlinkSync(outside, join(home.projects, "out"));
  const store = home.store();
  assert.equal(await store.find("agent-0a1b2c3d" as SessionId), undefined);
  assert.equal(await store.find(id), undefined);
  assert.equal(await store.find(sessionId(2)), undefined);
});

test("a chat whose session has moved since is read at its new place", async (t) => {
  const home = claudeHome(t);
  const path = home.write("p", file, [prompt("a")]);
  const asked: string[] = [];
  const chats = {
    async children(at: { file: string }) {
      asked.push(at.file);
      if (at.file === path) throw new Failure("not-found", "no such transcript");
      return { children: [], uses: [], settled: true };
    },
  } as unknown as ClaudeChatReader;
  const store = home.store({ chats: () => chats });
  const ref = await store.find(id);
  assert.ok(ref);
  await assert.rejects(store.children(ref), { kind: "not-found" });
  mkdirSync(join(home.projects, "q"));
  renameSync(path, join(home.projects, "q", file));
  assert.deepEqual((await store.children(ref)).children, []);
  assert.deepEqual(asked, [path, path, join(home.projects, "q", file)]);
});

test("a subagent's reference names the session it belongs to and the child", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [prompt("a")]);
  const chats = {
    child: async (at: object, child: string) => ({ ...at, file: `${child}.jsonl` }),
    entries: async (at: { file: string }) => ({ entries: [], next: at.file, uses: [], settled: true }),
  } as unknown as ClaudeChatReader;
  const store = home.store({ chats: () => chats });
  const ref = await store.find(id);
  const child = ref && (await store.child(ref, "a1" as SessionId));
  assert.deepEqual([child?.id, child?.child], [id, "a1"]);
  assert.ok(child);
  assert.equal((await store.entries(child, "0" as Cursor, { bytes: 1, parts: 1 })).next, "a1.jsonl");
});

test("of a session that lies in two folders the one written last by now is found, without a listing between", async (t) => {
  const home = claudeHome(t);
  const older = home.write("p", file, [prompt("old")], new Date("2026-11-30T09:00:00Z"));
  home.write("q", file, [prompt("new")], new Date("2026-11-30T10:00:00Z"));
  const store = home.store();
  await store.list("sweep");
  assert.deepEqual((await store.find(id))?.place, place(home.projects, "q"));
  utimesSync(older, new Date(), new Date("2026-11-30T11:00:00Z"));
  assert.deepEqual((await store.find(id))?.place, place(home.projects, "p"));
});

test("a copy of a known session is noticed by the next look", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [prompt("old")], new Date("2026-11-30T09:00:00Z"));
  const store = home.store();
  await store.list("sweep");
  await store.find(id);
  home.write("q", file, [prompt("new")], new Date("2026-11-30T10:00:00Z"));
  await store.list("quick");
  assert.deepEqual((await store.find(id))?.place, place(home.projects, "q"));
});

test("the page of a session that lies in two folders depends on both files", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [prompt("old")], new Date("2026-11-30T09:00:00Z"));
  const newer = home.write("q", file, [prompt("new")], new Date("2026-11-30T10:00:00Z"));
  const used = { path: newer, dev: 0n, ino: 0n, size: 0, mtimeNs: 0n, ctimeNs: 0n };
  const entries = async () => ({ entries: [], next: "0" as Cursor, uses: [used], settled: true });
  const store = home.store({ chats: () => ({ entries }) as unknown as ClaudeChatReader });
  await store.list("sweep");
  const ref = await store.find(id);
  assert.ok(ref);
  const page = await store.entries(ref, "0" as Cursor, { bytes: 1, parts: 1 });
  assert.deepEqual(
    page.uses.map(({ path }) => path),
    [newer, join(home.projects, "p", file)],
  );
});
