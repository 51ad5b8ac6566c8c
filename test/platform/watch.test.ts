import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  watch as systemWatch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createWatcher, type WatcherOptions } from "../../src/platform/watch.ts";
import type { SystemWatch } from "../../src/platform/watched-path.ts";

/** A watcher over a temporary folder, with a count of the system's watches; all is left at the end of the test. */
function watching(t: TestContext, options: WatcherOptions = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "watch-")));
  const left = new AbortController();
  const counts = { opened: 0, closed: 0 };
  const inner = options.watch ?? watchOfSystem;
  const watch: SystemWatch = (path, told, failed) => {
    const watcher = inner(path, told, failed);
    counts.opened++;
    return {
      close() {
        counts.closed++;
        watcher.close();
      },
    };
  };
  // Watching keeps no process alive, so something else has to while a test waits.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => {
    left.abort();
    clearInterval(alive);
    rmSync(folder, { recursive: true });
    assert.equal(counts.closed, counts.opened, "every watch was closed");
  });
  const file = join(folder, "session.jsonl");
  return { watcher: createWatcher({ ...options, watch }), folder, file, left, counts };
}

const watchOfSystem: SystemWatch = (path, told, failed) => {
  const watcher = systemWatch(path, { persistent: false }, (_event, name) => told(name ?? undefined));
  watcher.on("error", failed);
  return watcher;
};

/** The next note of `notes`, whatever it is. */
function readerOf<T>(notes: AsyncIterable<T>) {
  const iterator = notes[Symbol.asyncIterator]();
  const next = () => iterator.next().then(({ done }) => (done ? "ended" : "note"));
  return {
    next,
    value: () => iterator.next().then(({ value }) => value),
    /** Takes notes until `holds` does, which it does in the end because of one of them. */
    async until(holds: () => boolean) {
      while (!holds()) await next();
    },
  };
}

test("a file tells at once that it is to be read, and then of each append", async (t) => {
  const { watcher, file, left } = watching(t, { pollMs: 60_000 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  assert.equal(await reader.next(), "note");
  for (let n = 0; n < 20; n++) {
    const told = reader.next();
    appendFileSync(file, "b\n");
    assert.equal(await told, "note");
  }
});

test("what is written between the call and the first look is not lost", async (t) => {
  const { watcher, file, left } = watching(t, { pollMs: 60_000 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  appendFileSync(file, "b\n");
  assert.equal(await reader.next(), "note");
});

test("a file that is renamed over again and again stays watched", async (t) => {
  const { watcher, file, left, counts } = watching(t, { pollMs: 60_000 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  for (let n = 2; n < 12; n++) {
    writeFileSync(`${file}.new`, "b\n");
    renameSync(`${file}.new`, file);
    await reader.until(() => counts.opened === n);
  }
  appendFileSync(file, "c\n");
  assert.equal(await reader.next(), "note");
});

test("a file that is deleted and made again is watched again", async (t) => {
  const { watcher, file, left, counts } = watching(t, { pollMs: 5 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  for (let n = 2; n < 6; n++) {
    rmSync(file);
    await reader.until(() => counts.closed === n - 1);
    writeFileSync(file, "b\n");
    await reader.until(() => counts.opened === n);
  }
});

test("a file that is replaced while its old self is still written to is watched anew", async (t) => {
  const { watcher, file, left, counts } = watching(t, { pollMs: 60_000 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  renameSync(file, `${file}.old`);
  writeFileSync(file, "b\n");
  await reader.until(() => counts.opened === 2);
  appendFileSync(file, "c\n");
  assert.equal(await reader.next(), "note");
});

test("a file and a folder that are not there yet tell when they come", async (t) => {
  const { watcher, folder, left, counts } = watching(t, { pollMs: 5 });
  const later = join(folder, "later");
  const file = readerOf(watcher.file(join(later, "session.jsonl"), left.signal));
  const names = readerOf(watcher.folder(later, left.signal));
  assert.equal(await file.next(), "note");
  const came = names.value();
  mkdirSync(later);
  assert.equal(await came, undefined);
  const told = file.next();
  writeFileSync(join(later, "session.jsonl"), "a\n");
  assert.equal(await told, "note");
  assert.equal(counts.opened, 2);
});

test("a folder tells the name that came, was written to, and went", async (t) => {
  const { watcher, folder, left } = watching(t, { pollMs: 60_000 });
  const reader = readerOf(watcher.folder(folder, left.signal));
  for (const act of [
    () => writeFileSync(join(folder, "a.jsonl"), ""),
    () => appendFileSync(join(folder, "a.jsonl"), "a\n"),
    () => rmSync(join(folder, "a.jsonl")),
  ]) {
    const told = reader.value();
    act();
    assert.equal(await told, "a.jsonl");
  }
});

test("a folder that is replaced tells that anything may have changed, and is watched anew", async (t) => {
  const { watcher, folder, left, counts } = watching(t, { pollMs: 60_000 });
  const project = join(folder, "project");
  mkdirSync(project);
  const reader = readerOf(watcher.folder(project, left.signal));
  renameSync(project, join(folder, "elsewhere"));
  mkdirSync(project);
  const seen: (string | undefined)[] = [];
  while (seen.at(-1) !== undefined || seen.length === 0) seen.push(await reader.value());
  assert.equal(counts.opened, 2);
  const told = reader.value();
  writeFileSync(join(project, "b.jsonl"), "");
  assert.equal(await told, "b.jsonl");
});

for (const code of ["ENOSPC", "EMFILE", "ENOSYS", "EPERM", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"]) {
  test(`where watching fails with ${code}, the path is asked instead`, async (t) => {
    const { watcher, folder, file, left, counts } = watching(t, {
      pollMs: 5,
      watch: () => {
        throw Object.assign(new Error(code), { code });
      },
    });
    writeFileSync(file, "a\n");
    const reader = readerOf(watcher.file(file, left.signal));
    const names = readerOf(watcher.folder(folder, left.signal));
    await reader.next();
    for (const act of [
      () => appendFileSync(file, "b\n"),
      () => rmSync(file),
      () => writeFileSync(file, "c\n"),
      () => {
        writeFileSync(`${file}.new`, "d\n");
        renameSync(`${file}.new`, file);
      },
    ]) {
      const told = reader.next();
      act();
      assert.equal(await told, "note");
    }
    assert.equal(await names.value(), undefined);
    assert.equal(counts.opened, 0);
  });
}

test("a change that the system has not told is told all the same, and the path is asked from then on", async (t) => {
  const { watcher, file, left, counts } = watching(t, {
    pollMs: 2,
    backstopMs: 10,
    graceMs: 5,
    watch: () => ({ close() {} }),
  });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  await reader.next();
  const told = reader.next();
  appendFileSync(file, "b\n");
  assert.equal(await told, "note");
  await reader.until(() => counts.closed === 1);
  const again = reader.next();
  appendFileSync(file, "c\n");
  assert.equal(await again, "note");
  assert.equal(counts.opened, 1);
});

test("a system that tells is trusted, however often it is checked", async (t) => {
  const { watcher, file, left, counts } = watching(t, { pollMs: 1, backstopMs: 1, graceMs: 200 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  for (let n = 0; n < 100; n++) {
    appendFileSync(file, "b\n");
    const busyUntil = performance.now() + 2;
    while (performance.now() < busyUntil);
    await reader.next();
  }
  assert.deepEqual(counts, { opened: 1, closed: 0 });
});

test("a reader that makes another change at each note lets everyone else have a turn before the next", async (t) => {
  const { watcher, file, left } = watching(t, { pollMs: 60_000 });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  await reader.next();
  let turns = 0;
  const turn = (): void => {
    turns++;
    if (!left.signal.aborted) setImmediate(turn);
  };
  setImmediate(turn);
  const between: number[] = [];
  appendFileSync(file, "b\n");
  for (let n = 0; n < 50; n++) {
    const before = turns;
    await reader.next();
    between.push(turns - before);
    // While the system's notes are still being fetched, this adds one more to them.
    appendFileSync(file, "b\n");
  }
  assert.ok(Math.min(...between) > 0, `turns between notes: ${between.join(", ")}`);
});

test("a watch that ends by an error is replaced by asking", async (t) => {
  let fail = () => {};
  const { watcher, file, left, counts } = watching(t, {
    pollMs: 5,
    watch: (_path, _told, failed) => {
      fail = failed;
      return { close() {} };
    },
  });
  writeFileSync(file, "a\n");
  const reader = readerOf(watcher.file(file, left.signal));
  await reader.next();
  fail();
  assert.equal(await reader.next(), "note");
  assert.equal(counts.closed, 1);
  const told = reader.next();
  appendFileSync(file, "b\n");
  assert.equal(await told, "note");
});

test("200 readers of one file share one watch, each is told, and the last one closes it", async (t) => {
  const { watcher, file, counts } = watching(t, { pollMs: 60_000 });
  writeFileSync(file, "a\n");
  const leaving = Array.from({ length: 200 }, () => new AbortController());
  const readers = leaving.map(({ signal }) => readerOf(watcher.file(file, signal)));
  for (const reader of readers) await reader.next();
  const told = readers.map((reader) => reader.next());
  appendFileSync(file, "b\n");
  assert.deepEqual(new Set(await Promise.all(told)), new Set(["note"]));
  assert.deepEqual(counts, { opened: 1, closed: 0 });
  for (const one of leaving.slice(1)) one.abort();
  assert.deepEqual(counts, { opened: 1, closed: 0 });
  leaving[0]?.abort();
  assert.deepEqual(counts, { opened: 1, closed: 1 });
  assert.equal(await readers[7]?.next(), "ended");
});

test("1,000 folders under one signal are told of by name, without a warning, and all are closed", async (t) => {
  const { watcher, folder, left, counts } = watching(t, { pollMs: 600_000 });
  const warnings: string[] = [];
  const warn = (warning: Error) => warnings.push(warning.message);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  const folders = Array.from({ length: 1_000 }, (_, n) => join(folder, `project-${n}`));
  for (const path of folders) mkdirSync(path);
  const told = folders.map((path) => readerOf(watcher.folder(path, left.signal)).value());
  for (const [n, path] of folders.entries()) writeFileSync(join(path, `${n}.jsonl`), "");
  assert.deepEqual(
    await Promise.all(told),
    folders.map((_, n) => `${n}.jsonl`),
  );
  left.abort();
  assert.deepEqual(counts, { opened: 1_000, closed: 1_000 });
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});

test("a loop ends with its signal, and leaving a loop ends the watch", async (t) => {
  const { watcher, file, left, counts } = watching(t);
  writeFileSync(file, "a\n");
  for await (const _ of watcher.file(file, left.signal)) break;
  assert.deepEqual(counts, { opened: 1, closed: 1 });
  let turns = 0;
  for await (const _ of watcher.file(file, left.signal)) {
    turns++;
    left.abort();
  }
  assert.equal(turns, 1);
  for await (const _ of watcher.file(file, left.signal)) turns++;
  for await (const _ of watcher.folder(file, left.signal)) turns++;
  assert.equal(turns, 1);
  assert.deepEqual(counts, { opened: 2, closed: 2 });
});

test("watching keeps no process alive", () => {
  const script = `
    import { createWatcher } from ${JSON.stringify(new URL("../../src/platform/watch.ts", import.meta.url).href)};
    const { signal } = new AbortController();
    const watcher = createWatcher();
    for (const path of ["/", "/absent"]) {
      watcher.folder(path, signal)[Symbol.asyncIterator]().next();
      watcher.file(path, signal)[Symbol.asyncIterator]().next();
    }`;
  const { status, signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    timeout: 20_000,
  });
  assert.deepEqual([status, signal], [0, null]);
});
