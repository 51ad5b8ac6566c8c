import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { MARK } from "../../src/agents/child-variables.ts";
import { ProcessTable } from "../../src/agents/process-table.ts";
import type { RecordingFiles } from "../../src/agents/recorder/file.ts";
import type { AcceptedPrompt, SessionDescriptor, StartSession } from "../../src/agents/sessions.ts";
import type { Supervisor } from "../../src/agents/supervisor.ts";
import { recoverOf, type SessionsParts, supervisorOf } from "../../src/commands/sessions-wiring.ts";
import { openOwnSessions } from "../../src/peers/own-sessions-file.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Environment, environmentFrom } from "../../src/platform/environment.ts";
import { systemTimer, type Timer } from "../../src/platform/timer.ts";
import { RunInventory, type RunOverview } from "../../src/runs/inventory.ts";
import { FAKE_AGENT } from "./fake-agent.ts";
import { until } from "./until.ts";

/** A record of a recording. */
export interface RecordRead {
  readonly seq: number;
  readonly ts: string;
  readonly kind: string;
  readonly sessionId: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what it must be.
  readonly [field: string]: any;
}

/** What is not as usual in a test's home. */
export interface DrivingOptions {
  readonly timer?: Timer;
  /** The settings of the agents besides `fake`, by their names. */
  readonly agents?: { readonly [name: string]: readonly string[] };
  readonly isNameTaken?: SessionsParts["isNameTaken"];
  readonly files?: RecordingFiles;
  /** Not everything could be written: what is recorded may have gaps, and runs may be missing. */
  readonly isLossy?: true;
}

/** A user's home, and sessions of real processes in it. */
export class Driving {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-driving-")));
  readonly cwd = join(this.home, "work");
  readonly environment: Environment = environmentFrom({
    home: this.home,
    variables: { PATH: process.env.PATH, HOME: this.home },
  });
  readonly bridgeHome = this.environment.bridgeHome;
  readonly warned: string[] = [];
  readonly parts: SessionsParts;
  readonly sessions: Supervisor;
  readonly #isLossy: boolean;

  constructor(settings: readonly string[], options: DrivingOptions) {
    mkdirSync(this.cwd);
    const command = (own: readonly string[]) => ({ command: process.execPath, args: [FAKE_AGENT, ...own], env: {} });
    const agents = Object.entries({ fake: settings, ...options.agents });
    this.#isLossy = options.isLossy === true;
    this.parts = {
      environment: this.environment,
      clock: systemClock,
      timer: options.timer ?? systemTimer,
      version: "0.0.0",
      agents: new Map(agents.map(([name, own]) => [name, command(own)])),
      own: openOwnSessions({ bridgeHome: this.bridgeHome, clock: systemClock }),
      isNameTaken: options.isNameTaken ?? (async () => false),
      warn: (message) => void this.warned.push(message),
      ...(options.files && { files: options.files }),
    };
    this.sessions = supervisorOf(this.parts);
  }

  start(more: Partial<StartSession> = {}): Promise<SessionDescriptor> {
    return this.sessions.start({ kind: "agent", agent: "fake", cwd: this.cwd, ...more });
  }

  /** Starts an agent and has it do what the lines say. */
  async begin(lines: readonly string[], more: Partial<StartSession> = {}) {
    const session = await this.start(more);
    return { id: session.id, prompt: await this.sessions.prompt(session.id, lines.join("\n")) };
  }

  /** The same until its end. */
  async turn(lines: readonly string[], more: Partial<StartSession> = {}) {
    const { id, prompt } = await this.begin(lines, more);
    const end = await prompt.ended;
    return { id, end, prompt };
  }

  /** Prompts a session, until the end of the turn. */
  async prompt(id: AcceptedPrompt["id"], text: string): Promise<string> {
    return (await (await this.sessions.prompt(id, text)).ended).reason;
  }

  /** The session as it is now. */
  async session(id: string): Promise<SessionDescriptor> {
    const found = await this.sessions.find(id);
    assert.ok(found !== undefined, `the session ${id} is known`);
    return found;
  }

  recording(id: string): string {
    return join(this.home, ".agentproto/sessions", id, "events.jsonl");
  }

  /** The records of a session, as they are in its file. */
  records(id: string): RecordRead[] {
    const lines = readFileSync(this.recording(id), "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  /** All that was said, as one text. */
  text(id: string): string {
    return this.records(id)
      .map(({ kind, text }) => (kind === "text-delta" ? text : ""))
      .join("");
  }

  /** The kinds of the records, in short: without those of text. */
  kinds(id: string): string[] {
    return this.records(id)
      .map(({ kind }) => kind)
      .filter((kind) => kind !== "text-delta");
  }

  /** What `sessions.json` keeps of a session. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what it must be.
  saved(id: string): any {
    const { sessions } = JSON.parse(readFileSync(join(this.bridgeHome, "sessions.json"), "utf8"));
    return sessions.find((each: { id: string }) => each.id === id);
  }

  /** Runs and jobs as they are shown now. */
  async runs(): Promise<RunOverview> {
    return await new RunInventory({ bridgeHome: this.bridgeHome, clock: systemClock }).overview();
  }

  /** The runs once there are so many, and they and their jobs have ended: how, the first one first. */
  async finishedRuns(count: number): Promise<readonly { readonly status: string; readonly last: string }[]> {
    let shown = await this.runs();
    const isOver = (): boolean =>
      shown.runs.length === count &&
      [...shown.runs, ...Object.values(shown.jobs)].every(({ status }) => status !== "running");
    await until(async () => {
      shown = await this.runs();
      return isOver();
    });
    for (const { name, status, job } of shown.runs) {
      if (name === shown.runs.find((run) => run.job === job)?.name) assert.equal(shown.jobs[`${job}`]?.status, status);
    }
    return [...shown.runs].reverse().map(({ status, last }) => ({ status, last }));
  }

  /** Puts in order what processes that are gone have left. */
  recover(): Promise<void> {
    return recoverOf(this.parts);
  }

  /** Ends all of it, and holds what must be so of every session, whatever became of it. */
  async close(): Promise<void> {
    try {
      await this.sessions.close();
      const all = await this.sessions.list();
      assert.deepEqual(await leftOf(all.map(({ id }) => id)), [], "no process is left");
      if (this.#isLossy) return;
      const ours = all.filter(({ kind }) => kind === "agent");
      const prompts = ours.flatMap((session) => this.#checked(session));
      // Where time runs fast or the machine is busy, their ends come a little behind those of the sessions.
      const runs = await this.finishedRuns(prompts.length);
      assert.equal(runs.length, prompts.length, "each prompt is a run");
    } finally {
      rmSync(this.home, { recursive: true, force: true });
    }
  }

  /** Holds that a recording is whole; gives its prompts. */
  #checked({ id, status }: SessionDescriptor): readonly RecordRead[] {
    let records: RecordRead[] = [];
    try {
      records = this.records(id);
    } catch {
      // Nothing ever happened in it.
    }
    checkRecords(records, status !== "interrupted");
    return records.filter(({ kind }) => kind === "user-prompt");
  }
}

/** Sessions whose agent `fake` has these settings; all is ended and looked at after the test. */
export function driving(t: TestContext, settings: readonly string[] = [], options: DrivingOptions = {}): Driving {
  const all = new Driving(settings, options);
  t.after(() => all.close());
  return all;
}

/** Holds what must be so of the recording of a session that has ended; `inOrder`: its process was not killed. */
export function checkRecords(records: readonly RecordRead[], inOrder = true): void {
  assert.deepEqual(
    records.map(({ seq }) => seq),
    records.map((_, index) => index + 1),
    "the numbers have no gap",
  );
  const turns = records.filter(({ kind }) => kind === "user-prompt" || kind === "turn-end").map(({ kind }) => kind);
  assert.deepEqual(
    turns,
    turns.map((_, index) => (index % 2 === 0 ? "user-prompt" : "turn-end")),
    "each prompt has one end",
  );
  assert.equal(turns.length % 2, 0, "no turn is left open");
  if (!inOrder) return;
  for (const [index, { kind }] of records.entries()) {
    if (kind === "turn-end") assert.equal(records[index + 1]?.kind, "usage_snapshot", "usage is told at a turn's end");
  }
  if (records.length > 0) assert.equal(records.at(-1)?.kind, "usage_snapshot", "usage is told in the end");
  const results = new Set(records.filter(({ kind }) => kind === "tool-result").map(({ toolCallId }) => toolCallId));
  for (const { kind, toolCallId } of records) {
    if (kind === "tool-call") assert.ok(results.has(toolCallId), `the call ${toolCallId} has a result`);
  }
}

/** The processes that belong to one of these sessions. */
export async function leftOf(ids: readonly string[]): Promise<readonly number[]> {
  const marks = new Set(ids);
  const table = await new ProcessTable().now();
  return table.rows.map(({ pid }) => pid).filter((pid) => marks.has(table.variableOf(pid, MARK) ?? ""));
}

/** A timer in whose world everything comes `times` times as fast. */
export function hastyTimer(times: number): Timer {
  return { after: (ms, task) => systemTimer.after(ms / times, task) };
}
