import assert from "node:assert/strict";
import { test } from "node:test";
import {
  heldBytes,
  type LogWindow,
  openedLog,
  READ_BYTES,
  withEarlier,
  withLater,
} from "../../../src/dashboard/app/runs/log-window.ts";
import type { RunLog } from "../../../src/dashboard/app/wire.ts";

/** A read as the server gives it: whole characters only, as many as begin and end within 128 KiB. */
function readAt(log: Buffer, from: number, most = READ_BYTES): RunLog {
  let start = Math.min(from, log.length);
  let end = Math.min(start + most, log.length);
  const isInside = (at: number): boolean => at < log.length && ((log[at] ?? 0) & 0xc0) === 0x80;
  while (isInside(start)) start++;
  while (end > start && isInside(end)) end--;
  return { text: log.toString("utf8", start, end), next: end, size: log.length };
}

function textOf({ pieces }: LogWindow): string {
  return pieces.map(({ text }) => text).join("");
}

function openedAtEnd(log: Buffer): LogWindow {
  const from = Math.max(0, log.length - READ_BYTES);
  return openedLog(from, readAt(log, from));
}

function walkedToStart(log: Buffer): { readonly texts: readonly string[]; readonly window: LogWindow } {
  let window = openedAtEnd(log);
  const texts = [textOf(window)];
  while (heldBytes(window).from > 0) {
    const until = heldBytes(window).from;
    const from = Math.max(0, until - READ_BYTES);
    window = withEarlier(window, from, readAt(log, from));
    const [first] = window.pieces;
    assert.equal(first?.to, until, "the reads join");
    texts.unshift(first?.text ?? "");
  }
  return { texts, window };
}

const LINES = Buffer.from(
  Array.from({ length: 20_000 }, (_, i) => `12:00:00 line ${i} of a log — über 翻訳 🎈\n`).join(""),
);

test("a log is opened at its end, with whole lines", () => {
  const window = openedAtEnd(LINES);
  const { from, to } = heldBytes(window);
  assert.equal(to, LINES.length);
  assert.equal(LINES.toString("utf8", from), textOf(window));
  assert.match(textOf(window), /^12:00:00 line /);
  assert.equal(from >= LINES.length - READ_BYTES, true);
});

test("what was before is joined to what is held, whatever character the reads begin in", () => {
  for (let cut = 0; cut < 8; cut++) {
    const log = LINES.subarray(0, LINES.length - cut * 53);
    const whole = log.subarray(0, log.lastIndexOf(0x0a) + 1);
    const { texts } = walkedToStart(whole);
    assert.equal(texts.join(""), whole.toString("utf8"));
  }
});

test("a line that is longer than a read is held in parts", () => {
  const log = Buffer.from(`${"é🎈".repeat(80_000)}\n`);
  const { texts } = walkedToStart(log);
  assert.equal(texts.join(""), log.toString("utf8"));
});

test("a short log is held whole from its first read", () => {
  const window = openedLog(0, readAt(Buffer.from("12:00:00 a\nb"), 0));
  assert.deepEqual(window, { pieces: [{ from: 0, to: 12, text: "12:00:00 a\nb" }], size: 12 });
});

test("a log that has nothing yet holds nothing", () => {
  const window = openedLog(0, { text: "", next: 0, size: 0 });
  assert.deepEqual(window, { pieces: [], size: 0 });
  assert.equal(textOf(withLater(window, { text: "a", next: 1, size: 1 })), "a");
});

test("what comes is joined to the line that it goes on with, and nothing is lost or told twice", () => {
  let window: LogWindow = { pieces: [], size: 0 };
  for (let at = 0; at < LINES.length; ) {
    const read = readAt(LINES, at, 1_777);
    window = withLater(window, read);
    at = read.next;
  }
  assert.equal(textOf(window), LINES.toString("utf8"));
  for (const [i, piece] of window.pieces.entries()) {
    assert.equal(piece.from, window.pieces[i - 1]?.to ?? 0);
    assert.match(piece.text, /^12:00:00 line /);
  }
  assert.equal(window.pieces.length > 5, true);
});

test("a read that has nothing new leaves all pieces the very same", () => {
  const window = openedAtEnd(LINES);
  assert.equal(withLater(window, { text: "", next: LINES.length, size: LINES.length }).pieces, window.pieces);
});

test("no more than about 2 MB of a long log is held: the end is let go of when going up, the start when going down", () => {
  const log = Buffer.from(Array.from({ length: 100_000 }, (_, i) => `12:00:00 line ${i} ${"x".repeat(30)}\n`).join(""));
  const { window } = walkedToStart(log);
  assert.equal(heldBytes(window).from, 0);
  assert.equal(heldBytes(window).to < 2_100_000, true);
  assert.equal(textOf(window), log.toString("utf8", 0, heldBytes(window).to));
  let down = window;
  while (heldBytes(down).to < log.length) down = withLater(down, readAt(log, heldBytes(down).to));
  const { from } = heldBytes(down);
  assert.equal(from > 0, true);
  assert.equal(textOf(down), log.toString("utf8", from));
  assert.equal(textOf(down).length < 2_200_000, true);
});
