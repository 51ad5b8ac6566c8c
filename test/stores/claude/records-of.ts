/** Makes transcripts of numbered records, as Claude Code 2.1 writes them. */
export class Records {
  readonly session: string;
  #time = Date.parse("2026-01-05T10:00:00.000Z");
  #count = 0;
  #parent: string | null = null;
  #lines: string[] = [];

  constructor(session: string) {
    this.session = session;
  }

  /** All the lines so far. */
  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  /** The lines since the last call of this. */
  take(): string {
    const text = this.text();
    this.#lines = [];
    return text;
  }

  /** The time of the last record: ms. */
  now(): number {
    return this.#time;
  }

  /** The id of the last record. */
  last(): string | null {
    return this.#parent;
  }

  /** Any line. */
  raw(line: unknown): this {
    this.#lines.push(typeof line === "string" ? line : JSON.stringify(line));
    return this;
  }

  user(content: unknown, more: object = {}): this {
    return this.#chain({ type: "user", message: { role: "user", content }, ...more });
  }

  assistant(content: unknown, more: object = {}): this {
    const message = { id: `msg_${this.#count}`, type: "message", role: "assistant", model: "m", content };
    return this.#chain({ type: "assistant", message, apiBlockIndex: 0, ...more });
  }

  call(id: string, name: string, input: object): this {
    return this.assistant([{ type: "tool_use", id, name, input }]);
  }

  result(id: string, content: unknown, more: object = {}): this {
    return this.user([{ tool_use_id: id, type: "tool_result", content }], more);
  }

  /** Records that nothing shows, of about `bytes` bytes. */
  filler(bytes: number, lineBytes = 20_000): this {
    for (let left = bytes; left > 0; left -= lineBytes) {
      const systemPrompt = ["x".repeat(Math.max(1, lineBytes - 250))];
      this.#chain({ attachment: { type: "prompt_snapshot", systemPrompt }, type: "attachment" });
    }
    return this;
  }

  #chain(record: object): this {
    const uuid = `00000000-0000-4000-8000-${String(++this.#count).padStart(12, "0")}`;
    this.#time += 1000;
    const envelope = { timestamp: new Date(this.#time).toISOString(), sessionId: this.session, version: "2.1.332" };
    this.#lines.push(JSON.stringify({ parentUuid: this.#parent, isSidechain: false, ...record, uuid, ...envelope }));
    this.#parent = uuid;
    return this;
  }
}
