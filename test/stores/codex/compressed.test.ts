import assert from "node:assert/strict";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RolloutFile } from "../../../src/stores/codex/catalog.ts";
import { rolloutNameOf } from "../../../src/stores/codex/rollout-name.ts";
import { Unpacker } from "../../../src/stores/codex/unpack.ts";
import { START } from "../../../src/transcript/cursor.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import { agentEvent, BUDGET, found, Home, line, linesOf, meta, NINE, toldChat, userEvent, uuid } from "./home.ts";

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

test("a file that unpacks to more than the cache holds is refused, once for all, and leaves a note alone", async (t) => {
  const home = new Home(t);
  const path = pack(home.rollout(ID, ["x".repeat(10_000)]));
  const name = rolloutNameOf(path.split("/").at(-1) ?? "");
  assert.ok(name);
  const file: RolloutFile = { ...name, path, root: home.path, archived: false, home: home.path, homeRank: 0 };
  for (const unpacker of [2500, 2500, 2500].map((most) => new Unpacker(join(home.bridge, "cache"), home.work, most))) {
    await assert.rejects(unpacker.plain(file), { kind: "not-found", message: /larger than our cache/ });
    assert.deepEqual(
      unpacker.refused([file]).map(({ example }) => example),
      [path],
    );
  }
  assert.equal(home.work.counts.unpack, 1);
  assert.match(readdirSync(join(home.bridge, "cache", "codex")).join(), /^[0-9a-f]{32}\.refused$/);
});

test("a compressed file that ends too soon is told by the report once it was read, and read when it is whole", async (t) => {
  const home = new Home(t);
  const talk = [...TALK, ...Array.from({ length: 3000 }, (_, n) => agentEvent(n, `more ${n} ${Math.sin(n)}`))];
  const path = pack(home.rollout(ID, talk));
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  const store = home.store();
  await assert.rejects(toldChat(store, ID), { kind: "not-found", message: /damaged/ });
  await assert.rejects(toldChat(store, ID), { kind: "not-found", message: /damaged/ });
  assert.equal(home.work.counts.unpack, 1);
  // A fresh process knows it too.
  assert.deepEqual(
    (await home.store().report()).skipped.map(({ reason, example }) => [reason, example]),
    [["the compressed session can't be unpacked: it is damaged", path]],
  );
  const ref = await found(store, ID);
  let totals = await store.totals(ref);
  for (let turn = 0; turn < 1000 && totals === undefined; turn++) {
    await new Promise(setImmediate);
    totals = await store.totals(ref);
  }
  assert.deepEqual(totals, { tokens: {} });
  writeFileSync(path, whole);
  assert.equal((await toldChat(store, ID)).length, talk.length - 1);
  assert.deepEqual((await home.store().report()).skipped, []);
});

test("a cache that can't be made is told as such, and what lies in the place of an unpacked file makes room", async (t) => {
  const home = new Home(t);
  pack(home.rollout(ID, TALK));
  const folder = join(home.bridge, "cache");
  mkdirSync(home.bridge, { recursive: true });
  writeFileSync(folder, "no folder");
  await assert.rejects(toldChat(home.store(), ID), { kind: "not-found", message: /cache folder can't be written/ });
  rmSync(folder);
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
  const [name = ""] = readdirSync(join(folder, "codex"));
  rmSync(join(folder, "codex", name));
  symlinkSync("/etc/hosts", join(folder, "codex", name));
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
});

test("a compressed rollout that is written anew in place is read anew, however large it is now", async (t) => {
  const home = new Home(t);
  const usage = (input: number): object => ({ input_tokens: input, output_tokens: 0, total_tokens: input });
  const talk = (words: string, input: number): object[] => [
    meta(ID),
    userEvent(1, words),
    line(3, "event_msg", {
      type: "token_count",
      info: { total_token_usage: usage(input), last_token_usage: usage(input) },
    }),
  ];
  const path = pack(home.rollout(ID, talk("first", 10)));
  const write = (words: string, input: number, at: number): number => {
    writeFileSync(path, packed(linesOf(talk(words, input))));
    utimesSync(path, new Date(NINE), new Date(NINE + at));
    return statSync(path).size;
  };
  const { ino, size: first } = statSync(path);
  const store = home.store();
  const ref = await found(store, ID);
  const shown = async (): Promise<unknown[]> => {
    const [row] = await store.list("sweep");
    let totals = await store.totals(ref);
    while (totals === undefined) {
      await new Promise(setImmediate);
      totals = await store.totals(ref);
    }
    return [row?.title, totals.tokens.input];
  };
  assert.deepEqual(await shown(), ["first", 10]);
  let { next, edition } = await store.entries(ref, START, BUDGET);
  for (const [words, input] of [
    ["second, of which more is said than of the first", 20],
    ["third", 30],
  ] as const) {
    const size = write(words, input, input);
    if (input === 20) assert.ok(size > first, "a larger file might pass for one that grew");
    assert.deepEqual(await shown(), [words, input]);
    const page = await store.entries(ref, next, BUDGET);
    assert.equal(page.reset, true);
    assert.notEqual(page.edition, edition);
    ({ next, edition } = page);
  }
  assert.equal(statSync(path).ino, ino);
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
