// Records a session in the folder given, until it is killed, and tells on standard output the number up to which the
// records are written.

import { writeSync } from "node:fs";
import { openRecording } from "../../../src/agents/recorder/open.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { systemTimer } from "../../../src/platform/timer.ts";
import { sessionIdOf } from "../../../src/transcript/names.ts";

const [folder = "", id] = process.argv.slice(2);
const sessionId = sessionIdOf(id);
if (sessionId === undefined) throw new Error("no id");
const recording = await openRecording({
  folder,
  sessionId,
  clock: systemClock,
  timer: systemTimer,
  late: ({ why }) => {
    throw new Error(why);
  },
  lost: ({ why }) => {
    throw new Error(why);
  },
});
let turn = 0;
for (;;) {
  turn++;
  recording.take({ kind: "user-prompt", text: `turn ${turn}` });
  for (let i = 0; i < 50; i++)
    recording.take({ kind: "text-delta", text: `line ${i} ${"x".repeat(turn % 700)}\n${i}` });
  recording.take({ kind: "turn-end", reason: "completed" });
  await recording.written();
  writeSync(1, `${recording.seq}\n`);
}
