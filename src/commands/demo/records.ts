import type { EpochMs } from "../../platform/clock.ts";

/** One line of a Claude Code transcript, as 2.1.332 writes it, without what no reader needs. */
export type ClaudeRecord = { readonly [key: string]: unknown };

/** What the lines of one transcript share, and where it has got to. */
export interface ScriptStart {
  readonly session: string;
  readonly cwd: string;
  readonly branch: string;
  readonly startedAt: EpochMs;
  /** Between one record and the next: ms. */
  readonly stepMs?: number;
  /** The subagent's id, in its own transcript. */
  readonly agentId?: string;
}

const MODEL = "claude-sonnet-5";
const VERSION = "2.1.332";
/** Between one record and the next, unless told otherwise: ms. */
const STEP_MS = 7_000;

/** Writes the records of one made-up transcript, one after the other. */
export class Script {
  readonly #start: ScriptStart;
  readonly #records: ClaudeRecord[] = [];
  #at: number;
  #count = 0;

  constructor(start: ScriptStart) {
    this.#start = start;
    this.#at = start.startedAt;
  }

  /** Takes the records that were written since the last time. */
  take(): ClaudeRecord[] {
    return this.#records.splice(0);
  }

  /** Goes on at this time. */
  jumpTo(at: EpochMs): this {
    this.#at = Math.max(this.#at, at);
    return this;
  }

  user(text: string): this {
    return this.#user(text, { promptSource: "typed", origin: { kind: "human" } });
  }

  assistant(text: string): this {
    return this.#assistant([{ type: "text", text }], "end_turn");
  }

  /** A tool call and its output. */
  tool(name: string, input: ClaudeRecord, output: string, failed = false): this {
    const call = this.call(name, input);
    return this.result(call, output, failed);
  }

  /** A tool call alone; its id. */
  call(name: string, input: ClaudeRecord): string {
    const id = `toolu_${this.#id()}`;
    this.#assistant([{ type: "tool_use", id, name, input }], "tool_use");
    return id;
  }

  /** The output of the call `id`; `extra` is what the program keeps beside the text. */
  result(id: string, output: string, failed = false, extra?: ClaudeRecord): this {
    const content = [{ tool_use_id: id, type: "tool_result", content: output, is_error: failed }];
    const kept = extra ?? (failed ? `Error: ${output}` : { stdout: output, stderr: "" });
    // Subagents' transcripts never have it.
    return this.#user(content, this.#start.agentId === undefined ? { toolUseResult: kept } : {});
  }

  /** A slash command and what it printed. */
  slash(name: string, args: string, output: string): this {
    const text = `<command-name>/${name}</command-name>\n            <command-message>${name}</command-message>\n            <command-args>${args}</command-args>`;
    return this.#user(text, {}).#user(`<local-command-stdout>${output}</local-command-stdout>`, {});
  }

  /** A command that the person ran with `!`. */
  bash(command: string, output: string): this {
    this.#user(`<bash-input>${command}</bash-input>`, {});
    return this.#user(`<bash-stdout>${output}</bash-stdout><bash-stderr></bash-stderr>`, {});
  }

  interrupted(): this {
    return this.#user([{ type: "text", text: "[Request interrupted by user]" }], {});
  }

  apiError(status: number, text: string): this {
    const message = { id: this.#id(), type: "message", role: "assistant", model: "<synthetic>", usage: usage(0, 0) };
    return this.#add("assistant", {
      message: { ...message, content: [{ type: "text", text: `API Error: ${status} ${text}` }] },
      isApiErrorMessage: true,
      apiErrorStatus: status,
    });
  }

  compacted(summary: string): this {
    this.#add("system", {
      subtype: "compact_boundary",
      content: "Conversation compacted",
      compactMetadata: { trigger: "auto", preTokens: 154_000, postTokens: 6_100 },
    });
    const text = `This session is being continued from a previous conversation that ran out of context.\n${summary}`;
    return this.#user(text, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
  }

  title(customTitle: string): this {
    this.#records.push({ type: "custom-title", customTitle, sessionId: this.#start.session });
    return this;
  }

  #user(content: unknown, extra: ClaudeRecord): this {
    return this.#add("user", { message: { role: "user", content }, ...extra });
  }

  #assistant(content: unknown, stop: string): this {
    const message = { id: `msg_${this.#id()}`, type: "message", role: "assistant", model: MODEL, content };
    return this.#add("assistant", {
      message: { ...message, stop_reason: stop, usage: usage(900 + this.#count * 40, 60 + this.#count * 7) },
    });
  }

  #add(type: string, fields: ClaudeRecord): this {
    const { session, cwd, branch, agentId, stepMs = STEP_MS } = this.#start;
    const parentUuid = this.#count === 0 ? null : this.#uuid(this.#count);
    this.#count++;
    this.#records.push({
      parentUuid,
      isSidechain: agentId !== undefined,
      ...(agentId !== undefined && { agentId }),
      type,
      ...fields,
      uuid: this.#uuid(this.#count),
      timestamp: new Date(this.#at).toISOString(),
      sessionId: session,
      cwd,
      gitBranch: branch,
      version: VERSION,
      userType: "external",
      entrypoint: "cli",
    });
    this.#at += stepMs;
    return this;
  }

  #uuid(number: number): string {
    const tail = (this.#start.agentId ?? this.#start.session).replace(/[^0-9a-f]/g, "").slice(-8);
    return `${tail.padStart(8, "0")}-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
  }

  #id(): string {
    return this.#uuid(this.#count + 1).replaceAll("-", "");
  }
}

function usage(input: number, output: number): ClaudeRecord {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: input * 12,
    cache_creation_input_tokens: input * 2,
  };
}
