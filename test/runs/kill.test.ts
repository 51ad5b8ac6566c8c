import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { JsonObject } from "../../src/platform/read.ts";
import { parseRunCursor } from "../../src/runs/page.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { inventoryOf } from "./home.ts";

const KILLS = 100;

/** The writer as one file, which starts three times as fast as its sources. */
const built = mkdtempSync(join(tmpdir(), "agent-bridge-writing-"));
const WRITING = join(built, "writing.mjs");

before(async () => {
  const source = fileURLToPath(new URL("writing.ts", import.meta.url));
  await build({ entryPoints: [source], outfile: WRITING, bundle: true, platform: "node", format: "esm" });
});

after(() => rmSync(built, { recursive: true, force: true }));

function write(t: TestContext, home: string, prefix: string, count: number): ChildProcess {
  const child = spawn(process.execPath, [WRITING, home, prefix, String(count)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

/** What a writer that has ended had said. */
async function said(child: ChildProcess): Promise<{ out: string; err: string }> {
  assert.ok(child.stdout !== null && child.stderr !== null);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { out, err };
}

/** Everything that a home must still hold, by what its writers have said. */
class Expected {
  readonly jobs = new Map<string, string>();
  readonly runs = new Map<string, boolean>();

  take(out: string): void {
    for (const line of out.split("\n").slice(0, -1)) {
      const [kind, name = "", status = ""] = line.split(" ");
      if (kind === "job") this.jobs.set(name, status);
      else if (kind === "run") this.runs.set(name, false);
      else if (kind === "finished") this.runs.set(name, true);
    }
  }

  async holdsIn(home: string): Promise<void> {
    for (const [folder, name] of filesOf(home)) {
      if (name.endsWith(".json")) JSON.parse(readFileSync(join(folder, name), "utf8"));
    }
    const { jobs } = jobsIn(home);
    const found = new Map(jobs.map((job) => [job.name, job.status]));
    for (const [name, status] of this.jobs) {
      // It may have gone on after it last said something.
      assert.ok(found.get(name) === status || found.get(name) === "done", `${name}: ${found.get(name)}`);
    }
    assert.equal(found.size, jobs.length);
    const inventory = inventoryOf(home, Date.now());
    const shown = await allRuns(inventory);
    for (const [name, finished] of this.runs) {
      const run = shown.get(name);
      assert.match(run?.task ?? "", /^Prompt of /, name);
      if (finished) assert.equal(run?.status, "done", name);
    }
    const { skipped } = await inventory.report();
    assert.deepEqual(skipped, []);
  }
}

/** Every run by name, however many a slow machine let the writers begin. */
async function allRuns(inventory: ReturnType<typeof inventoryOf>) {
  let page = await inventory.page(undefined, 500);
  const runs = [...page.runs];
  while (page.next !== null) {
    page = await inventory.page(parseRunCursor(page.next), 500);
    runs.push(...page.runs);
  }
  assert.equal(runs.length, page.total);
  return new Map(runs.map((run) => [run.name, run]));
}

/** The job records; none when every writer was killed before it wrote the first. */
function jobsIn(home: string): { readonly jobs: readonly JsonObject[] } {
  const path = join(home, "jobs.json");
  return statSync(path, { throwIfNoEntry: false }) ? JSON.parse(readFileSync(path, "utf8")) : { jobs: [] };
}

function filesOf(home: string): [folder: string, name: string][] {
  return ["", "runs", "runs/archive"].flatMap((below) => {
    const folder = join(home, below);
    const names = statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder);
    return names.map((name): [string, string] => [folder, name]);
  });
}

/** How long a writer takes from its first word to its last, on this machine and under its load: ms. */
async function timeOfRound(out: Readable): Promise<number> {
  await once(out, "data");
  const start = performance.now();
  await once(out, "end");
  return performance.now() - start;
}

test(`a writer that is killed ${KILLS} times leaves no half file and loses no record`, async (t) => {
  const home = join(temporaryFolder(t), "home");
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  let dice = seed;
  const roll = (sides: number): number => {
    dice = (Math.imul(dice, 1_103_515_245) + 12_345) >>> 0;
    return ((dice >>> 8) / 2 ** 24) * sides;
  };
  const expected = new Expected();
  const whole = write(t, home, "eeee", 1);
  assert.ok(whole.stdout !== null);
  const [, ms] = await Promise.all([said(whole).then(({ out }) => expected.take(out)), timeOfRound(whole.stdout)]);
  for (let kill = 0; kill < KILLS; kill++) {
    const child = write(t, home, kill.toString(16).padStart(4, "0"), 1_000);
    assert.ok(child.stdout !== null);
    const ended = said(child);
    await once(child.stdout, "data");
    await pause(roll(2 * ms));
    child.kill("SIGKILL");
    const { out, err } = await ended;
    assert.equal(err, "");
    expected.take(out);
    if (kill % 10 === 9) await expected.holdsIn(home);
  }
  assert.ok(expected.jobs.size > 0 && expected.runs.size > 0);
  const last = await said(write(t, home, "ffff", 1));
  expected.take(last.out);
  await expected.holdsIn(home);
  const left = filesOf(home).filter(([folder, name]) => name.endsWith(".tmp") && folder !== join(home, "runs/archive"));
  assert.deepEqual([last.err, left.map(([, name]) => name)], ["", []]);
});

test("two writers at once lose nothing of each other", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const both = await Promise.all(["aaaa", "bbbb"].map((prefix) => said(write(t, home, prefix, 20))));
  const expected = new Expected();
  for (const { out, err } of both) {
    assert.deepEqual([err, out.endsWith("end\n")], ["", true]);
    expected.take(out);
  }
  await expected.holdsIn(home);
  assert.deepEqual([expected.jobs.size, expected.runs.size], [40, 40]);
  assert.ok(
    [...expected.jobs.values(), ...expected.runs.values()].every((value) => value === "done" || value === true),
  );
  assert.equal(readdirSync(join(home, "runs")).filter((name) => name.endsWith(".log")).length, 5);
});
