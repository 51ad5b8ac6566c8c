import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import type { Watcher } from "../../../src/platform/watch.ts";
import { type ListingWork, noWork } from "../../../src/stores/claude/session-file.ts";
import { ClaudeStore, type ClaudeStoreParts } from "../../../src/stores/claude/store.ts";
import type { SessionId } from "../../../src/transcript/names.ts";

/** A record as a test writes it: an object, or a line as it stands. */
export type Line = string | { readonly [key: string]: unknown };

/** A home folder of one test. */
export interface ClaudeHome {
  readonly home: string;
  readonly projects: string;
  /** Writes a transcript and gives its path; `at` sets its time. */
  write(folder: string, name: string, lines: readonly Line[], at?: Date): string;
  append(path: string, lines: readonly Line[]): void;
  store(parts?: Partial<ClaudeStoreParts>): ClaudeStore;
  /** What listing has cost since this was last asked. */
  work(): ListingWork;
}

/** The n-th session id of a test. */
export function sessionId(n: number): SessionId {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}` as SessionId;
}

/** A watcher that never tells anything. */
export const stillWatcher: Watcher = { file: untilAborted, folder: untilAborted };

async function* untilAborted(_path: string, signal: AbortSignal): AsyncGenerator<never> {
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
}

/** A user's prompt in the envelope of 2.1.332. */
export function prompt(text: string, more: { readonly [key: string]: unknown } = {}): Line {
  return {
    parentUuid: null,
    isSidechain: false,
    type: "user",
    message: { role: "user", content: text },
    uuid: "u1",
    timestamp: "2026-11-30T09:00:00.000Z",
    cwd: "/home/dev/proj",
    sessionId: "s",
    version: "2.1.332",
    gitBranch: "main",
    ...more,
  };
}

/** One line of an answer, with its usage. */
export function answer(
  id: string,
  usage: { readonly [key: string]: unknown } | undefined,
  more: { readonly [key: string]: unknown } = {},
): Line {
  return {
    parentUuid: "u1",
    isSidechain: false,
    message: { id, role: "assistant", model: "claude-sonnet-5", content: [{ type: "text", text: "Done." }], usage },
    type: "assistant",
    uuid: `a-${id}`,
    timestamp: "2026-11-30T09:00:05.000Z",
    cwd: "/home/dev/proj",
    sessionId: "s",
    version: "2.1.332",
    gitBranch: "main",
    ...more,
  };
}

/** An empty home with a `.claude/projects`, removed when the test ends. */
export function claudeHome(t: TestContext): ClaudeHome {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "claude-home-")));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const projects = join(home, ".claude", "projects");
  mkdirSync(projects, { recursive: true });
  const work = noWork();
  return {
    home,
    projects,
    write(folder, name, lines, at) {
      const path = join(projects, folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, textOf(lines));
      if (at !== undefined) utimesSync(path, at, at);
      return path;
    },
    append: (path, lines) => appendFileSync(path, textOf(lines)),
    store: (parts = {}) =>
      new ClaudeStore({
        environment: environmentFrom({ home }),
        clock: systemClock,
        watcher: stillWatcher,
        processes: { isRunning: () => true },
        extraRoots: [],
        chats: () => ({
          entries: unused,
          before: unused,
          record: unused,
          children: unused,
          child: unused,
          skipped: () => [],
        }),
        work,
        ...parts,
      }),
    work() {
      const done = { ...work };
      Object.assign(work, noWork());
      return done;
    },
  };
}

function textOf(lines: readonly Line[]): string {
  return lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
}

function unused(): Promise<never> {
  return Promise.reject(new Error("this test reads no chat"));
}
