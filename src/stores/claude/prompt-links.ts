import type { ByteOffset } from "../../jsonl/cursor.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asText } from "../../platform/read.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES, SETTLE_MS } from "../../transcript/limits.ts";
import { type Call, callsOf } from "./calls.ts";
import type { ChatFile } from "./chat-file.ts";
import { promptMark } from "./child-facts.ts";
import type { Child } from "./children.ts";
import type { SpawnCall } from "./evidence.ts";
import { isSpawnTool } from "./links.ts";
import { matchByPrompt, type Prompted } from "./prompt-match.ts";

/** Characters of a prompt that are looked for. */
const NEEDLE_CHARACTERS = 100;

/** Which calls of an open chat started the subagents that nothing but their prompt links to one. */
export class PromptLinks {
  readonly #file: ChatFile;
  readonly #children: readonly Child[];
  /** `children` are those that can have been started in this chat. */
  constructor(file: ChatFile, children: readonly Child[]) {
    this.#file = file;
    this.#children = file.scope.agent === undefined ? children : [];
  }

  /** The subagents that nothing but this prompt links to their call. */
  asked(mark: string | undefined): Child[] {
    if (mark === undefined) return [];
    return this.#children.filter(({ meta, first }) => meta?.toolUseId === undefined && first.prompt === mark);
  }

  /** The subagent that began within 5 s of `call`, and that no earlier call with its prompt started. */
  startedSoon(call: Call): Child | undefined {
    const at = this.timeOf(call);
    const mark = markOf(call);
    if (at === undefined || mark === undefined || call.start === undefined) return undefined;
    const asked = this.asked(mark);
    if (!asked.some(({ first }) => isNear(first.at, at))) return undefined;
    const calls = this.callsFor(mark, this.#file.lineEnd(call.start) ?? call.start, PAGE_BYTES);
    const index = calls.findIndex(({ id }) => id === call.id);
    const known = index < 0 ? [...calls, { ...call, at }] : calls.slice(0, index + 1);
    const found = matchByPrompt(known, asked.map(promptedChild)).get(call.id)?.child;
    return isNear(found?.first.at, at) ? found : undefined;
  }

  /** The subagent that the result at `start` of `call` belongs to, as far as had begun when the result was written. */
  startedLate(call: Call, start: ByteOffset, resultAt: EpochMs): Child | undefined {
    const mark = markOf(call);
    const asked = this.asked(mark).filter(({ first }) => first.at === undefined || first.at <= resultAt);
    if (mark === undefined || asked.length === 0) return undefined;
    const calls = this.callsFor(mark, start, LOOK_BACK_BYTES);
    return matchByPrompt(calls, asked.map(promptedChild)).get(call.id)?.child;
  }

  /** The id of the call that started `child`, of all that the chat makes. */
  callOf(child: Child, spawns: readonly SpawnCall[]): string | undefined {
    const { prompt } = child.first;
    const asked = this.asked(prompt);
    if (prompt === undefined || !asked.includes(child)) return undefined;
    const calls = spawns.filter((call) => call.prompt === prompt);
    const matched = [...matchByPrompt(calls, asked.map(promptedChild))];
    return matched.find(([, { id }]) => id === child.id)?.[0];
  }

  /** The calls with this prompt that stand before `before`, at most `window` bytes back, the first first. */
  callsFor(mark: string, before: ByteOffset, window: number): Call[] {
    const calls = new Map<string, Call>();
    const needle = JSON.stringify(wellFormed(mark.slice(0, NEEDLE_CHARACTERS))).slice(1, -1);
    for (const call of this.callsWith(needle, before, window)) {
      if (isSpawnTool(call.tool) && markOf(call) === mark) calls.set(call.id, { ...call, at: this.timeOf(call) });
    }
    return [...calls.values()].sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
  }

  /** The calls of the records that hold `needle`, the last record first. */
  *callsWith(needle: string, before: ByteOffset, window: number): Generator<Call> {
    let last: ByteOffset | undefined;
    for (const place of this.#file.places(needle, before, window)) {
      const line = this.#file.lineAt(place);
      if (line === undefined || line.start === last) continue;
      last = line.start;
      for (const record of this.#file.records(line.bytes)) yield* callsOf(record, line.start);
    }
  }

  /** When `call` was made, as its record says or those before it. */
  timeOf(call: Call): EpochMs | undefined {
    return call.at ?? (call.start === undefined ? undefined : this.#file.timeBefore(call.start));
  }
}

function isNear(a: EpochMs | undefined, b: EpochMs): boolean {
  return a !== undefined && Math.abs(a - b) <= SETTLE_MS;
}

/** Without half of a character that was cut. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}

function promptedChild(child: Child): Prompted & { readonly child: Child } {
  return { id: child.id, at: child.first.at, child };
}

function markOf(call: Call): string | undefined {
  const prompt = asText(call.input?.prompt);
  return prompt === undefined ? undefined : promptMark(prompt);
}
