// Records what an agent says at a steady rate; prints `begins`, and at the end what that cost: `<deltas> deltas <CPU> ms`.
//
//   node recording-child.ts ours|bare|idle FOLDER lines|words RATE SECONDS
//
// `bare` does the least that would do: it joins chunks to lines and writes each turn's with one appendFileSync.

import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openRecording } from "../../src/agents/recorder/open.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { requireSessionId } from "../../src/transcript/names.ts";
import { atRate } from "./rate.ts";

const [subject, folder = "", shape, rate, seconds] = process.argv.slice(2);
const sessionId = requireSessionId("sess_11aa22bb");
/** A line each, or a line every twelve. */
const chunkOf = (count: number): string => (shape === "lines" || count % 12 === 0 ? `word ${count}\n` : "some words ");

if (subject === "ours") await ours();
else if (subject === "bare") await bare();
else await told(async () => ({ take() {}, turn: async () => {}, end: async () => {} }));

async function ours(): Promise<void> {
  const lost = (): void => process.exit(1);
  const recording = await openRecording({
    folder,
    sessionId,
    clock: systemClock,
    timer: systemTimer,
    lost,
    late: lost,
  });
  await told(async () => ({
    take: (text) => recording.take({ kind: "text-delta", text }),
    turn: () => recording.room(),
    end: () => recording.close(),
  }));
}

async function bare(): Promise<void> {
  mkdirSync(join(folder, sessionId), { recursive: true });
  const file = join(folder, sessionId, "events.jsonl");
  let seq = 0;
  let rest = "";
  let lines = "";
  await told(async () => ({
    take(text) {
      rest += text;
      if (!text.endsWith("\n")) return;
      const ts = new Date().toISOString();
      lines += `${JSON.stringify({ seq: ++seq, ts, kind: "text-delta", sessionId, text: rest })}\n`;
      rest = "";
    },
    async turn() {
      if (lines !== "") appendFileSync(file, lines);
      lines = "";
    },
    end: async () => {},
  }));
}

interface Taker {
  take(text: string): void;
  turn(): Promise<void>;
  end(): Promise<void>;
}

async function told(make: () => Promise<Taker>): Promise<void> {
  const taker = await make();
  console.log("begins");
  const before = process.cpuUsage();
  const deltas = await atRate(Number(rate), Number(seconds), (count) => taker.take(chunkOf(count)), taker.turn);
  await taker.end();
  const { user, system } = process.cpuUsage(before);
  console.log(`${deltas} deltas ${(user + system) / 1000} ms`);
  // The one who started it asks for the loop's delay, and ends it.
  setInterval(() => {}, 1e8);
}
