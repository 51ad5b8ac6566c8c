import assert from "node:assert/strict";
import { test } from "node:test";
import { openRecording } from "../../../src/agents/recorder/open.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { ownRecordings } from "../../../src/stores/recorded/roots.ts";
import { START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import { BUDGET, Home } from "../../stores/recorded/home.ts";
import { FakeTime } from "../../support/fake-time.ts";
import { called, gave, SESSION, said } from "./recorded.ts";

test("what is recorded is the chat that the store of recordings shows", async (t) => {
  const home = new Home(t);
  const time = new FakeTime();
  const folder = ownRecordings(environmentFrom({ home: home.path }));
  const lost = (): void => assert.fail("something was lost");
  const recording = await openRecording({ folder, sessionId: SESSION, clock: time, timer: time, lost, late: lost });
  recording.take({ kind: "user-prompt", text: "Count the files" });
  recording.take({ kind: "thought", text: "Need a listing" });
  recording.take(said("Let me lo"));
  time.pass(250);
  recording.take(said("ok:\n\nThere"));
  recording.take(called("t1", {}));
  recording.take(called("t1", { command: "ls" }, true));
  recording.take(gave("t1", "a.txt\nb.txt"));
  recording.take(called("t2", { command: "wc" }));
  recording.take(said("Two."));
  recording.take({ kind: "turn-end", reason: "cancelled" });
  await recording.close();
  const ref = await home.ref(SESSION);
  const items = toItems((await home.store.entries(ref, START, BUDGET)).entries);
  assert.deepEqual(
    items.map(({ kind, tool, text, summary, error }) => [kind, tool, text ?? summary, error]),
    [
      ["user", undefined, "Count the files", undefined],
      ["assistant", undefined, "Let me look:\n\nThere", undefined],
      ["tool", "ls", "a.txt\nb.txt", undefined],
      ["tool", "ls", "wc", true],
      ["assistant", undefined, "Two.", undefined],
      ["tool", "interrupted", "cancelled", undefined],
    ],
  );
  const { events, complete } = (await home.store.rawEvents(ref, 0, 500)) ?? {};
  assert.deepEqual([events.length, events.at(-1)?.seq, complete], [recording.seq, recording.seq, true]);
});
