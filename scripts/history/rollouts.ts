import { join } from "node:path";
import { Output } from "./output.ts";
import { Random } from "./random.ts";
import { TextPool } from "./texts.ts";

/** A Codex home that was written. */
export interface WrittenRollouts {
  /** The home folder; the rollouts are in its `.codex`. */
  readonly home: string;
  /** In the order in which they were begun. */
  readonly rollouts: readonly WrittenRollout[];
  readonly bytes: number;
}

/** One session of Codex that was written. */
export interface WrittenRollout {
  readonly id: string;
  readonly file: string;
  readonly bytes: number;
}

const FIRST_DAY = Date.UTC(2026, 0, 5, 8);
const SPACING_MS = 17 * 60_000;
/** Half of the sessions are shorter, a few are a hundred times as long. */
const MEDIAN_BYTES = 40_000;
const SPREAD = 0.9;
const MOST_BYTES = 4_000_000;
const POOL_BYTES = 1_000_000;
/** What Codex puts before the first prompt, and into the header. */
const INSTRUCTION_BYTES = 14_000;

/**
 * Writes `count` sessions into the home folder `home`, half as Codex 0.134 writes them (events), half as 0.171 does
 * (items); the same seed gives the same bytes. With `bytes` each is about so long, else they differ as real ones do.
 */
export function writeRollouts(home: string, seed: number, count: number, bytes?: number): WrittenRollouts {
  const random = new Random(seed, 7);
  const texts = { prose: TextPool.prose(seed, POOL_BYTES), code: TextPool.code(seed, POOL_BYTES) };
  const rollouts = Array.from({ length: count }, (_, index) => {
    const wanted = bytes ?? Math.min(MOST_BYTES, random.longTail(MEDIAN_BYTES, SPREAD));
    return new Rollout(home, new Random(seed, 100 + index), texts, index).write(wanted);
  });
  return { home, rollouts, bytes: rollouts.reduce((sum, rollout) => sum + rollout.bytes, 0) };
}

class Rollout {
  readonly #random: Random;
  readonly #texts: { readonly prose: TextPool; readonly code: TextPool };
  readonly #id: string;
  readonly #out: Output;
  readonly #file: string;
  readonly #paginated: boolean;
  readonly #cwd: string;
  readonly #instructions: string;
  #now: number;
  #ordinal = 0;
  #turn = "";
  #calls = 0;

  constructor(
    home: string,
    random: Random,
    texts: { readonly prose: TextPool; readonly code: TextPool },
    index: number,
  ) {
    this.#random = random;
    this.#texts = texts;
    this.#paginated = index % 2 === 1;
    this.#now = FIRST_DAY + index * SPACING_MS;
    this.#id = this.#uuid();
    this.#cwd = `/home/dev/work/project-${random.between(0, 11)}`;
    this.#instructions = text(texts.prose, random, INSTRUCTION_BYTES);
    const time = new Date(this.#now).toISOString();
    const name = `rollout-${time.slice(0, 19).replaceAll(":", "-")}-${this.#id}.jsonl`;
    this.#file = join(home, ".codex", "sessions", ...time.slice(0, 10).split("-"), name);
    this.#out = new Output(this.#file);
  }

  write(bytes: number): WrittenRollout {
    this.#header();
    do this.#oneTurn(bytes);
    while (this.#out.size < bytes);
    this.#out.close(this.#now);
    return { id: this.#id, file: this.#file, bytes: this.#out.size };
  }

  #header(): void {
    const version = this.#paginated ? "0.171.0" : "0.134.0";
    const mode = this.#paginated ? '"history_mode":"paginated",' : "";
    this.#line(
      "session_meta",
      `"id":"${this.#id}","timestamp":"${this.#time()}","cwd":"${this.#cwd}","originator":"codex-tui","cli_version":"${version}","source":"cli","thread_source":"user","model_provider":"openai","base_instructions":{"text":"${this.#instructions}"},${mode}"git":{"commit_hash":"${this.#random.hex(40)}","branch":"main"}`,
    );
  }

  #oneTurn(bytes: number): void {
    const random = this.#random;
    this.#turn = this.#uuid();
    const turn = `"turn_id":"${this.#turn}"`;
    const seconds = Math.floor(this.#now / 1000);
    this.#event("task_started", `${turn},"started_at":${seconds},"model_context_window":258400`);
    if (this.#out.size < 2 * INSTRUCTION_BYTES) {
      this.#message("developer", "input_text", `<permissions instructions>${this.#prose(3_000)}</permissions>`);
      this.#message("user", "input_text", `# AGENTS.md instructions for ${this.#cwd}\\n\\n${this.#prose(2_000)}`);
    }
    this.#line(
      "turn_context",
      `${turn},"cwd":"${this.#cwd}","current_date":"2026-01-05","timezone":"Etc/UTC","approval_policy":"on-request","sandbox_policy":{"type":"workspace-write"},"model":"gpt-5.2-codex","effort":"medium","summary":"auto"`,
    );
    this.#says("user", this.#prose(random.longTail(200, 1)));
    for (let step = random.between(1, 12); step > 0 && this.#out.size < bytes; step--) this.#step();
    this.#says("assistant", this.#prose(random.longTail(600, 0.8)));
    this.#tokens();
    this.#event(
      "task_complete",
      `${turn},"last_agent_message":"done","completed_at":${seconds + 30},"duration_ms":30000`,
    );
  }

  /** Reasoning, at times a word in between, a command and what it printed. */
  #step(): void {
    const random = this.#random;
    this.#reasons(this.#prose(random.longTail(250, 0.8)));
    if (random.fraction() < 0.25) this.#says("assistant", this.#prose(random.longTail(150, 0.6)));
    const call = `call_${random.hex(20)}${this.#calls++}`;
    const command = `rg -n ${random.hex(6)} src | head -n ${random.between(10, 200)}`;
    const args = `"{\\"cmd\\":\\"${command}\\",\\"workdir\\":\\"${this.#cwd}\\",\\"yield_time_ms\\":10000}"`;
    this.#item("function_call", `"name":"exec_command","arguments":${args},"call_id":"${call}"`);
    const printed = text(this.#texts.code, random, random.longTail(1_500, 1.2));
    if (this.#paginated) {
      this.#completed(
        "CommandExecution",
        `"id":"${call}","command":["/bin/bash","-lc","${command}"],"cwd":"file://${this.#cwd}","parsed_cmd":[],"source":"unified_exec_startup","status":"completed","aggregated_output":"${printed}","exit_code":0,"duration":{"secs":0,"nanos":8766}`,
      );
    }
    const output = `Chunk ID: ${random.hex(6)}\\nWall time: 0.0000 seconds\\nProcess exited with code 0\\nOriginal token count: 6\\nOutput:\\n${printed}`;
    this.#item("function_call_output", `"call_id":"${call}","output":"${output}"`);
    this.#tokens();
  }

  #says(role: "user" | "assistant", words: string): void {
    const raw = (): void => this.#message(role, role === "user" ? "input_text" : "output_text", words);
    if (role === "user") raw();
    if (this.#paginated) {
      const [type, part] = role === "user" ? ["UserMessage", "text"] : ["AgentMessage", "Text"];
      this.#completed(type, `"id":"${this.#random.uuid()}","content":[{"type":"${part}","text":"${words}"}]`);
    } else if (role === "user") {
      this.#event("user_message", `"message":"${words}","images":[],"local_images":[],"text_elements":[]`);
    } else this.#event("agent_message", `"message":"${words}","phase":"commentary","memory_citation":null`);
    if (role === "assistant") raw();
  }

  #reasons(words: string): void {
    if (this.#paginated)
      this.#completed("Reasoning", `"id":"rs_${this.#random.hex(24)}","summary_text":["${words}"],"raw_content":[]`);
    else this.#event("agent_reasoning", `"text":"${words}"`);
    const sealed = this.#random.hex(1_200);
    this.#item(
      "reasoning",
      `"summary":[{"type":"summary_text","text":"${words}"}],"content":null,"encrypted_content":"${sealed}"`,
    );
  }

  #tokens(): void {
    const counts = `"input_tokens":${this.#random.between(1e3, 1e5)},"cached_input_tokens":${this.#random.between(1e2, 1e3)},"output_tokens":${this.#random.between(10, 1e3)},"reasoning_output_tokens":20,"total_tokens":110000`;
    if (this.#paginated) {
      const whose = `"thread_id":"${this.#id}","turn_id":"${this.#turn}","session_id":"${this.#id}","response_id":"resp_${this.#random.hex(24)}"`;
      this.#line(
        "token_usage_record",
        `${whose},"usage":{${counts}},"turn_token_usage":{${counts}},"thread_token_usage":{${counts}}`,
      );
    }
    this.#event(
      "token_count",
      `"info":{"total_token_usage":{${counts}},"last_token_usage":{${counts}},"model_context_window":258400},"rate_limits":null`,
    );
  }

  #message(role: string, part: string, words: string): void {
    const id = this.#paginated ? `"id":"msg_${this.#random.hex(24)}",` : "";
    this.#item("message", `${id}"role":"${role}","content":[{"type":"${part}","text":"${words}"}]`);
  }

  #item(type: string, fields: string): void {
    this.#line("response_item", `"type":"${type}",${fields}`);
  }

  #event(type: string, fields: string): void {
    this.#line("event_msg", `"type":"${type}",${fields}`);
  }

  #completed(type: string | undefined, fields: string): void {
    const whose = `"thread_id":"${this.#id}","turn_id":"${this.#turn}"`;
    this.#event("item_completed", `${whose},"item":{"type":"${type}",${fields}},"completed_at_ms":${this.#now}`);
  }

  #line(type: string, payload: string): void {
    this.#now += this.#random.between(5, 900);
    const ordinal = this.#paginated ? `"ordinal":${this.#ordinal++},` : "";
    this.#out.bytes(Buffer.from(`{"timestamp":"${this.#time()}",${ordinal}"type":"${type}","payload":{${payload}}}\n`));
  }

  #prose(bytes: number): string {
    return text(this.#texts.prose, this.#random, bytes);
  }

  #time(): string {
    return new Date(this.#now).toISOString();
  }

  /** A UUID of version 7: it tells when it was made. */
  #uuid(): string {
    const time = this.#now.toString(16).padStart(12, "0");
    const rest = this.#random.hex(18);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6)}`;
  }
}

/** Text of about so many bytes as it stands inside a JSON string. */
function text(pool: TextPool, random: Random, bytes: number): string {
  return Buffer.concat(pool.take(random, Math.min(bytes, 200_000))).toString();
}
