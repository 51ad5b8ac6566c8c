import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { withLock } from "../../src/platform/lock.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { exclusively } from "../../src/runs/exclusive.ts";
import { changeJob, type JobStoreTools } from "../../src/runs/job-store.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { age, Moment, put } from "./home.ts";

const NOW = 1_790_000_000_000;

function storeIn(t: TestContext, content?: string | object): JobStoreTools & { file: string; jobs(): unknown } {
  const bridgeHome = join(temporaryFolder(t), "home");
  const file = join(bridgeHome, "jobs.json");
  if (content !== undefined) put(bridgeHome, "jobs.json", content);
  const wait = { waitMs: 50, tryEveryMs: 5 };
  return { bridgeHome, clock: new Moment(NOW), wait, file, jobs: () => JSON.parse(readFileSync(file, "utf8")) };
}

const isFailure = (text: RegExp) => (error: unknown) => error instanceof Failure && text.test(error.message);

test("jobs are added in the order of their start, for us alone", async (t) => {
  const store = storeIn(t);
  assert.equal(await changeJob(store, "b", () => ({ startedAt: 2, status: "running" })), true);
  await changeJob(store, "a", () => ({ startedAt: 1 }));
  await changeJob(store, "c", () => ({ startedAt: "1970-01-01T00:00:00.003Z" }));
  assert.deepEqual(store.jobs(), {
    version: 2,
    jobs: [
      { startedAt: 1, name: "a" },
      { startedAt: 2, status: "running", name: "b" },
      { startedAt: "1970-01-01T00:00:00.003Z", name: "c" },
    ],
  });
  assert.deepEqual([statSync(store.file).mode & 0o777, statSync(store.bridgeHome).mode & 0o777], [0o600, 0o700]);
  assert.deepEqual(readdirSync(store.bridgeHome).sort(), ["jobs.json", "lock.db"]);
});

test("what nobody here knows is kept: fields of the file, of the job, records of other kinds", async (t) => {
  const store = storeIn(t, { version: 2, future: { a: 1 }, jobs: [7, { name: "a", later: [1], status: "running" }] });
  await changeJob(store, "a", (before) => ({ status: before?.status === "running" ? "done" : "?" }));
  assert.deepEqual(store.jobs(), {
    version: 2,
    future: { a: 1 },
    jobs: [7, { name: "a", later: [1], status: "done" }],
  });
});

test("nothing is written when nothing changes", async (t) => {
  const store = storeIn(t, [{ name: "a", status: "done" }]);
  age(store.file, 1);
  assert.equal(await changeJob(store, "a", () => ({ status: "done" })), false);
  assert.deepEqual([statSync(store.file).mtimeMs, readdirSync(store.bridgeHome).length], [1, 2]);
});

test("an older layout is kept as a backup, byte for byte, before it is written anew", async (t) => {
  for (const older of ['[ {"name":"a","state":"done"} ]', '{"jobs": [{"name":"a","state":"done"}], "x": 1}']) {
    const store = storeIn(t, older);
    await changeJob(store, "b", () => ({ startedAt: 5 }));
    const backup = readdirSync(store.bridgeHome).find((name) => name.startsWith(`jobs.json.backup-${NOW}-`));
    assert.equal(readFileSync(join(store.bridgeHome, backup ?? ""), "utf8"), older);
    const { version, jobs } = store.jobs() as { version: number; jobs: { name: string }[] };
    assert.deepEqual([version, jobs.map(({ name }) => name)], [2, ["a", "b"]]);
  }
});

test("a damaged file, one of a wrong shape and one of a newer version are refused and left as they are", async (t) => {
  const cases: readonly (readonly [content: string, message: RegExp])[] = [
    ['{"version":2,"jobs":[{"na', /damaged/],
    ["", /damaged/],
    ['{"version":2,"jobs":{}}', /damaged/],
    ["7", /damaged/],
    ['{"version":3,"jobs":[]}', /newer/],
    ['{"version":"2","jobs":[]}', /newer/],
  ];
  for (const [content, message] of cases) {
    const store = storeIn(t, content);
    await assert.rejects(
      changeJob(store, "a", () => ({})),
      isFailure(message),
      content,
    );
    assert.equal(readFileSync(store.file, "utf8"), content);
    assert.deepEqual(readdirSync(store.bridgeHome).sort(), ["jobs.json", "lock.db"]);
  }
});

test("what is no plain file where one of ours belongs is refused, told and left as it is", async (t) => {
  const outside = put(temporaryFolder(t), "jobs.json", { version: 2, jobs: [{ name: "theirs" }] });
  const kinds: readonly (readonly [make: (path: string) => void, message: RegExp])[] = [
    [(path) => mkdirSync(path), / is a folder: move it away/],
    [(path) => execFileSync("/usr/bin/env", ["mkfifo", path]), / is a pipe, a device or the like/],
    [(path) => symlinkSync(outside, path), / is a link, and is left as it is: move it away/],
    [(path) => symlinkSync(`${outside}-gone`, path), / is a link/],
    [(path) => symlinkSync(path, path), / is a link/],
  ];
  for (const [make, message] of kinds) {
    for (const name of ["jobs.json", "jobs.json.lock"]) {
      const store = storeIn(t);
      mkdirSync(store.bridgeHome);
      make(join(store.bridgeHome, name));
      const before = lstatSync(join(store.bridgeHome, name)).ino;
      await assert.rejects(
        changeJob(store, "a", () => ({})),
        isFailure(new RegExp(`^${name}${message.source}`)),
      );
      assert.equal(lstatSync(join(store.bridgeHome, name)).ino, before);
    }
  }
  assert.match(readFileSync(outside, "utf8"), /theirs/);
  assert.equal(existsSync(`${outside}-gone`), false);
});

test("bytes that are no UTF-8 are not written over, and numbers of any length are kept", async (t) => {
  const damaged = Buffer.concat([Buffer.from('[{"name":"a","x":"'), Buffer.of(0xff), Buffer.from('"}]')]);
  const store = storeIn(t, "");
  writeFileSync(store.file, damaged);
  await assert.rejects(
    changeJob(store, "b", () => ({})),
    isFailure(/damaged/),
  );
  assert.deepEqual(readFileSync(store.file), damaged);
  const job = '{"name":"a","id":12345678901234567890,"n":-9007199254740993,"f":1.5e3}';
  writeFileSync(store.file, `{"version":2,"jobs":[${job}]}`);
  await changeJob(store, "b", () => ({ startedAt: 1 }));
  assert.match(readFileSync(store.file, "utf8"), /"id":12345678901234567890,"n":-9007199254740993,"f":1500\}/);
});

test("a job without a name that can be shown is not written", async (t) => {
  for (const name of ["", "a/b", "a\nb", "x".repeat(129)]) {
    await assert.rejects(
      changeJob(storeIn(t), name, () => ({})),
      RangeError,
    );
  }
});

test("while it writes, a notice tells others which process does", async (t) => {
  const { bridgeHome } = storeIn(t);
  const notice = join(bridgeHome, "jobs.json.lock");
  await exclusively(bridgeHome, async () => assert.deepEqual(JSON.parse(readFileSync(notice, "utf8")), ourIdentity()));
  assert.equal(existsSync(notice), false);
  await assert.rejects(
    exclusively(bridgeHome, async () => {
      throw new Error("x");
    }),
    /x/,
  );
  assert.equal(existsSync(notice), false);
});

test("a live process's notice is waited for, one left behind is taken over", async (t) => {
  const store = storeIn(t, { version: 2, jobs: [] });
  const notice = join(store.bridgeHome, "jobs.json.lock");
  const write = (): Promise<boolean> => changeJob(store, "a", () => ({ at: Math.random() }));
  const { boot } = ourIdentity();
  const live = { pid: process.ppid };
  const cases: readonly (readonly [holder: string, ageMs: number, free: boolean])[] = [
    [JSON.stringify(live), 0, false],
    [JSON.stringify(live), 60_000, false],
    [JSON.stringify({ ...live, start: "1", boot }), 0, process.platform === "linux"],
    [JSON.stringify({ pid: 0x7fffffff }), 0, true],
    [JSON.stringify(ourIdentity()), 0, true],
    ["{", 0, false],
    ["{", 60_000, true],
    ["", 60_000, true],
  ];
  for (const [holder, ageMs, free] of cases) {
    writeFileSync(notice, holder);
    age(notice, Date.now() - ageMs);
    if (free) assert.equal(await write(), true, holder);
    else await assert.rejects(write(), isFailure(/another program/), holder);
    assert.equal(existsSync(notice), !free, holder);
  }
});

test("while another part of the program holds the lock, nothing is written", async (t) => {
  const store = storeIn(t);
  await withLock(store.bridgeHome, async () => {
    await assert.rejects(
      changeJob(store, "a", () => ({})),
      isFailure(/another agent-bridge/),
    );
  });
  assert.equal(existsSync(store.file), false);
});

test("many changes at once in one process are all made", async (t) => {
  const store = { ...storeIn(t), wait: { waitMs: 20_000, tryEveryMs: 1 } };
  const add = (before: { readonly [key: string]: unknown } | undefined) => ({ n: Number(before?.n ?? 0) + 1 });
  await Promise.all(Array.from({ length: 12 }, () => changeJob(store, "a", add)));
  assert.deepEqual(store.jobs(), { version: 2, jobs: [{ n: 12, name: "a" }] });
});

test("what a killed writer left behind is removed, and nothing else", async (t) => {
  const store = storeIn(t);
  put(store.bridgeHome, ".jobs.json.0123456789ab.tmp", "{");
  put(store.bridgeHome, ".dashboard.json.0123456789ab.tmp", "{");
  put(store.bridgeHome, ".jobs.json.mine", "x");
  await changeJob(store, "a", () => ({}));
  assert.deepEqual(readdirSync(store.bridgeHome).sort(), [
    ".dashboard.json.0123456789ab.tmp",
    ".jobs.json.mine",
    "jobs.json",
    "lock.db",
  ]);
});
