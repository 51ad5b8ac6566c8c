import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Desk, numbers, SESSION } from "./recorded.ts";

const KILLS = 50;

/** The recording process as one file, which starts three times as fast as its sources. */
const built = mkdtempSync(join(tmpdir(), "agent-bridge-recording-"));
const PROCESS = join(built, "recording.mjs");

before(async () => {
  const source = fileURLToPath(new URL("recording-process.ts", import.meta.url));
  await build({ entryPoints: [source], outfile: PROCESS, bundle: true, platform: "node", format: "esm" });
});

after(() => rmSync(built, { recursive: true, force: true }));

test(`a process that records is killed ${KILLS} times: what was written is there, and the numbers are gapless`, async (t) => {
  const desk = new Desk(t);
  let kept = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [PROCESS, desk.folder, SESSION], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await once(child.stdout, "data");
    await pause(kill % 10);
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
    const told = Number(said.split("\n").at(-2));
    const all = desk.numbers();
    assert.deepEqual(all, numbers(1, all.length), `after ${kill + 1} kills`);
    assert.ok(told > kept && told <= all.length, `${told} of ${all.length}`);
    kept = all.length;
  }
});
