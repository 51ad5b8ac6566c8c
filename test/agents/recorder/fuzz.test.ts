import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../scripts/history/random.ts";
import type { SessionEvent } from "../../../src/agents/event.ts";
import type { JsonObject } from "../../../src/platform/read.ts";
import { called, Desk, gave, numbers } from "./recorded.ts";

const CHUNKINGS = 10_000;
/** A recording each; more would only cost time. */
const RECORDINGS = 50;
const PIECES = ["a", "word ", "\n", "\r\n", "\r", "\n\n", "é", "😀", "\ud83d", "\ude00", "\u2028", "\0", '"\\'];

const LONG = "x".repeat(70_000);

test(`the texts of ${CHUNKINGS} random chunkings, joined in the order of the file, are what came`, async (t) => {
  const seed = Date.now() % 2 ** 31;
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  for (let recordingNumber = 0; recordingNumber < RECORDINGS; recordingNumber++) {
    const desk = new Desk(t);
    const recording = await desk.open();
    const came: SessionEvent[] = [];
    const take = (event: SessionEvent): void => {
      came.push(event);
      recording.take(event);
    };
    for (let i = 0; i < CHUNKINGS / RECORDINGS; i++) {
      const text = Array.from({ length: random.between(0, 11) }, () =>
        random.between(0, 99) === 0 ? LONG : random.pick(PIECES),
      ).join("");
      for (const chunk of chunked(text, random)) {
        take({ kind: random.between(0, 3) === 0 ? "thought" : "text-delta", text: chunk });
        if (random.between(0, 5) === 0) desk.time.pass(random.pick([10, 249, 250, 1000]));
        if (random.between(0, 7) === 0) take(between(random));
        if (random.between(0, 49) === 0) await recording.written();
      }
    }
    await recording.close();
    const records = desk.records();
    assert.deepEqual(
      records.map(({ seq }) => seq),
      numbers(1, records.length),
    );
    assert.equal(toldOf(records), toldOf(came as unknown as JsonObject[]), `seed ${seed}`);
  }
});

/** `text` in chunks that may end anywhere, also between the halves of a character; some are empty. */
function chunked(text: string, random: Random): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; ) {
    const length = random.between(0, text.length > 1000 ? 50_000 : 6);
    chunks.push(text.slice(from, from + length));
    from += length;
  }
  return chunks;
}

function between(random: Random): SessionEvent {
  const id = `t${random.between(0, 2)}`;
  return random.pick<SessionEvent>([
    called(id, { n: random.between(0, 99) }, random.between(0, 1) === 0),
    gave(id),
    { kind: "turn-end", reason: "completed" },
    { kind: "notice", text: "n" },
  ]);
}

/** The text of each kind with what stood between: runs of one kind joined, notices and ends of turns as marks. */
function toldOf(events: readonly JsonObject[]): string {
  let told = "";
  let kind: unknown;
  for (const event of events) {
    const isText = event.kind === "text-delta" || event.kind === "thought";
    if (!isText && event.kind !== "notice" && event.kind !== "turn-end") continue;
    if (isText && event.text === "") continue;
    if (event.kind !== kind || !isText) told += `<${event.kind}>`;
    kind = event.kind;
    if (isText) told += event.text;
  }
  return told;
}
