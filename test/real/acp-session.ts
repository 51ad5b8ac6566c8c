import { ask, post, type Reply } from "../built/product.ts";
import type { Stage } from "./stage.ts";

/** A record of a recording, as far as the tests look at it. */
export interface SessionRecord {
  readonly seq: number;
  readonly kind: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly result?: unknown;
  readonly decision?: string;
  readonly reason?: string;
  readonly error?: { readonly message: string };
}

/** A session as the API shows it, as far as the tests look at it. */
export interface Session {
  readonly id: string;
  readonly status: string;
  readonly pid?: number;
  readonly nativeSessionId?: string;
  readonly restartedFrom?: string;
  readonly signal?: string;
  readonly permissions?: readonly {
    readonly toolCallId: string;
    readonly options: readonly { readonly optionId: string; readonly kind: string }[];
  }[];
}

/** An agent session that is driven through the API. */
export class Driver {
  readonly stage: Stage;
  readonly id: string;
  /** As it was when it had come up. */
  readonly started: Session;
  /** The number of the newest record that was looked at. */
  #seen = 0;

  static async start(stage: Stage, what: { readonly name: string; readonly permit: string }): Promise<Driver> {
    const body = { agent: stage.agent.name, cwd: stage.work, ...what };
    return new Driver(stage, made(await post(stage.api, "/api/sessions", body)));
  }

  private constructor(stage: Stage, started: Session) {
    this.stage = stage;
    this.started = started;
    this.id = started.id;
  }

  get path(): string {
    return `/api/sessions/${this.id}`;
  }

  post(verb: string, body: object = {}): Promise<Reply> {
    return post(this.stage.api, `${this.path}/${verb}`, body);
  }

  now(): Promise<Session> {
    return this.stage.get(this.path);
  }

  /** Sends a prompt; comes back with why it has paused: its end, or a question. */
  async turn(lines: readonly string[]): Promise<string> {
    const { status, json, text } = await this.post("prompt", { prompt: lines.join("\n"), wait: true });
    if (status !== 200) throw new Error(`the prompt: ${status} ${text}`);
    return json.reason;
  }

  /** The records since the last time. */
  async records(): Promise<readonly SessionRecord[]> {
    const { events, nextSeq } = await this.stage.get(`${this.path}/events?since=${this.#seen}&limit=2000`);
    this.#seen = nextSeq;
    return events;
  }

  /** Answers the question that waits with its option of this kind. */
  async answer(kind: string): Promise<void> {
    const [question] = (await this.now()).permissions ?? [];
    const option = question?.options.find((each) => each.kind === kind);
    if (question === undefined || option === undefined) throw new Error(`no ${kind} in ${JSON.stringify(question)}`);
    const { status, text } = await this.post("permissions", {
      toolCallId: question.toolCallId,
      optionId: option.optionId,
    });
    if (status !== 200) throw new Error(`the answer: ${status} ${text}`);
  }

  async restart(): Promise<Driver> {
    return new Driver(this.stage, made(await this.post("restart")));
  }

  async stop(): Promise<Session> {
    const { status, json, text } = await ask(this.stage.api, this.path, {}, "DELETE");
    if (status !== 200) throw new Error(`DELETE: ${status} ${text}`);
    return json;
  }
}

function made({ status, json, text }: Reply): Session {
  if (status !== 201) throw new Error(`the session did not start: ${status} ${text}`);
  return json;
}

/** All that an agent said in these records. */
export function said(records: readonly SessionRecord[]): string {
  return records.map(({ kind, text = "" }) => (kind === "text-delta" ? text : "")).join("");
}

/** What of the records comes once in a turn, or is of note, in order. */
export function outline(records: readonly SessionRecord[]): readonly string[] {
  return records.flatMap(({ kind, reason, decision }) => {
    switch (kind) {
      case "turn-end":
        return [`turn-end ${reason}`];
      case "permission-resolved":
        return [`permission-resolved ${decision}`];
      case "user-prompt":
      case "agent-prompt":
      case "usage_snapshot":
      case "error":
        return [kind];
      default:
        return [];
    }
  });
}
