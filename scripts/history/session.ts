import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Output } from "./output.ts";
import type { Random } from "./random.ts";
import { type Call, type Speaker, type Texts, Transcript } from "./records.ts";

/** Of what a transcript's bytes consist; what is left is prompts, answers, thoughts and calls. */
export interface Mix {
  /** Share of tool results. */
  readonly results: number;
  /** Share of records that are never shown. */
  readonly hidden: number;
}

/** A session that was written. */
export interface WrittenSession {
  readonly id: string;
  readonly file: string;
  readonly cwd: string;
  /** Of the transcript alone. */
  readonly bytes: number;
  readonly agents: readonly { readonly id: string; readonly file: string; readonly bytes: number }[];
}

/** A session with one line that is too long for a page, as bytes in its file. */
export interface WrittenBigSession extends WrittenSession {
  readonly lineStart: number;
  /** Behind its newline. */
  readonly lineEnd: number;
}

/** Under this size a session has no subagents. */
const LEAST_BYTES_WITH_AGENTS = 64 * 1024;
/** Room for what stands at a session's start and end. */
const EDGE_BYTES = 3_000;

interface Spawned {
  readonly id: string;
  readonly description: string;
  readonly call: Call;
  readonly at: number;
}

/** Writes one session of about `bytes` bytes into `folder`, `agentShare` of them in its subagents' files. */
export function writeSession(
  folder: string,
  speaker: Speaker,
  bytes: number,
  given: { readonly random: Random; readonly texts: Texts; readonly mix: Mix; readonly agentShare: number },
): WrittenSession {
  const { random, texts, mix } = given;
  const agentBytes = bytes < LEAST_BYTES_WITH_AGENTS ? 0 : bytes * given.agentShare;
  const agents = agentBytes === 0 ? 0 : Math.min(40, 1 + Math.floor(agentBytes / 200_000));
  const file = join(folder, `${speaker.session}.jsonl`);
  const out = new Output(file);
  const talk = new Talk(out, new Transcript(out, random, texts, speaker), random, mix);
  const spawned = talk.session(bytes - agentBytes, agents);
  out.close(talk.now);
  const written = spawned.map((agent) =>
    writeAgent(join(folder, speaker.session), speaker, agent, agentBytes / agents, given),
  );
  return { id: speaker.session, file, cwd: speaker.cwd, bytes: out.size, agents: written };
}

/** Writes one session of about `bytes` bytes with a single line of exactly `lineBytes` in its middle. */
export function writeBigSession(
  folder: string,
  speaker: Speaker,
  bytes: number,
  lineBytes: number,
  given: { readonly random: Random; readonly texts: Texts; readonly mix: Mix },
): WrittenBigSession {
  const file = join(folder, `${speaker.session}.jsonl`);
  const out = new Output(file);
  const transcript = new Transcript(out, given.random, given.texts, speaker);
  const talk = new Talk(out, transcript, given.random, given.mix);
  const half = (bytes - lineBytes) / 2;
  talk.session(half, 0);
  const call = transcript.call();
  const lineStart = out.size;
  transcript.hugeResult(call, lineBytes);
  const lineEnd = out.size;
  talk.session(half, 0);
  out.close(talk.now);
  return { id: speaker.session, file, cwd: speaker.cwd, bytes: out.size, agents: [], lineStart, lineEnd };
}

function writeAgent(
  sideFolder: string,
  parent: Speaker,
  agent: Spawned,
  bytes: number,
  given: { readonly random: Random; readonly texts: Texts; readonly mix: Mix },
): { id: string; file: string; bytes: number } {
  const file = join(sideFolder, "subagents", `agent-${agent.id}.jsonl`);
  const out = new Output(file);
  const speaker = { ...parent, agent: agent.id, startedAt: agent.at };
  const talk = new Talk(out, new Transcript(out, given.random, given.texts, speaker), given.random, given.mix);
  talk.agent(bytes);
  out.close(talk.now);
  const meta = {
    agentType: "general-purpose",
    description: agent.description,
    toolUseId: agent.call.id,
    spawnDepth: 1,
  };
  writeFileSync(file.replace(/jsonl$/, "meta.json"), JSON.stringify({ ...meta, finished: true }));
  return { id: agent.id, file, bytes: out.size };
}

/** Fills a transcript with turns until it is as large as wanted, keeping to the mix. */
class Talk {
  readonly #out: Output;
  readonly #transcript: Transcript;
  readonly #random: Random;
  readonly #mix: Mix;
  #start = 0;
  #results = 0;
  #hidden = 0;
  #turns = 0;

  constructor(out: Output, transcript: Transcript, random: Random, mix: Mix) {
    this.#out = out;
    this.#transcript = transcript;
    this.#random = random;
    this.#mix = mix;
  }

  get now(): number {
    return this.#transcript.now;
  }

  /** A main session (or the next part of one) that starts `agents` subagents on its way. */
  session(bytes: number, agents: number): Spawned[] {
    this.#start = this.#out.size;
    this.#results = 0;
    this.#hidden = 0;
    const end = this.#start + Math.max(0, bytes - EDGE_BYTES);
    const spawned: Spawned[] = [];
    let notified = 0;
    this.#transcript.surroundings();
    const title = `Change part ${this.#random.between(1, 999)} of the ${this.#random.pick(["reader", "server", "index", "page"])}`;
    do {
      // A background agent is done a turn or some turns after it was started.
      const done = this.#random.fraction() < 0.7 ? spawned.length : notified;
      for (; notified < done; notified++) this.#notify(spawned[notified]);
      this.#transcript.prompt(this.#sized(220, 1.1, 9_000, end));
      const due = Math.ceil((agents * (this.#out.size - this.#start)) / Math.max(1, end - this.#start));
      while (spawned.length < Math.min(agents, due)) spawned.push(this.#spawn());
      this.#turn(end);
      this.#transcript.turnEnd(title);
    } while (this.#out.size < end);
    while (spawned.length < agents) spawned.push(this.#spawn());
    for (; notified < spawned.length; notified++) this.#notify(spawned[notified]);
    return spawned;
  }

  /** A subagent's transcript: one long turn. */
  agent(bytes: number): void {
    const end = bytes - EDGE_BYTES / 2;
    this.#transcript.prompt(400);
    do this.#turn(end);
    while (this.#out.size < end);
  }

  #spawn(): Spawned {
    const description = `Look into part ${this.#random.between(1, 999)}`;
    const call = this.#transcript.spawn(description);
    const at = this.#transcript.now + 100;
    const id = `a${this.#random.hex(16)}`;
    this.#transcript.launched(call, id, description);
    return { id, description, call, at };
  }

  #notify(agent: Spawned | undefined): void {
    if (agent !== undefined) this.#transcript.notified(agent.call, agent.id, agent.description);
  }

  #turn(end: number): void {
    this.#turns++;
    for (let steps = this.#random.between(2, 24); steps > 0 && this.#out.size < end; steps--) this.#step(end);
    if (this.#out.size < end || this.#turns === 1) this.#transcript.answer(this.#sized(600, 1.1, 16_000, end), true);
  }

  #step(end: number): void {
    const written = this.#out.size - this.#start;
    if (this.#hidden < this.#mix.hidden * written) this.#hidden += this.#measured(() => this.#hide(end));
    if (this.#results < this.#mix.results * written) {
      const call = this.#transcript.call();
      const bytes = this.#sized(4_000, 1.4, 60_000, end);
      this.#results += this.#measured(() => this.#transcript.result(call, bytes, this.#random.fraction() < 0.05));
    } else if (this.#random.fraction() < 0.25) this.#transcript.thought(this.#sized(300, 0.8, 4_000, end));
    else this.#transcript.answer(this.#sized(400, 1.1, 16_000, end), false);
  }

  #hide(end: number): void {
    const room = end - this.#out.size;
    const kind = this.#random.fraction();
    if (kind < 0.3 && room > 120_000) this.#transcript.promptSnapshot(this.#random.between(28_000, 110_000));
    else if (kind < 0.5 && room > 90_000) this.#transcript.apiRequest("shape", 76_000);
    else if (kind < 0.8) this.#transcript.apiRequest("blob", this.#sized(3_000, 1, 30_000, end));
    else this.#transcript.progress(this.#sized(500, 1, 8_000, end));
  }

  #measured(write: () => void): number {
    const before = this.#out.size;
    write();
    return this.#out.size - before;
  }

  /** A size around `median` with a long tail, no more than `most` and than what is left. */
  #sized(median: number, spread: number, most: number, end: number): number {
    return Math.max(40, Math.min(this.#random.longTail(median, spread), most, end - this.#out.size));
  }
}
