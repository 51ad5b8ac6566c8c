import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ClaudeRecord, Script, type ScriptStart } from "../../../../src/commands/demo/records.ts";

/** One transcript of Claude Code that is being written, with every kind of block. */
export class Talk {
  readonly file: string;
  readonly start: ScriptStart;
  readonly #home: string;
  readonly #script: Script;
  readonly #records: ClaudeRecord[] = [];

  constructor(home: string, start: ScriptStart) {
    this.#home = home;
    this.start = start;
    this.#script = new Script(start);
    const folder = join(home, ".claude/projects", start.cwd.replace(/[^A-Za-z0-9]/g, "-"));
    const { session, agentId } = start;
    this.file = join(
      folder,
      agentId === undefined ? `${session}.jsonl` : `${session}/subagents/agent-${agentId}.jsonl`,
    );
  }

  /** Adds what `write` says, in the words of `Script`. */
  add(write: (script: Script) => unknown): this {
    write(this.#script);
    this.#records.push(...this.#script.take());
    return this;
  }

  title(text: string): this {
    return this.add((script) => script.title(text));
  }

  user(text: string): this {
    return this.add((script) => script.user(text));
  }

  /** A message of the person's with blocks of its own. */
  userBlocks(content: readonly ClaudeRecord[]): this {
    return this.#message((script) => script.user(""), { role: "user", content });
  }

  says(text: string): this {
    return this.add((script) => script.assistant(text));
  }

  thinks(thinking: string): this {
    return this.#message((script) => script.assistant(""), {
      content: [{ type: "thinking", thinking, signature: "c2ln" }],
    });
  }

  tool(name: string, input: ClaudeRecord, output: string, failed = false): this {
    return this.result(this.call(name, input), output, failed);
  }

  /** A call alone; its id. */
  call(name: string, input: ClaudeRecord): string {
    let id = "";
    this.add((script) => {
      id = script.call(name, input);
    });
    return id;
  }

  result(id: string, output: string, failed = false, extra?: ClaudeRecord): this {
    return this.add((script) => script.result(id, output, failed, extra));
  }

  /** Starts a subagent, whose transcript `write` tells; `done` is what came of it, undefined while it runs. */
  subagent(agentId: string, description: string, write: (talk: Talk) => unknown, done?: string): this {
    const input = { description, prompt: `${description}, please.`, subagent_type: "general-purpose" };
    const toolUseId = this.call("Agent", { ...input, ...(done === undefined && { run_in_background: true }) });
    const launched = { isAsync: true, status: "async_launched", agentId, description };
    if (done === undefined) this.result(toolUseId, "Async agent launched successfully.", false, launched);
    else this.result(toolUseId, `${done}\nagentId: ${agentId}`, false, { status: "completed", agentId });
    const child = new Talk(this.#home, { ...this.start, agentId }).user(input.prompt);
    write(child);
    const parent = this.start.agentId;
    const nested = parent === undefined ? { spawnDepth: 1 } : { parentAgentId: parent, spawnDepth: 2 };
    child.save();
    writeFileSync(
      child.file.replace(/jsonl$/, "meta.json"),
      JSON.stringify({
        ...{ agentType: "general-purpose", description, toolUseId, ...nested },
        ...(done !== undefined && { finished: true }),
      }),
    );
    return this;
  }

  /** Appends what was said to the transcript, as if it had been written at `at` (ms), by default now. */
  save(at?: number): this {
    mkdirSync(dirname(this.file), { recursive: true });
    appendFileSync(
      this.file,
      this.#records
        .splice(0)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    );
    if (at !== undefined) utimesSync(this.file, at / 1000, at / 1000);
    return this;
  }

  #message(write: (script: Script) => Script, fields: ClaudeRecord): this {
    const [record = {}] = write(this.#script).take();
    this.#records.push({ ...record, message: { ...(record.message as object), ...fields } });
    return this;
  }
}
