import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { USUAL, writeHistory } from "../../../scripts/history.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { Talk } from "./home/claude.ts";
import { HOSTILE_FOLDER, tellHostile } from "./home/hostile.ts";
import { writeOthers } from "./home/others.ts";
import { tellRich, tellWorld } from "./home/rich.ts";
import { writeRunLogs } from "./home/run-logs.ts";
import { WHERE } from "./home/where.ts";

export { ADDRESSES, WHERE } from "./home/where.ts";

const HOUR = 3_600_000;

/** Sessions that fill the list, over several weeks. */
const SMALL_SESSIONS = 80;

/** Fills `home` with sessions of all agents in several projects, and with runs of every state, as of `now` (ms). */
export function writeHome(home: string, now = Date.now()): void {
  for (const folder of ["work/shop/.git/refs", "work/shop/packages/cart", "work/notes", "work/翻訳"])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, "work/shop/.git/HEAD"), "ref: refs/heads/main\n");
  const talk = begin(home, now);
  tellRich(talk("work/shop", WHERE.rich, 1, "fix/login"));
  tellWorld(talk("work/翻訳", WHERE.world, 4));
  tellHostile(talk(`work/${HOSTILE_FOLDER}`, WHERE.hostile, 6, "<b>branch</b>"));
  talk.saveAll();
  writeSmall(home, now);
  writeLive(home, now);
  writeOthers(home, now);
  writeRunLogs(home, now);
}

/** Adds a session of `calls` tool calls one after another, without a word between them. */
export function writeCalls(home: string, calls = 10_000, now = Date.now()): void {
  const start = { session: WHERE.calls, cwd: join(home, "work/shop"), branch: "main", stepMs: 10 };
  const talk = new Talk(home, { ...start, startedAt: (now - HOUR) as EpochMs });
  talk.title(`${calls} calls`).user("Call many tools.");
  for (let call = 0; call < calls; call++)
    talk.tool("Bash", { command: `echo ${call}` }, `output ${call}`, call % 97 === 5);
  talk.says("All done.").save();
}

/** Adds a long session of prose, code and calls, of about `megabytes`; its id. @throws Error when none was written */
export function writeLong(home: string, megabytes = 40): string {
  const plan = { ...USUAL, sessions: 1, projects: 1, agents: 0, bytes: megabytes * 1e6 };
  const [session] = writeHistory(home, plan).sessions;
  if (session === undefined) throw new Error("no session was written");
  return session.id;
}

/** What makes talks that are saved together. */
interface Talks {
  (folder: string, session: string, hoursAgo: number, branch?: string): Talk;
  saveAll(): void;
}

function begin(home: string, now: number): Talks {
  const all: { readonly talk: Talk; readonly at: number }[] = [];
  const open = (folder: string, session: string, hoursAgo: number, branch = "main"): Talk => {
    const at = now - hoursAgo * HOUR;
    const talk = new Talk(home, { session, cwd: join(home, folder), branch, startedAt: (at - 600_000) as EpochMs });
    all.push({ talk, at });
    return talk;
  };
  return Object.assign(open, {
    saveAll() {
      for (const { talk, at } of all) talk.save(at);
    },
  });
}

function writeSmall(home: string, now: number): void {
  const folders = ["work/shop", "work/notes", "work/shop/packages/cart", "work/gone", "work/翻訳"];
  const talk = begin(home, now);
  for (let i = 0; i < SMALL_SESSIONS; i++) {
    const session = `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
    const folder = folders[i % folders.length] ?? "work/shop";
    const one = talk(folder, session, 2 + i * 7, i % 3 === 0 ? "main" : `topic-${i % 4}`);
    one
      .user(`Session ${i}: ${"look into the parser ".repeat(1 + (i % 9))}`)
      .tool("Bash", { command: "ls" }, "a\nb")
      .says("Done.");
  }
  talk(`work/notes`, WHERE.empty, 40).title("Nothing was said yet");
  talk.saveAll();
}

/** A session that this very process has open, as Claude Code's own processes write it down. */
function writeLive(home: string, now: number): void {
  const cwd = join(home, "work/shop");
  const talk = new Talk(home, { session: WHERE.live, cwd, branch: "tests", startedAt: (now - 60_000) as EpochMs });
  talk.title("Keep the test suite green").user("Run the tests until they stay green.").says("On it.");
  talk.subagent("a4e1d3c5b7f90813d", "Watch the build", (child) => child.tool("Bash", { command: "make" }, "made"));
  talk.call("Bash", { command: "npm test" });
  talk.save();
  const folder = join(home, ".claude/sessions");
  mkdirSync(folder, { recursive: true });
  // Field 22 of the process's state, behind its name, which may hold anything in its brackets.
  const procStart = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ")[19];
  const { pid } = process;
  const registered = {
    pid,
    sessionId: WHERE.live,
    cwd,
    startedAt: now,
    procStart,
    version: "2.1.332",
    kind: "interactive",
  };
  writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ ...registered, status: "busy", updatedAt: now }));
}
