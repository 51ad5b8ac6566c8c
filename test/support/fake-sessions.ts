import type { PermissionOption } from "../../src/agents/event.ts";
import type { Output, OutputChunk } from "../../src/agents/output.ts";
import { checkPrompt } from "../../src/agents/prompt.ts";
import type {
  AcceptedPrompt,
  SessionDescriptor,
  SessionInput,
  Sessions,
  StartSession,
  TurnEnd,
} from "../../src/agents/sessions.ts";
import { Bell } from "../../src/platform/bell.ts";
import { Failure } from "../../src/platform/failure.ts";
import { Subscription } from "../../src/platform/subscription.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { at } from "./fake-store.ts";

/** An output that keeps all, until it is told to forget. */
export class FakeOutput implements Output {
  #bytes = Buffer.alloc(0);
  #kept = 0;
  #bells = new Set<Bell>();
  ended = false;

  get followers(): number {
    return this.#bells.size;
  }

  write(part: Uint8Array | string): void {
    this.#bytes = Buffer.concat([this.#bytes, typeof part === "string" ? Buffer.from(part) : part]);
    this.#ring();
  }

  /** Keeps only what follows the byte `kept`. */
  forget(kept: number): void {
    this.#kept = kept;
  }

  read(since = 0): OutputChunk {
    const from = Math.min(Math.max(since, this.#kept), this.#bytes.length);
    const text = this.#bytes.toString("utf8", from);
    return { text, from, next: this.#bytes.length, ...(since < this.#kept && { cut: true }) };
  }

  end(): void {
    this.ended = true;
    this.#ring();
  }

  async *follow(since: number, signal: AbortSignal): AsyncGenerator<OutputChunk, void> {
    const bell = new Bell();
    this.#bells.add(bell);
    for (let next = since; !signal.aborted; ) {
      const chunk = this.read(next);
      next = chunk.next;
      if (chunk.text !== "") yield chunk;
      else if (this.ended) break;
      else await bell.listen(signal);
    }
    this.#bells.delete(bell);
  }

  #ring(): void {
    for (const bell of this.#bells) bell.ring();
  }
}

/** A session of the fake, driven by the test. */
export interface FakeSession {
  shown: SessionDescriptor;
  readonly output: FakeOutput;
  readonly inputs: SessionInput[];
  readonly prompts: { readonly text: string; readonly interrupt: boolean }[];
  readonly answers: { readonly toolCallId: string; readonly optionId: string }[];
  seq: number;
  /** Ends the turn that runs. */
  finish: ((end: TurnEnd) => void) | undefined;
}

/** Sessions in memory that keep to what `Sessions` promises. */
export class FakeSessions implements Sessions {
  readonly all = new Map<string, FakeSession>();
  readonly started: StartSession[] = [];
  readonly #readers = new Set<Subscription<void>>();
  readonly #starting = new Set<string>();
  #count = 0;
  /** What the next start waits for. */
  gate: Promise<void> = Promise.resolve();
  /** Told of what a recorder would write. */
  record: (
    id: string,
    record: { readonly seq: number; readonly kind: string; readonly [field: string]: unknown },
  ) => void = () => {};
  /** Called when a prompt was taken: a test's agent. */
  onPrompt: (session: FakeSession, text: string) => void = () => {};

  /** Adds a session as it stands. */
  add(fields: Omit<Partial<SessionDescriptor>, "id"> & { readonly id: string }): FakeSession {
    const session: FakeSession = {
      shown: {
        kind: "agent",
        status: "idle",
        cwd: "/home/dev/shop",
        startedAt: at(1_800_000_000_000 + this.#count++),
        ...fields,
        id: fields.id as SessionId,
      },
      output: new FakeOutput(),
      inputs: [],
      prompts: [],
      answers: [],
      seq: 0,
      finish: undefined,
    };
    this.all.set(fields.id, session);
    this.#tell();
    return session;
  }

  /** Changes what a session shows. */
  change(id: string, fields: Partial<SessionDescriptor>): void {
    const session = this.#known(id);
    session.shown = { ...session.shown, ...fields };
    this.#tell();
  }

  /** The agent says something. */
  say(id: string, text: string): void {
    this.#known(id).output.write(text);
    this.#note(id, "text-delta", { text });
  }

  /** The agent asks for permission. */
  ask(id: string, toolCallId: string, options: readonly PermissionOption[]): void {
    this.change(id, { status: "awaiting-input", permissions: [{ toolCallId, title: "Remove build", options }] });
    this.#note(id, "agent-prompt", { toolCallId, options });
  }

  /** The turn that runs ends. */
  finish(id: string, reason: string): void {
    const session = this.#known(id);
    const { finish } = session;
    session.finish = undefined;
    this.change(id, { status: "idle", permissions: undefined });
    if (finish !== undefined) finish({ reason, seq: this.#note(id, "turn-end", { reason }) });
  }

  async list(): Promise<readonly SessionDescriptor[]> {
    return [...this.all.values()].map(({ shown }) => shown).reverse();
  }

  async find(idOrName: string): Promise<SessionDescriptor | undefined> {
    const exact = this.all.get(idOrName);
    if (exact !== undefined) return exact.shown;
    const named = (await this.list()).filter(({ name }) => name === idOrName);
    return named.find(({ status }) => !OVER.includes(status)) ?? named[0];
  }

  async start(what: StartSession): Promise<SessionDescriptor> {
    const { name } = what;
    const held = (await this.list()).some((each) => each.name === name && !OVER.includes(each.status));
    if (name !== undefined && (held || this.#starting.has(name))) {
      throw new Failure("conflict", "a live session has this name");
    }
    if (name !== undefined) this.#starting.add(name);
    this.started.push(what);
    await this.gate;
    if (name !== undefined) this.#starting.delete(name);
    const { columns: _, rows: __, ...fields } = what;
    const id = `sess_${String(this.#count).padStart(8, "0")}`;
    return this.add({ ...fields, id, pid: 4242 }).shown;
  }

  async prompt(id: string, text: string, { interrupt = false } = {}): Promise<AcceptedPrompt> {
    checkPrompt(text);
    const session = this.#live(id);
    if (session.shown.kind !== "agent")
      throw new Failure("conflict", `a ${session.shown.kind} session takes no prompt`);
    if (session.shown.status !== "idle" && !interrupt) throw new Failure("conflict", "the session is busy");
    if (session.shown.status !== "idle") this.finish(id, "cancelled");
    session.prompts.push({ text, interrupt });
    const seq = this.#note(id, "user-prompt", { text });
    const ended = new Promise<TurnEnd>((resolve) => {
      session.finish = resolve;
    });
    this.change(id, { status: "busy" });
    this.onPrompt(session, text);
    return { id: session.shown.id, seq, ended };
  }

  async cancel(id: string): Promise<void> {
    if (this.#live(id).shown.status !== "idle") this.finish(id, "cancelled");
  }

  async answer(id: string, toolCallId: string, optionId: string): Promise<void> {
    const session = this.#live(id);
    const question = session.shown.permissions?.find((each) => each.toolCallId === toolCallId);
    if (question === undefined) throw new Failure("not-found", "the session asks no such question");
    if (!question.options.some((each) => each.optionId === optionId)) {
      throw new Failure("bad-request", "the question has no such option");
    }
    session.answers.push({ toolCallId, optionId });
    this.#note(id, "permission-resolved", { toolCallId, decision: "approve", optionId });
    this.change(id, { status: "busy", permissions: undefined });
  }

  async restart(id: string): Promise<SessionDescriptor> {
    const { shown } = this.#known(id);
    await this.stop(id);
    const { kind, agent, name, cwd, argv } = shown;
    const fields = { kind, agent, name, cwd, argv, restartedFrom: shown.id };
    return this.add({ ...fields, id: `sess_${String(this.#count).padStart(8, "0")}` }).shown;
  }

  async input(id: string, input: SessionInput): Promise<void> {
    const session = this.#live(id);
    if (session.shown.kind === "agent") throw new Failure("conflict", "an agent session takes prompts, not input");
    session.inputs.push(input);
  }

  async stop(id: string): Promise<SessionDescriptor> {
    const session = this.#known(id);
    if (!OVER.includes(session.shown.status)) {
      this.finish(id, "exited");
      this.change(id, { status: "ended", pid: undefined, endedAt: at(1_800_000_900_000) });
      session.output.end();
    }
    return session.shown;
  }

  output(id: string): Output | undefined {
    return this.all.get(id)?.output;
  }

  changes(signal: AbortSignal): AsyncIterable<void> {
    const reader: Subscription<void> = new Subscription(signal, () => this.#readers.delete(reader));
    if (!reader.ended) this.#readers.add(reader);
    return reader;
  }

  async close(): Promise<void> {
    for (const id of this.all.keys()) await this.stop(id);
  }

  #note(id: string, kind: string, fields: object): number {
    const seq = ++this.#known(id).seq;
    this.record(id, { seq, kind, ...fields });
    return seq;
  }

  #tell(): void {
    for (const reader of this.#readers) reader.tell(undefined);
  }

  #known(id: string): FakeSession {
    const session = this.all.get(id);
    if (session === undefined) throw new Failure("not-found", "no such session");
    return session;
  }

  #live(id: string): FakeSession {
    const session = this.#known(id);
    if (OVER.includes(session.shown.status)) throw new Failure("conflict", "the session has ended");
    return session;
  }
}

const OVER: readonly string[] = ["ended", "failed", "interrupted"];
