import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type RecordingFiles, recordingFiles } from "../../src/agents/recorder/file.ts";
import { driving } from "../support/driving.ts";
import { until } from "../support/until.ts";

/** A disk that is full while `isFull` says so. */
function fullDisk(isFull: () => boolean): RecordingFiles {
  return {
    look: recordingFiles.look,
    open(path) {
      const file = recordingFiles.open(path);
      return {
        ...file,
        append: async (bytes) => {
          if (isFull()) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
          return file.append(bytes);
        },
      };
    },
  };
}

test("a session goes on though the disk is full; that records wait is told, and in the end the loss, which stands in sessions.json", async (t) => {
  const home = driving(t, [], { files: fullDisk(() => true), isLossy: true });
  const { id, end } = await home.turn(['say "one\\n"', "call c1", 'say "two\\n"']);
  assert.equal(end.reason, "completed");
  assert.equal(await home.prompt(id, "say three"), "completed");
  await home.sessions.stop(id);
  assert.deepEqual(home.saved(id).lost, { records: 12, why: "ENOSPC" });
  assert.deepEqual(home.warned, [
    `1 record of the session ${id} could not be written yet (ENOSPC)`,
    `12 records of the session ${id} could not be recorded (ENOSPC)`,
  ]);
  assert.match(home.sessions.output(id)?.read().text ?? "", /one[\s\S]*two[\s\S]*three/);
});

test("what could not be written for a while is written when there is room again", async (t) => {
  let full = false;
  const home = driving(t, [], { files: fullDisk(() => full) });
  const { id } = await home.turn(['say "one\\n"']);
  full = true;
  assert.equal(await home.prompt(id, 'say "two\\n"'), "completed");
  full = false;
  assert.equal(await home.prompt(id, 'say "three\\n"'), "completed");
  await home.sessions.stop(id);
  const seqs = home.records(id).map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
  assert.match(home.text(id), /three\n/);
  assert.equal(home.saved(id).lost, undefined, "what was only late is not lost");
  assert.equal(home.warned.length, 1);
  assert.match(home.warned[0] ?? "", /could not be written yet \(ENOSPC\)$/);
});

test("a recording whose folder is deleted in mid-turn is gone on with in a new one, without a number twice", async (t) => {
  const home = driving(t, [], { isLossy: true });
  const { id, prompt } = await home.begin(['say "one\\n"', "wait 300", 'say "two\\n"']);
  await until(() => home.text(id).includes("one"));
  rmSync(join(home.home, ".agentproto"), { recursive: true });
  assert.equal((await prompt.ended).reason, "completed");
  assert.equal(await home.prompt(id, 'say "three\\n"'), "completed");
  await home.sessions.stop(id);
  assert.match(home.text(id), /two\nthree\n/);
  const seqs = home.records(id).map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    [...new Set(seqs)].sort((a, b) => a - b),
  );
});

test("a folder that can't be had keeps no session from its work", async (t) => {
  const home = driving(t, [], { isLossy: true });
  const sessions = dirname(dirname(home.recording("x")));
  mkdirSync(dirname(sessions), { recursive: true });
  writeFileSync(sessions, "in the way");
  const { id, end, prompt } = await home.turn(['say "one\\n"']);
  assert.equal(end.reason, "completed");
  assert.equal(prompt.seq, 1);
  await home.sessions.stop(id);
  const { records, why } = home.saved(id).lost;
  assert.equal(home.warned.at(-1), `${records} records of the session ${id} could not be recorded (${why})`);
  assert.equal(home.warned.length, 2);
});
