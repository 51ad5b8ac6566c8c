import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { EpochMs } from "../../src/platform/clock.ts";
import { type RunDisk, systemDisk } from "../../src/runs/disk.ts";
import { RunInventory, type RunInventoryParts } from "../../src/runs/inventory.ts";
import { temporaryFolder } from "../platform/folder.ts";

/** A file below the folder `fixtures/runs`. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/runs/${name}`, import.meta.url));
}

/** A copy of the fixture's home, every file as old as it should be, and the time at which it is looked at. */
export function fixtureHome(t: TestContext): { readonly home: string; readonly now: EpochMs } {
  const home = join(temporaryFolder(t), "home");
  cpSync(fixture("home"), home, { recursive: true });
  const { now, files } = JSON.parse(readFileSync(fixture("times.json"), "utf8"));
  for (const [name, ms] of Object.entries(files)) age(join(home, name), ms as number);
  for (const folder of ["runs/archive", "runs", "archive", "."]) age(join(home, folder), now - 60_000);
  return { home, now };
}

/** Makes a file or folder as old as if it had been written at `ms`. */
export function age(path: string, ms: number): void {
  utimesSync(path, ms / 1000, ms / 1000);
}

/** Writes a file below `home`, as if at `ms`. */
export function put(home: string, name: string, content: string | object, ms?: number): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  if (ms !== undefined) age(path, ms);
  return path;
}

/** The log of a run that has ended. */
export function finishedLog(prompt: string, outcome = "done"): string {
  return `14:05:09 codex in /srv/shop, access edit, by you\n         ${prompt}\n         ---\n14:05:12 finished after 3s · ${outcome}\n`;
}

/** Every file below `folder` with its bytes and the time it was written. */
export function snapshot(folder: string): readonly (readonly [name: string, bytes: string, mtime: number])[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => [name, readFileSync(join(folder, name)).toString("base64"), statSync(join(folder, name)).mtimeMs]);
}

/** A disk that counts what it is asked. */
export function countingDisk(): RunDisk & { readonly count: { lists: number; opens: number; stamps: number } } {
  const count = { lists: 0, opens: 0, stamps: 0 };
  return {
    count,
    list(folder, breather) {
      count.lists++;
      return systemDisk.list(folder, breather);
    },
    stamp(path) {
      count.stamps++;
      return systemDisk.stamp(path);
    },
    open(root, path, use) {
      count.opens++;
      return systemDisk.open(root, path, use);
    },
  };
}

/** A time that a test sets. */
export class Moment {
  ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  now(): EpochMs {
    return this.ms as EpochMs;
  }
}

/** An inventory over `bridgeHome` at the time `now`, on a machine where nothing runs unless it is said. */
export function inventoryOf(bridgeHome: string, now: number, more: Partial<RunInventoryParts> = {}): RunInventory {
  return new RunInventory({ bridgeHome, clock: new Moment(now), alive: () => false, ...more });
}
