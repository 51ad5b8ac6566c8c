import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import type { JsonObject } from "../../platform/read.ts";
import type { ChatFile } from "./chat-file.ts";
import { isCopy } from "./copies.ts";
import { holds } from "./line-head.ts";
import { isQueued, shownPlace } from "./queued.ts";
import { promptOf, textsTyped } from "./records.ts";
import type { TakenPrompt } from "./rewinds.ts";

/** A prompt of the user. */
interface FoundPrompt {
  readonly start: ByteOffset;
  readonly text: string;
  readonly record: JsonObject;
}

/** A prompt, and what is known to stand before it. */
interface KnownPrompt {
  /** From here (included) up to the prompt there is no other. */
  from: number;
  readonly prompt: FoundPrompt;
  /** Where prompts that were queued and taken in mid-turn show, from `from` on, in file order. */
  queued: readonly ByteOffset[];
  /** Where the prompt shows, which is before it when it was queued; undefined until that is asked. */
  shownAt?: ByteOffset;
}

/** An answer of the agent. */
interface FoundAnswer {
  readonly start: number;
  /** Behind its newline. */
  readonly end: number;
}

/**
 * Where prompts and answers stand in an open chat, as far as was asked while one page is made. What was looked through
 * once is not looked through again, so that a page of nothing but prompts costs no more than one pass.
 */
export class Turns {
  readonly #file: ChatFile;
  readonly #prompts: KnownPrompt[] = [];
  /** The stretch whose answers are all in `#answers`, in file order. */
  #known: { from: number; to: number } | undefined;
  #answers: number[] = [];

  constructor(file: ChatFile) {
    this.#file = file;
  }

  /** The first prompt that starts at or behind `from`, when an answer stands behind it and before `end`. */
  firstAnswered(from: ByteOffset, end: ByteOffset): TakenPrompt | undefined {
    const known = this.#promptFrom(from, end);
    if (known === undefined || known.prompt.start >= end) return undefined;
    const { start, text, record } = known.prompt;
    if (!this.#hasAnswer(start, end)) return undefined;
    const queued = known.queued.find((place) => place >= from);
    if (queued !== undefined) return { text, shownAt: queued };
    known.shownAt ??= shownPlace(this.#file, record, start);
    return { text, shownAt: known.shownAt };
  }

  #promptFrom(from: number, end: ByteOffset): KnownPrompt | undefined {
    const met = this.#knownAt(from);
    if (met !== undefined) return met;
    const queued: ByteOffset[] = [];
    for (const { start, bytes } of this.#file.linesFrom(from, end)) {
      const known = this.#knownAt(start);
      if (known !== undefined) {
        known.from = from;
        known.queued = [...queued, ...known.queued];
        return known;
      }
      for (const record of this.#file.records(bytes)) {
        const text = promptOf(record);
        const isTyped = text !== undefined || (isQueued(record) && textsTyped(record).length > 0);
        if (!isTyped || isCopy(this.#file, record, start)) continue;
        if (text === undefined) {
          queued.push(start);
          continue;
        }
        const found = { from, prompt: { start, text, record }, queued };
        this.#prompts.push(found);
        return found;
      }
    }
    return undefined;
  }

  #knownAt(place: number): KnownPrompt | undefined {
    return this.#prompts.find(({ from, prompt }) => from <= place && place <= prompt.start);
  }

  #hasAnswer(from: number, end: ByteOffset): boolean {
    const known = this.#known;
    if (known === undefined || from > known.to) return this.#lookFrom(from, end);
    if (from < known.from) {
      const answer = this.#answerIn(from, byteOffsetOf(Math.min(known.from, end)));
      if (answer !== undefined) return this.#begin(from, answer);
      if (end <= known.from) return false;
      known.from = from;
    }
    const answer = this.#answers.find((start) => start > from);
    return answer === undefined ? this.#lookOn(known, end) : answer < end;
  }

  #lookFrom(from: number, end: ByteOffset): boolean {
    this.#known = { from, to: from };
    this.#answers = [];
    return this.#lookOn(this.#known, end);
  }

  /** Goes on behind what is known, as far as the next answer. */
  #lookOn(known: { to: number }, end: ByteOffset): boolean {
    if (known.to >= end) return false;
    const answer = this.#answerIn(known.to, end);
    known.to = answer?.end ?? end;
    if (answer !== undefined) this.#answers.push(answer.start);
    return answer !== undefined;
  }

  #begin(from: number, answer: FoundAnswer): true {
    this.#known = { from, to: answer.end };
    this.#answers = [answer.start];
    return true;
  }

  #isAnswer(record: JsonObject, start: ByteOffset): boolean {
    return record.type === "assistant" && !isCopy(this.#file, record, start);
  }

  #answerIn(from: number, end: ByteOffset): FoundAnswer | undefined {
    for (const { start, bytes } of this.#file.linesFrom(from, end)) {
      if (!holds(bytes, '"assistant"')) continue;
      if (!this.#file.records(bytes).some((record) => this.#isAnswer(record, start))) continue;
      return { start, end: start + bytes.length + 1 };
    }
    return undefined;
  }
}
