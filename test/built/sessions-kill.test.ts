import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { leftOf, type RecordRead } from "../support/driving.ts";
import { until } from "../support/until.ts";
import { type Api, ask, events, type Machine, open } from "./product.ts";
import { machineWith, post, served } from "./session-server.ts";

const ROUNDS = 50;
/** One of so many rounds has an agent that is deaf to being asked to end. */
const STUBBORN = 12;
const SAID = Array.from({ length: 2_000 }, (_, i) => `say "line ${i}\\n"${i % 8 === 0 ? "\nwait 1" : ""}`);
const PROMPT = ["call begun", ...SAID, "hang"].join("\n");

/** What one server was asked and what it gave out, until it was killed. */
class Round {
  readonly session: string;
  /** Each record that was given out by any route: its text, by its number. */
  readonly given = new Map<number, string>();
  /** Prompts that were taken: the text of each, by the number of its record. */
  readonly taken = new Map<number, string>();
  readonly #api: Api;
  #isOver = false;

  constructor(api: Api, session: string) {
    this.#api = api;
    this.session = session;
  }

  /** Whether the agent says its many lines. */
  get isStreaming(): boolean {
    return [...this.given.values()].some((text) => text.includes("line 0"));
  }

  /** Follows, polls and prompts until the server is gone: `prompts` that are interrupted, then one that streams. */
  async run(prompts: number): Promise<void> {
    await Promise.all([
      this.#unlessKilled(() => this.#follow()),
      this.#unlessKilled(() => this.#poll()),
      this.#unlessKilled(async () => {
        for (let i = 0; i < prompts; i++) await this.#prompt(`say ${i}\nsilent`);
        await this.#prompt(PROMPT);
      }),
    ]);
  }

  /** The server is killed now: whatever fails from here on, fails by that. */
  over(): void {
    this.#isOver = true;
  }

  async #unlessKilled(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#isOver) throw error;
    }
  }

  async #prompt(prompt: string): Promise<void> {
    const { status, body } = await post(this.#api, `/api/sessions/${this.session}/prompt`, { prompt, interrupt: true });
    assert.equal(status, 202, JSON.stringify(body));
    this.taken.set(body.seq, prompt);
  }

  async #follow(): Promise<void> {
    for await (const { data } of events(await open(this.#api, `/api/sessions/${this.session}/events/stream`))) {
      this.#note(data);
    }
  }

  async #poll(): Promise<void> {
    for (let since = 0; !this.#isOver; ) {
      const { json } = await ask(this.#api, `/api/sessions/${this.session}/events?since=${since}&limit=2000`);
      for (const record of json.events) this.#note(JSON.stringify(record));
      since = json.nextSeq;
      await sleep(20);
    }
  }

  #note(text: string): void {
    this.given.set(JSON.parse(text).seq, text);
  }
}

function recordsOf(machine: Machine, session: string): readonly RecordRead[] {
  const text = readFileSync(join(machine.home, ".agentproto/sessions", session, "events.jsonl"), "utf8");
  const lines = text.split("\n");
  assert.equal(lines.pop(), "", "the last line is whole");
  // A record that was torn by the kill is ended by the next start, and is nobody's.
  return lines.flatMap((line) => parsed(line) ?? []);
}

function parsed(line: string): RecordRead | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Holds that all that was given out and taken is in the file, and that each turn has its end. */
function checkFile(machine: Machine, { session, given, taken }: Round): void {
  const records = recordsOf(machine, session);
  assert.deepEqual(
    records.map(({ seq }) => seq),
    records.map((_, i) => i + 1),
    "the numbers have no gap",
  );
  for (const [seq, text] of given) assert.deepEqual(records[seq - 1], JSON.parse(text));
  for (const [seq, prompt] of taken) {
    assert.deepEqual([records[seq - 1]?.kind, records[seq - 1]?.text], ["user-prompt", prompt]);
  }
  const turns = records.map(({ kind }) => kind).filter((kind) => kind === "user-prompt" || kind === "turn-end");
  assert.deepEqual(
    turns,
    turns.map((_, i) => (i % 2 === 0 ? "user-prompt" : "turn-end")),
  );
  assert.equal(turns.length % 2, 0, "each turn has an end");
  assert.equal(records.findLast(({ kind }) => kind === "turn-end")?.reason, "aborted");
}

/** Holds that the server that was started next tells what became of the session. */
async function checkTold(api: Api, { session, taken }: Round): Promise<void> {
  let shown = (await ask(api, `/api/sessions/${session}`)).json;
  assert.equal(shown.status, "interrupted");
  await until(async () => {
    shown = (await ask(api, `/api/sessions/${session}`)).json;
    return shown.endedAt !== undefined;
  });
  assert.deepEqual([shown.status, shown.pid], ["interrupted", undefined]);
  assert.deepEqual(await leftOf([session]), [], "no agent is left");
  const refused = await post(api, `/api/sessions/${session}/prompt`, { prompt: "x" });
  assert.deepEqual([refused.status, /interrupted/.test(refused.body.error)], [409, true]);
  const { runs, jobs } = (await ask(api, "/api/state")).json;
  const name = `${shown.agent}-job-${session.slice(-8)}`;
  if (taken.size > 0) assert.equal(jobs[name]?.status, "interrupted");
  const own = runs.filter((run: { job: string }) => run.job === name);
  assert.ok(own.length >= taken.size, "each prompt is a run");
  for (const { status } of own) assert.equal(status, "interrupted");
}

test(`a server that is killed ${ROUNDS} times in mid-turn loses nothing that it gave out or took, and the next one tells the truth`, async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  let dice = seed;
  const below = (count: number): number => {
    dice = (Math.imul(dice, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((dice / 2 ** 31) * count);
  };
  const machine = machineWith(process.execPath, {
    plain: ["resume"],
    stubborn: ["resume", "ignore-term", "ignore-eof"],
  });
  t.after(() => machine.remove());
  let last: Round | undefined;
  let given = 0;
  for (let i = 0; i <= ROUNDS; i++) {
    const { server, api } = await served(machine);
    if (last !== undefined) {
      await checkTold(api, last);
      checkFile(machine, last);
    }
    if (i === ROUNDS) {
      server.child.kill("SIGTERM");
      assert.equal((await server.ended).code, 0);
      break;
    }
    const agent = below(STUBBORN) === 0 ? "stubborn" : "plain";
    const before: string | undefined = below(2) === 0 ? last?.session : undefined;
    const begun = await (before === undefined
      ? post(api, "/api/sessions", { kind: "agent", agent, cwd: machine.home, name: `streams-${i}` })
      : post(api, `/api/sessions/${before}/restart`));
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    assert.equal(begun.body.restartedFrom, before);
    const round = new Round(api, begun.body.id);
    const running = round.run(below(3));
    await until(() => round.isStreaming);
    await sleep(20 + below(280));
    round.over();
    server.child.kill("SIGKILL");
    await Promise.all([server.ended, running]);
    given += round.given.size;
    last = round;
  }
  t.diagnostic(`${given} records were given out before the kills`);
  const left = readdirSync(join(machine.home, ".agent-bridge")).filter((name) => name.endsWith(".tmp"));
  assert.deepEqual(left, []);
});
