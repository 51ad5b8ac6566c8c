import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  write,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { RecordingFile, RecordingFiles } from "../../../src/agents/recorder/file.ts";
import { withoutPrivilege } from "../../platform/privilege.ts";
import { until } from "../../support/turns.ts";
import { called, Desk, failingFiles, numbers, said, systemError } from "./recorded.ts";

const MiB = 1024 * 1024;

/** A disk with room for so many bytes. */
class Disk {
  room = 0;
  why = "ENOSPC";
  tries = 0;
  readonly files: RecordingFiles = failingFiles(async (file: RecordingFile, bytes) => {
    this.tries++;
    if (this.room <= 0) throw systemError(this.why);
    const count = await file.append(bytes.subarray(0, this.room));
    this.room -= count;
    return count;
  });
}

/** Lets the time pass until what waits has been tried once more. */
async function tryAgain(desk: Desk, disk: Disk): Promise<void> {
  const { tries } = disk;
  desk.time.pass(10_000);
  await until(() => disk.tries > tries);
}

test("what a full disk does not take waits, is told once, and is written when there is room again", async (t) => {
  const desk = new Desk(t);
  const disk = new Disk();
  const recording = await desk.open(disk.files);
  recording.take(said("a\nb\n"));
  await recording.written();
  assert.deepEqual(desk.delays, [{ records: 2, why: "ENOSPC" }]);
  recording.take(said("c\n"));
  await recording.written();
  await recording.room();
  assert.equal(recording.loss, undefined, "what waits is not lost");
  await tryAgain(desk, disk);
  await tryAgain(desk, disk);
  disk.room = MiB;
  await tryAgain(desk, disk);
  await recording.written();
  assert.equal(recording.loss, undefined);
  assert.deepEqual(desk.numbers(), [1, 2, 3]);
  assert.deepEqual([desk.losses.length, desk.delays.length], [0, 1]);
});

test("a disk that is full is not tried in a hot loop, however much is taken", async (t) => {
  const desk = new Desk(t);
  const disk = new Disk();
  const recording = await desk.open(disk.files);
  for (const n of numbers(1, 100)) {
    recording.take(said(`${n}\n`));
    await recording.written();
  }
  assert.equal(disk.tries, 1);
});

test("a disk that gets full in the middle of a batch leaves whole lines with gapless numbers", async (t) => {
  const lines = numbers(1, 4).map((n) => `line ${n}\n`);
  const whole = new Desk(t);
  await whole.record(said(lines.join("")));
  const bytes = whole.text().length;
  for (const room of numbers(1, bytes)) {
    const desk = new Desk(t);
    const disk = new Disk();
    disk.room = room;
    const recording = await desk.open(disk.files);
    recording.take(said(lines.join("")));
    await recording.written();
    disk.room = MiB;
    if (recording.loss !== undefined) await tryAgain(desk, disk);
    await recording.close();
    const message = `after ${room} bytes`;
    assert.deepEqual(desk.numbers(), numbers(1, 4), message);
    assert.equal(
      desk
        .records()
        .map(({ text }) => text)
        .join(""),
      lines.join(""),
      message,
    );
    assert.equal(recording.loss, undefined, message);
  }
});

test("beyond 8 MiB records are given up: they get no number, and a notice stands in their place", async (t) => {
  const desk = new Desk(t);
  const disk = new Disk();
  const recording = await desk.open(disk.files);
  const line = `${"x".repeat(60_000)}\n`;
  recording.take(said(line));
  await recording.written();
  for (let i = 0; i < 200; i++) {
    recording.take(said(line));
    await recording.room();
  }
  const kept = recording.seq;
  assert.ok(kept > 130 && kept < 145, String(kept));
  assert.equal(recording.take(said(line)), kept);
  assert.deepEqual(desk.losses, [{ records: 1, why: "ENOSPC" }]);
  assert.deepEqual(desk.delays, [{ records: 1, why: "ENOSPC" }]);
  // How the turn ended is known all the same.
  assert.equal(recording.take({ kind: "turn-end", reason: "completed" }), kept + 2);
  disk.room = 100 * MiB;
  await tryAgain(desk, disk);
  await recording.written();
  assert.equal(recording.take(said("after\n")), kept + 3);
  await recording.close();
  assert.deepEqual(desk.numbers(), numbers(1, kept + 3));
  const gone = 202 - kept;
  assert.deepEqual(recording.loss, { records: gone, why: "ENOSPC" });
  const [notice, end, after] = desk.bodies().slice(-3);
  assert.deepEqual(notice, { kind: "notice", text: `${gone} records could not be written here (ENOSPC)` });
  assert.equal(end?.kind, "turn-end");
  assert.equal(after?.text, "after\n");
  // One told when it began, and one at the end that says how many it came to.
  assert.deepEqual(desk.losses.slice(1), [{ records: gone, why: "ENOSPC" }]);
});

test("a later fault is told again when it costs records, and else not", async (t) => {
  const desk = new Desk(t);
  const disk = new Disk();
  const recording = await desk.open(disk.files);
  const fail = async (records: number): Promise<void> => {
    disk.room = 0;
    for (let i = 0; i < records; i++) {
      recording.take(said(`${"x".repeat(60_000)}\n`));
      await recording.written();
    }
    disk.room = 100 * MiB;
    await tryAgain(desk, disk);
    await recording.written();
  };
  await fail(1);
  await fail(1);
  assert.deepEqual([desk.losses.length, desk.delays.length], [0, 1]);
  await fail(200);
  assert.deepEqual([desk.losses.length, desk.delays.length], [1, 1]);
  await recording.close();
  assert.deepEqual(desk.numbers(), numbers(1, recording.seq));
});

test("what still waits when a session is closed is tried once more, and then lost", async (t) => {
  const desk = new Desk(t);
  const disk = new Disk();
  const recording = await desk.open(disk.files);
  recording.take(called("t1"));
  await recording.written();
  await recording.close();
  assert.deepEqual(recording.loss, { records: 2, why: "ENOSPC" });
  assert.deepEqual(desk.delays, [{ records: 1, why: "ENOSPC" }]);
  assert.deepEqual(desk.losses, [{ records: 2, why: "ENOSPC" }]);
  assert.equal(disk.tries, 2);
  assert.equal(desk.time.pending, 0);
});

for (const why of ["EIO", "EDQUOT", undefined]) {
  test(`a session outlives ${why ?? "an error that has no name"}`, async (t) => {
    const desk = new Desk(t);
    const disk = new Disk();
    if (why !== undefined) disk.why = why;
    const failing = why === undefined ? failingFiles(async () => 0) : disk.files;
    const recording = await desk.open(failing);
    recording.take(said("a\n"));
    await recording.written();
    assert.deepEqual(desk.delays, [{ records: 1, why: why ?? "unknown error" }]);
  });
}

test("too many open files: the recording begins when there are fewer, with the number that is next", async (t) => {
  const desk = new Desk(t);
  await desk.record(said("a\nb\n"));
  let open = true;
  const files = failingFiles(
    (file, bytes) => file.append(bytes),
    () => {
      if (open) throw systemError("EMFILE");
    },
  );
  const look: RecordingFiles["look"] = (path) => {
    if (open) throw systemError("EMFILE");
    return files.look(path);
  };
  const recording = await desk.open({ ...files, look });
  recording.take(said("c\nd\n"));
  await recording.written();
  assert.deepEqual(desk.delays, [{ records: 2, why: "EMFILE" }]);
  open = false;
  desk.time.pass(10_000);
  await recording.written();
  assert.deepEqual(desk.numbers(), [1, 2, 3, 4]);
  assert.equal(recording.take(said("e\n")), 5);
  await recording.close();
  assert.deepEqual(desk.numbers(), [1, 2, 3, 4, 5]);
});

test("a read-only folder costs the recording and not the session, and writing begins when it may", async (t) => {
  const desk = new Desk(t);
  mkdirSync(desk.folder, { recursive: true });
  chmodSync(desk.folder, 0o555);
  chmodSync(dirname(desk.folder), 0o755);
  const recording = await withoutPrivilege(async () => {
    const opened = await desk.open();
    opened.take(said("a\n"));
    await opened.written();
    return opened;
  });
  assert.deepEqual(desk.delays, [{ records: 1, why: "EACCES" }]);
  chmodSync(desk.folder, 0o755);
  desk.time.pass(10_000);
  await recording.written();
  await recording.close();
  assert.deepEqual(desk.numbers(), [1]);
});

const REMOVALS: readonly [string, (desk: Desk) => void][] = [
  ["the file", (desk) => rmSync(desk.file)],
  ["its folder", (desk) => rmSync(dirname(desk.file), { recursive: true })],
  ["the folder of all recordings", (desk) => rmSync(desk.folder, { recursive: true })],
  ["the file, moved away", (desk) => renameSync(desk.file, join(desk.folder, "elsewhere"))],
];

for (const [what, remove] of REMOVALS) {
  test(`removed while it is written: ${what} is made again, goes on with the numbers and says so`, async (t) => {
    const desk = new Desk(t);
    const recording = await desk.open();
    recording.take(said("a\nb\n"));
    await recording.written();
    remove(desk);
    recording.take(said("c\n"));
    await recording.written();
    assert.equal(recording.take(said("d\n")), 5);
    await recording.close();
    assert.deepEqual(
      desk.records().map(({ seq, text }) => [seq, text]),
      [
        [3, "c\n"],
        [4, "2 records before these were removed while the session went on"],
        [5, "d\n"],
      ],
    );
    assert.deepEqual(desk.losses, [{ records: 2, why: "ENOENT" }]);
  });
}

test("a file that another has put in place meanwhile is gone on with behind its own numbers", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  recording.take(said("a\n"));
  await recording.written();
  rmSync(desk.file);
  writeFileSync(desk.file, '{"seq":7,"kind":"notice"}');
  recording.take(said("b\nc\n"));
  await recording.close();
  assert.deepEqual(desk.numbers(), [7, 8, 9]);
  assert.equal(recording.seq, 9);
});

/** What may stand where a recording belongs. */
const IN_THE_WAY: readonly [string, (desk: Desk) => void][] = [
  ["a folder in the file's place", (desk) => mkdirSync(desk.file, { recursive: true })],
  [
    "a file in the folder's place",
    (desk) => {
      mkdirSync(desk.folder, { recursive: true });
      writeFileSync(dirname(desk.file), "");
    },
  ],
  [
    "a pipe in the file's place",
    (desk) => {
      mkdirSync(dirname(desk.file), { recursive: true });
      execFileSync("/usr/bin/env", ["mkfifo", desk.file]);
    },
  ],
  [
    "a link that leads to a device",
    (desk) => {
      mkdirSync(dirname(desk.file), { recursive: true });
      symlinkSync("/dev/full", desk.file);
    },
  ],
];

for (const [what, put] of IN_THE_WAY) {
  test(`the session goes on beside ${what}, which stays as it is`, async (t: TestContext) => {
    const desk = new Desk(t);
    put(desk);
    const recording = await desk.open();
    recording.take(said("a\n"));
    await recording.written();
    await recording.room();
    assert.deepEqual([desk.losses.length, desk.delays.length], [0, 1]);
    assert.equal(desk.delays[0]?.records, 1);
    assert.notEqual(desk.delays[0]?.why, "unknown error");
    rmSync(dirname(desk.file), { recursive: true });
    desk.time.pass(10_000);
    await recording.written();
    await recording.close();
    assert.deepEqual(desk.numbers(), [1]);
    assert.equal(recording.loss, undefined);
  });
}

for (const [what, cut, numbered] of [
  ["in mid-line", 5, [1, 3, 4, 5]],
  ["just before its last newline", 1, [1, 2, 3, 4, 5]],
] as const) {
  test(`a live recording that another has cut ${what} is gone on with on a line of its own`, async (t) => {
    const desk = new Desk(t);
    const recording = await desk.open();
    recording.take(said("a\nb\n"));
    await recording.written();
    truncateSync(desk.file, desk.text().length - cut);
    recording.take(said("c\n"));
    await recording.written();
    recording.take(said("d\n"));
    if (cut === 1) recording.take(said("e\n"));
    await recording.close();
    // Where a record is gone, a notice says so.
    const count = desk.bodies().filter(({ kind }) => kind === "notice").length;
    assert.deepEqual([desk.numbers(), count], [numbered, cut === 1 ? 0 : 1]);
    assert.equal(recording.loss?.records, cut === 1 ? undefined : 1);
    assert.match(desk.text(), /\n$/);
  });
}

test("a live recording to which another has written is gone on with behind those numbers", async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open();
  recording.take(said("a\n"));
  await recording.written();
  appendFileSync(desk.file, '{"seq":7,"kind":"notice"}');
  recording.take(said("b\n"));
  await recording.written();
  assert.equal(recording.take(said("c\n")), 9);
  await recording.close();
  assert.deepEqual(desk.numbers(), [1, 7, 8, 9]);
});

test("a real device that is full is a fault like any other", { skip: !existsSync("/dev/full") }, async (t) => {
  const desk = new Desk(t);
  const recording = await desk.open({
    look: () => undefined,
    open() {
      const descriptor = openSync("/dev/full", "w");
      return {
        size: 0,
        read: () => 0,
        append: (bytes) =>
          new Promise((resolve, reject) =>
            write(descriptor, bytes, (error, count) => (error ? reject(error) : resolve(count))),
          ),
        sizeNow: () => 0,
        isInPlace: () => true,
        close: () => closeSync(descriptor),
      };
    },
  });
  recording.take(said("a\n"));
  await recording.written();
  assert.deepEqual(desk.delays, [{ records: 1, why: "ENOSPC" }]);
  await recording.close();
  assert.throws(() => readFileSync(desk.file), { code: "ENOENT" });
});
