/** An event as it came. */
export interface TextEvent {
  readonly name: string;
  readonly data: string;
}

/** Takes server-sent events out of a text that comes in pieces. */
export class EventText {
  #rest = "";

  /** The events that `piece` completes. */
  add(piece: string): TextEvent[] {
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.flatMap(eventOf);
  }
}

/** Nothing is an event that has no data: a comment that shows that the connection is alive. */
function eventOf(block: string): TextEvent[] {
  const lines = block.split("\n");
  const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  const name = lines.find((line) => line.startsWith("event: "))?.slice(7) ?? "message";
  return data.length === 0 ? [] : [{ name, data: data.join("\n") }];
}
