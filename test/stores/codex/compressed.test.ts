import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RolloutFile } from "../../../src/stores/codex/catalog.ts";
import { rolloutNameOf } from "../../../src/stores/codex/rollout-name.ts";
import { Unpacker } from "../../../src/stores/codex/unpack.ts";
import { START } from "../../../src/transcript/cursor.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import { agentEvent, BUDGET, found, Home, linesOf, meta, NINE, toldChat, userEvent, uuid } from "./home.ts";

const ID = uuid(NINE);
const TALK = [meta(ID), userEvent(1, "hi"), agentEvent(2, "hello")];
const TOLD = ['user: "hi"', 'assistant: "hello"'];

function packed(bytes: string | Buffer): Buffer {
  return process.getBuiltinModule("node:zlib").zstdCompressSync(bytes);
}

/** Replaces a rollout by its compressed form, last changed a month ago. */
function pack(path: string): string {
  const target = `${path}.zst`;
  writeFileSync(target, packed(readFileSync(path)));
  utimesSync(target, new Date(NINE), new Date(NINE));
  rmSync(path);
  return target;
}

test("a compressed rollout reads like a plain one, unpacked once, with the same positions", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, TALK);
  const store = home.store();
  const ref = await found(store, ID);
  const plain = await store.entries(ref, START, BUDGET);
  const target = pack(path);
  home.work.take();
  const again = await store.entries(ref, plain.next, BUDGET);
  assert.deepEqual([again.entries, again.next, again.reset], [[], plain.next, undefined]);
  assert.deepEqual(
    again.uses.map((stamp) => stamp.path),
    [target],
  );
  assert.deepEqual((await store.entries(ref, START, BUDGET)).entries, plain.entries);
  assert.equal(home.work.counts.unpack, 1);
});

test("what is unpacked is private, whole, and lies in our own cache", async (t) => {
  const home = new Home(t);
  pack(home.rollout(ID, TALK));
  const before = readdirSync(home.path, { recursive: true }).sort();
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
  assert.deepEqual(readdirSync(home.path, { recursive: true }).sort(), before);
  const folder = join(home.bridge, "cache", "codex");
  const [name = ""] = readdirSync(folder);
  assert.equal(readFileSync(join(folder, name), "utf8"), linesOf(TALK));
  if (process.platform === "win32") return;
  assert.deepEqual([statSync(folder).mode & 0o777, statSync(join(folder, name)).mode & 0o777], [0o700, 0o600]);
});

test("a list reads the head of a compressed rollout and unpacks nothing to disk", async (t) => {
  const home = new Home(t);
  const target = pack(home.rollout(ID, TALK));
  const store = home.store();
  const [row] = await store.list("sweep");
  assert.deepEqual([row?.title, row?.updatedAt, row?.bytes], ["hi", NINE, statSync(target).size]);
  assert.equal(home.work.take().unpack, undefined);
  await store.list("sweep");
  assert.deepEqual(home.work.take(), {});
});

test("the plain file wins over its compressed copy", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, TALK);
  writeFileSync(`${path}.zst`, packed(linesOf(TALK.slice(0, 2))));
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
});

test("a broken compressed file is told by the report and does not stop the others", async (t) => {
  const home = new Home(t);
  const other = uuid(NINE, 1);
  home.rollout(other, [meta(other), userEvent(1, "hi")]);
  const path = home.rolloutPath(ID);
  writeFileSync(`${path}.zst`, "no zstd at all");
  const store = home.store();
  assert.deepEqual(
    (await store.list("sweep")).map(({ id }) => id),
    [other],
  );
  assert.deepEqual(
    (await store.report()).skipped.map(({ count, example }) => [count, example]),
    [[1, `${path}.zst`]],
  );
  assert.equal(await store.find(ID), undefined);
});

test("the cache holds its bound: the oldest unpacked file makes room", async (t) => {
  const home = new Home(t);
  const files = [0, 1, 2].map((n): RolloutFile => {
    const id = uuid(NINE, n);
    const path = pack(home.rollout(id, ["x".repeat(1000)]));
    const name = rolloutNameOf(path.split("/").at(-1) ?? "");
    assert.ok(name);
    return { ...name, path, root: home.path, archived: false, home: home.path, homeRank: 0 };
  });
  const unpacker = new Unpacker(join(home.bridge, "cache"), home.work, 2500);
  const kept: string[] = [];
  for (const [index, file] of files.entries()) {
    const { path } = await unpacker.plain(file);
    utimesSync(path, new Date(NINE + index), new Date(NINE + index));
    kept.push(path);
  }
  const names = readdirSync(join(home.bridge, "cache", "codex")).sort();
  assert.deepEqual(
    names,
    kept
      .slice(1)
      .map((path) => path.split("/").at(-1))
      .sort(),
  );
});

test("a file that unpacks to more than the cache holds is refused and leaves nothing behind", async (t) => {
  const home = new Home(t);
  const path = pack(home.rollout(ID, ["x".repeat(10_000)]));
  const name = rolloutNameOf(path.split("/").at(-1) ?? "");
  assert.ok(name);
  const unpacker = new Unpacker(join(home.bridge, "cache"), home.work, 2500);
  const file: RolloutFile = { ...name, path, root: home.path, archived: false, home: home.path, homeRank: 0 };
  await assert.rejects(unpacker.plain(file), { kind: "not-found" });
  assert.deepEqual(readdirSync(join(home.bridge, "cache", "codex")), []);
});

test("a compressed rollout that is swapped for a link out of the store is not read", async (t) => {
  const home = new Home(t);
  const outside = new Home(t);
  const target = pack(home.rollout(ID, TALK));
  const store = home.store();
  const ref = await found(store, ID);
  const secret = pack(outside.rollout(ID, [meta(ID), userEvent(1, "secret"), agentEvent(2, "told")]));
  rmSync(target);
  symlinkSync(secret, target);
  await assert.rejects(store.entries(ref, START, BUDGET), { kind: "not-found" });
});

test("only rollout names are rollouts", () => {
  const id = "01a22bba-7bcc-7180-bce5-f1f2c80b3d25" as SessionId;
  const segment = "01a22bb4-d3a6-73f1-8191-c679ad4468b4" as SessionId;
  const stem = `rollout-2026-11-30T09-12-51-${id}`;
  const born = 0x01a22bba7bcc;
  assert.deepEqual(rolloutNameOf(`${stem}.jsonl`), {
    name: `${stem}.jsonl`,
    thread: id,
    segment: id,
    born,
    compressed: false,
    stem,
  });
  const long = `${stem}_${segment}.jsonl.zst`;
  assert.deepEqual(rolloutNameOf(long), {
    name: long,
    thread: id,
    segment,
    born,
    compressed: true,
    stem: `${stem}_${segment}`,
  });
  for (const name of [
    "rollout-compress-1.tmp",
    `${stem}.jsonl.decompress.1.2.tmp`,
    `${stem}.json`,
    `x${stem}.jsonl`,
    "rollout-test.jsonl",
    `${stem}.jsonl.bak`,
  ]) {
    assert.equal(rolloutNameOf(name), undefined, name);
  }
});
