import { byteOffsetOf } from "../../jsonl/cursor.ts";
import type { LookBack } from "../../jsonl/look-back.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";

const NAMING = Buffer.from('"toolCallId":');
const NAMED = /^"toolCallId":\s*("(?:[^"\\]|\\.)*")/;
/** Bytes in which an id ends; calls with longer ones are not put together with what stands on other pages. */
const ID_BYTES = 512;

/**
 * Where calls are named before a place, by their ids: what stands there is searched once, however many calls are asked
 * for, and only when one is asked for.
 */
export class CallNamings {
  readonly #before: LookBack;
  /** Places by id, the last first. */
  readonly #places = new Map<string, number[]>();
  /** What has been searched. */
  #from = 0;
  #to: number | undefined;

  constructor(before: LookBack) {
    this.#before = before;
  }

  /** The places before `before` at which `callId` is named, the last first. */
  of(callId: string, before: number): readonly number[] {
    this.#search(before);
    return this.#places.get(callId)?.filter((place) => place < before) ?? [];
  }

  #search(before: number): void {
    const lowest = Math.max(0, before - LOOK_BACK_BYTES);
    // What was asked for first may stand further behind than what is asked for now.
    if (this.#to === undefined || lowest > this.#to || before < this.#from) {
      this.#places.clear();
      this.#add(lowest, before, "behind");
      this.#from = lowest;
      this.#to = before;
      return;
    }
    if (before > this.#to) this.#add(this.#to, before, "behind");
    if (lowest < this.#from) this.#add(lowest, this.#from, "before");
    this.#from = Math.min(this.#from, lowest);
    this.#to = Math.max(this.#to, before);
  }

  /** Takes in the places that start from `from` on and before `to`. */
  #add(from: number, to: number, side: "before" | "behind"): void {
    const end = to + NAMING.length - 1;
    const found = new Map<string, number[]>();
    for (const place of this.#before.places(NAMING, byteOffsetOf(end), end - from)) {
      const id = place < to ? this.#idAt(place) : undefined;
      if (id === undefined) continue;
      const places = found.get(id);
      if (places === undefined) found.set(id, [place]);
      else places.push(place);
    }
    for (const [id, places] of found) {
      const known = this.#places.get(id) ?? [];
      this.#places.set(id, side === "behind" ? [...places, ...known] : [...known, ...places]);
    }
  }

  #idAt(place: number): string | undefined {
    const text = NAMED.exec(this.#before.slice(place, place + ID_BYTES).toString())?.[1];
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }
}
