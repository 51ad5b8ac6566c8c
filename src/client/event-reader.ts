import { Failure } from "../platform/failure.ts";

/** A server-sent event as it came. */
export interface ServerEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** Characters of one event. */
const MOST_CHARACTERS = 128 * 1024 * 1024;

/** Puts together the events of a stream, wherever its bytes are cut. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  /** The pieces of a line whose end has not come. */
  #line: string[] = [];
  #endsInReturn = false;
  #id: string | undefined;
  #event: string | undefined;
  #data: string[] = [];
  #characters = 0;

  /** The events that are complete with these bytes. @throws Failure failed: one is over 128 Mi characters */
  *take(bytes: Uint8Array): Generator<ServerEvent, void> {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#characters += text.length;
    if (this.#characters > MOST_CHARACTERS) {
      throw new Failure("failed", "the server sent an event that is too long to be read");
    }
    for (const line of this.#lines(text)) {
      const event = this.#read(line);
      if (event !== undefined) yield event;
    }
  }

  *#lines(text: string): Generator<string, void> {
    // A pair of return and newline may be cut in two.
    let start = this.#endsInReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#endsInReturn = text.endsWith("\r");
    for (const { 0: end, index } of text.matchAll(/\r\n|\r|\n/g)) {
      if (index < start) continue;
      const line = this.#line.join("") + text.slice(start, index);
      this.#line = [];
      start = index + end.length;
      yield line;
    }
    if (start < text.length) this.#line.push(text.slice(start));
  }

  /** Takes one line; gives the event that an empty one ends. */
  #read(line: string): ServerEvent | undefined {
    if (line === "") return this.#ended();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #ended(): ServerEvent | undefined {
    const [id, event, data] = [this.#id, this.#event, this.#data];
    this.#id = undefined;
    this.#event = undefined;
    this.#data = [];
    this.#characters = 0;
    if (data.length === 0) return undefined;
    return { ...(id !== undefined && { id }), ...(event && { event }), data: data.join("\n") };
  }
}
