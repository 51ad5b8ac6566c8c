import type { SessionEvent } from "../event.ts";

/** A tool's call, announced or updated. */
export type ToolCall = Extract<SessionEvent, { kind: "tool-call" }>;
/** What a tool gave back. */
export type ToolResult = Extract<SessionEvent, { kind: "tool-result" }>;

/** Calls that may be open at a time, and updates that may be held; of more, the oldest are written. */
const MOST_CALLS = 1024;
/** Characters of the updates that are held, roughly. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** What a value in an update costs besides its characters. */
const VALUE_CHARACTERS = 16;

/**
 * The tool calls of a turn. Updates of a call are snapshots of its growing input, so that only the newest of each is held
 * and written. Calls that nobody ends are ended with the turn.
 */
export class OpenCalls {
  readonly #write: (record: ToolCall | ToolResult) => void;
  readonly #open = new Set<string>();
  /** Calls that have their result, so that a late update does not open them again. */
  readonly #ended = new Set<string>();
  readonly #held = new Map<string, { readonly update: ToolCall; readonly characters: number }>();
  #characters = 0;

  /** `write` takes the records in order. */
  constructor(write: (record: ToolCall | ToolResult) => void) {
    this.#write = write;
  }

  /** Writes a call that is new; what is told of a known one is an update, whatever it says of itself, and held. */
  call(call: ToolCall): void {
    const { toolCallId: id } = call;
    if (this.#open.has(id) || this.#ended.has(id)) {
      this.#hold(call);
      return;
    }
    this.#open.add(id);
    const { isUpdate: _, ...announced } = call;
    this.#write(announced);
    const [oldest] = this.#open;
    if (this.#open.size > MOST_CALLS && oldest !== undefined) this.#end(oldest);
  }

  /** Writes what a call gave back, also that of one nobody announced. */
  result(result: ToolResult): void {
    const { toolCallId: id } = result;
    this.#release(id);
    if (this.#open.delete(id)) this.#noteEnded(id);
    this.#write(result);
  }

  /** Ends the calls that are open, and writes what is held. */
  endAll(): void {
    for (const id of [...this.#open]) this.#end(id);
    for (const id of [...this.#held.keys()]) this.#release(id);
    this.#ended.clear();
  }

  #end(id: string): void {
    this.result({ kind: "tool-result", toolCallId: id, result: null, isError: true });
  }

  #noteEnded(id: string): void {
    this.#ended.add(id);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= MOST_CALLS) return;
      this.#ended.delete(oldest);
    }
  }

  #hold(call: ToolCall): void {
    const { toolCallId: id } = call;
    this.#drop(id);
    const characters = roughCharacters(call.arguments, MOST_CHARACTERS) + id.length + call.toolName.length;
    this.#held.set(id, { update: { ...call, isUpdate: true }, characters });
    this.#characters += characters;
    for (const oldest of [...this.#held.keys()]) {
      if (this.#held.size <= MOST_CALLS && this.#characters <= MOST_CHARACTERS) return;
      this.#release(oldest);
    }
  }

  #release(id: string): void {
    const held = this.#drop(id);
    if (held !== undefined) this.#write(held);
  }

  #drop(id: string): ToolCall | undefined {
    const held = this.#held.get(id);
    this.#held.delete(id);
    this.#characters -= held?.characters ?? 0;
    return held?.update;
  }
}

/** About how many characters `value` has as JSON; no more is counted than `most`. */
function roughCharacters(value: unknown, most: number): number {
  let characters = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && characters < most) {
    const next = left.pop();
    characters += VALUE_CHARACTERS;
    if (typeof next === "string") characters += next.length;
    else if (typeof next === "object" && next !== null) {
      for (const [key, inner] of Object.entries(next)) {
        characters += key.length;
        left.push(inner);
      }
    }
  }
  return characters;
}
