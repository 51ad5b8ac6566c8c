import type { Output } from "./output.ts";
import type { Random } from "./random.ts";
import type { TextPool } from "./texts.ts";

/** The texts that records are filled with. */
export interface Texts {
  readonly prose: TextPool;
  readonly code: TextPool;
}

/** Whose transcript is written. */
export interface Speaker {
  readonly session: string;
  /** Set in a subagent's file. */
  readonly agent?: string;
  readonly cwd: string;
  readonly branch: string;
  /** When it begins, ms since the epoch. */
  readonly startedAt: number;
}

/** A tool call that waits for its result. */
export interface Call {
  readonly id: string;
  readonly assistant: string;
}

const MODEL = "claude-sonnet-4-5";
const VERSION = "2.1.332";

/** Writes the records of one transcript as Claude Code 2.1.332 does: the same fields, in the same order. */
export class Transcript {
  readonly #out: Output;
  readonly #random: Random;
  readonly #texts: Texts;
  readonly #speaker: Speaker;
  readonly #side: string;
  readonly #end: string;
  readonly #uuid: string;
  #records = 0;
  #responses = 0;
  #parent: string | undefined;
  #now: number;
  #prompt = "";

  constructor(out: Output, random: Random, texts: Texts, speaker: Speaker) {
    const { session, agent, cwd, branch } = speaker;
    this.#out = out;
    this.#random = random;
    this.#texts = texts;
    this.#speaker = speaker;
    this.#side = agent === undefined ? '"isSidechain":false,' : `"isSidechain":true,"agentId":"${agent}",`;
    this.#end = `"userType":"external","entrypoint":"cli","cwd":"${cwd}","sessionId":"${session}","version":"${VERSION}","gitBranch":"${branch}"}\n`;
    this.#uuid = random.uuid().slice(0, 24);
    this.#now = speaker.startedAt;
  }

  /** The time of the last record, ms since the epoch. */
  get now(): number {
    return this.#now;
  }

  /** The person's prompt (in a subagent's file: what its caller asked) of about `bytes` bytes. */
  prompt(bytes: number): void {
    this.#prompt = this.#random.uuid();
    this.#open();
    this.#out.text(`"promptId":"${this.#prompt}","type":"user","message":{"role":"user","content":"`);
    this.#fill(this.#texts.prose, bytes);
    this.#out.text('"},');
    this.#close('"permissionMode":"default","promptSource":"typed","rowSource":"local","turnOrigin":"human",');
  }

  /** What the model answers. */
  answer(bytes: number, last: boolean): void {
    this.#response(() => {
      this.#out.text('{"type":"text","text":"');
      this.#fill(this.#texts.prose, bytes);
      this.#out.text('"}');
    }, last);
  }

  /** A thought, whose text recent versions leave out. */
  thought(bytes: number): void {
    this.#response(() => {
      this.#out.text(`{"type":"thinking","thinking":"","signature":"${this.#random.hex(Math.max(64, bytes))}"}`);
    }, false);
  }

  /** A call of a common tool. */
  call(): Call {
    const name = this.#random.pick(["Bash", "Read", "Grep", "Edit", "Glob", "Write"]);
    const path = `${this.#speaker.cwd}/src/part-${this.#random.between(1, 400)}.ts`;
    return this.#use(name, () => {
      if (name === "Bash")
        this.#out.text(`"command":"npm test -- part-${this.#random.between(1, 400)}","description":"`);
      else if (name === "Grep" || name === "Glob") this.#out.text(`"pattern":"part-\\\\d+","path":"${path}","note":"`);
      else this.#out.text(`"file_path":"${path}","content":"`);
      this.#fill(this.#texts.code, name === "Write" ? this.#random.between(200, 4000) : 60);
      this.#out.text('"');
    });
  }

  /** A call that starts a subagent. */
  spawn(description: string): Call {
    return this.#use("Agent", () => {
      this.#out.text(`"description":"${description}","prompt":"`);
      this.#fill(this.#texts.prose, 400);
      this.#out.text('","subagent_type":"general-purpose"');
    });
  }

  /** The output of a call, of about `bytes` bytes; as the CLI does, it stands there twice. */
  result(call: Call, bytes: number, isError = false): void {
    this.#openResult(call);
    const parts = this.#texts.code.take(this.#random, Math.max(40, Math.min(30_000, bytes / 2)));
    for (const part of parts) this.#out.bytes(part);
    this.#out.text(`","is_error":${isError}}]},`);
    if (isError) {
      this.#close('"toolUseResult":"Error: Exit code 1",');
      return;
    }
    this.#stamp();
    this.#out.text('"toolUseResult":{"stdout":"');
    for (const part of parts) this.#out.bytes(part);
    this.#out.text('","stderr":"","interrupted":false,"isImage":false},');
    this.#out.text(`"sourceToolAssistantUUID":"${call.assistant}",${this.#end}`);
  }

  /** An output on one line of exactly `bytes` bytes, the newline too. */
  hugeResult(call: Call, bytes: number): void {
    const start = this.#out.size;
    this.#openResult(call);
    const tail = `"}]},"uuid":"${this.#parent}","timestamp":"${this.#time()}",${this.#end}`;
    let left = bytes - (this.#out.size - start) - tail.length;
    while (left > 0) {
      const block = HUGE_BLOCK.subarray(0, Math.min(left, HUGE_BLOCK.length));
      this.#out.bytes(block);
      left -= block.length;
    }
    this.#out.text(tail);
  }

  /** The answer to `spawn`: the agent works in the background. */
  launched(call: Call, agent: string, description: string): void {
    this.#openResult(call);
    this.#out.text(
      `Async agent launched successfully.\\nagentId: ${agent} (internal ID - do not mention to user.)"}]},`,
    );
    this.#stamp();
    this.#out.text(
      `"toolUseResult":{"isAsync":true,"status":"async_launched","agentId":"${agent}","description":"${description}"},`,
    );
    this.#out.text(`"sourceToolAssistantUUID":"${call.assistant}",${this.#end}`);
  }

  /** The notice that a background agent is done, as it reaches the model. */
  notified(call: Call, agent: string, description: string): void {
    this.#open();
    this.#out.text(
      `"promptId":"${this.#prompt}","type":"user","message":{"role":"user","content":"<task-notification>\\n<task-id>${agent}</task-id>\\n<tool-use-id>${call.id}</tool-use-id>\\n<status>completed</status>\\n<summary>Agent \\"${description}\\" finished</summary>\\n</task-notification>"},`,
    );
    this.#close('"origin":{"kind":"task-notification"},"promptSource":"system","turnOrigin":"task_notification",');
  }

  /** The whole system prompt, as it is kept beside every request: 28 to 110 KB in real files, never shown. */
  promptSnapshot(bytes: number): void {
    this.#open();
    this.#out.text('"attachment":{"type":"prompt_snapshot","systemPrompt":["');
    this.#fill(this.#texts.prose, bytes / 2);
    this.#out.text('"],"tools":[{"name":"Agent","description":"');
    this.#fill(this.#texts.prose, bytes / 2);
    this.#out.text('"}],"contextRendering":"announced"},"type":"attachment",');
    this.#close("");
  }

  /** What was sent to the API, never shown; `shape` alone is 76 KB in real files. */
  apiRequest(kind: "shape" | "blob", bytes: number): void {
    this.#out.text(`{"type":"api-request-${kind}","sessionId":"${this.#speaker.session}","${kind}":"`);
    this.#fill(this.#texts.code, bytes);
    this.#out.text('"}\n');
  }

  /** A sign of progress as versions up to 2.1.4x wrote it, never shown. */
  progress(bytes: number): void {
    this.#open();
    this.#out.text('"type":"progress","data":{"type":"bash_progress","output":"');
    this.#fill(this.#texts.code, bytes);
    this.#out.text(`"},"toolUseID":"bash-progress-1","parentToolUseID":"toolu_${this.#random.hex(12)}",`);
    this.#close("");
  }

  /** What the CLI notes after a turn: small records, the title among them. */
  turnEnd(title: string): void {
    const { session } = this.#speaker;
    this.#out.text(
      `{"type":"last-prompt","lastPrompt":"${title}","leafUuid":"${this.#parent}","sessionId":"${session}"}\n`,
    );
    this.#out.text(`{"type":"ai-title","aiTitle":"${title}","sessionId":"${session}"}\n`);
    this.#out.text(`{"type":"tools-used","tools":["Bash","Read"],"sessionId":"${session}"}\n`);
    this.#out.text(`{"type":"permission-mode","permissionMode":"default","sessionId":"${session}"}\n`);
  }

  /** The first lines of a session: queue notes and what the CLI says of its surroundings. */
  surroundings(): void {
    const { session, cwd } = this.#speaker;
    const noted = `"timestamp":"${this.#time()}","sessionId":"${session}"`;
    this.#out.text(`{"type":"queue-operation","operation":"enqueue",${noted},"content":"go"}\n`);
    this.#out.text(`{"type":"queue-operation","operation":"dequeue",${noted}}\n`);
    this.#open();
    this.#out.text(
      `"attachment":{"type":"environment","snapshot":{"workingDirectory":"${cwd}","isGitRepo":true,"platform":"linux"}},"type":"attachment",`,
    );
    this.#close('"renderedRole":"system",');
  }

  #response(block: () => void, last: boolean): string {
    const id = `${this.#speaker.session.slice(0, 8)}${String(this.#responses++).padStart(6, "0")}`;
    const output = this.#random.between(20, 2000);
    this.#open();
    this.#out.text(`"message":{"id":"msg_${id}","type":"message","role":"assistant","model":"${MODEL}","content":[`);
    block();
    this.#out.text(
      `],"stop_reason":"${last ? "end_turn" : "tool_use"}","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":1000,"cache_read_input_tokens":5000,"output_tokens":${output},"output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":1000},"inference_geo":"","iterations":[],"speed":"standard"},"stop_details":null},"apiBlockIndex":0,"requestId":"req_${id}","requestedModel":"${MODEL}","promptCacheRequested":"5m","type":"assistant",`,
    );
    this.#close('"perTurnEffort":null,"madeBy":"model",');
    return id;
  }

  #use(name: string, input: () => void): Call {
    const call = `toolu_${this.#random.hex(20)}`;
    this.#response(() => {
      this.#out.text(`{"type":"tool_use","id":"${call}","name":"${name}","input":{`);
      input();
      this.#out.text("}}");
    }, false);
    return { id: call, assistant: this.#parent ?? "" };
  }

  #openResult(call: Call): void {
    this.#open();
    this.#out.text(
      `"promptId":"${this.#prompt}","type":"user","message":{"role":"user","content":[{"tool_use_id":"${call.id}","type":"tool_result","content":"`,
    );
  }

  #open(): void {
    const parent = this.#parent === undefined ? "null" : `"${this.#parent}"`;
    this.#out.text(`{"parentUuid":${parent},${this.#side}`);
    this.#parent = `${this.#uuid}${(this.#records++).toString(16).padStart(12, "0")}`;
  }

  #close(extra: string): void {
    this.#stamp();
    this.#out.text(extra + this.#end);
  }

  #stamp(): void {
    this.#out.text(`"uuid":"${this.#parent}","timestamp":"${this.#time()}",`);
  }

  #time(): string {
    this.#now += this.#random.between(40, 9000);
    return new Date(this.#now).toISOString();
  }

  #fill(pool: TextPool, bytes: number): void {
    for (const part of pool.take(this.#random, Math.floor(bytes))) this.#out.bytes(part);
  }
}

const HUGE_BLOCK = Buffer.alloc(1024 * 1024, "0123456789abcdef");
