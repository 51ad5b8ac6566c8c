import { byteOffsetOf } from "../../jsonl/cursor.ts";
import type { LookBack } from "../../jsonl/look-back.ts";

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
  #searchedTo: number | undefined;

  constructor(before: LookBack) {
    this.#before = before;
  }

  /** The places before `before` at which `callId` is named, the last first. */
  of(callId: string, before: number): readonly number[] {
    this.#searchTo(before);
    return this.#places.get(callId)?.filter((place) => place < before) ?? [];
  }

  #searchTo(before: number): void {
    const known = this.#searchedTo;
    if (known !== undefined && known >= before) return;
    const found = new Map<string, number[]>();
    for (const place of this.#before.places(NAMING, byteOffsetOf(before))) {
      if (known !== undefined && place < known) break;
      const id = this.#idAt(place);
      if (id === undefined) continue;
      const places = found.get(id);
      if (places === undefined) found.set(id, [place]);
      else places.push(place);
    }
    for (const [id, places] of found) this.#places.set(id, [...places, ...(this.#places.get(id) ?? [])]);
    this.#searchedTo = before;
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
