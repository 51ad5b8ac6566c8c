import { appendFileSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byteOffsetOf, formatJsonlCursor, parseJsonlCursor } from "../../src/jsonl/cursor.ts";
import { type JsonlLine, pageBuffer, readPage, readPageBefore } from "../../src/jsonl/page.ts";
import { parseRecords } from "../../src/jsonl/parse.ts";
import { Bell } from "../../src/platform/bell.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import { Failure } from "../../src/platform/failure.ts";
import { type FileStamp, stampOf, withFile } from "../../src/platform/files.ts";
import { asObject, asString } from "../../src/platform/read.ts";
import type {
  Budget,
  Change,
  ChildList,
  EntryPage,
  EntryPageBefore,
  ListEffort,
  Listed,
  LiveProof,
  SessionRef,
  Store,
  StoreReport,
  Totals,
} from "../../src/stores/store.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { type AgentName, type SessionId, sessionIdOf } from "../../src/transcript/names.ts";

/** `text` as an id. */
export function sid(text: string): SessionId {
  const id = sessionIdOf(text);
  if (id === undefined) throw new Error(`${text} is no id`);
  return id;
}

/**
 * A store of plain JSONL files in a temporary folder, `<id>.jsonl` with `{"say": <text>}` lines and `<id>.<child>.jsonl` for
 * a child. It is told what changes by those who change it here, and counts its work.
 */
export class FakeStore implements Store {
  readonly agent: AgentName;
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-store-")));
  /** Sessions that have no file: rows alone. */
  rows: Listed[] = [];
  reads = 0;
  watches = 0;
  readonly looks: ListEffort[] = [];
  /** Thrown by `list` while set. */
  broken: Error | undefined;
  /** Thrown by `entries` while set. */
  brokenChat: Error | undefined;
  /** Waited for by `list` and by `entries` before they look. */
  gate: Promise<void> | undefined;
  settled = true;
  /** What `live` proves. */
  proofs: readonly LiveProof[] = [];
  totalsOf: Totals | undefined;
  readonly #listeners = new Set<Bell>();

  constructor(agent: AgentName = "claude") {
    this.agent = agent;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  file(id: string): string {
    return join(this.root, `${id}.jsonl`);
  }

  /** Appends records, and tells whoever watches. */
  say(id: string, ...texts: string[]): void {
    appendFileSync(this.file(id), texts.map((text) => `${JSON.stringify({ say: text })}\n`).join(""));
    this.tell();
  }

  write(id: string, content: string): void {
    writeFileSync(this.file(id), content);
    this.tell();
  }

  tell(): void {
    for (const bell of this.#listeners) bell.ring();
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async list(effort: ListEffort): Promise<readonly Listed[]> {
    this.looks.push(effort);
    await this.gate;
    if (this.broken !== undefined) throw this.broken;
    const files = readdirSync(this.root).flatMap((name) => /^([^.]+)\.jsonl$/.exec(name)?.[1] ?? []);
    return [...this.rows, ...files.map((id) => this.#row(sid(id)))];
  }

  async find(id: SessionId): Promise<SessionRef | undefined> {
    return this.#refTo(id, id);
  }

  async entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    const cursor = parseJsonlCursor(from);
    this.reads++;
    await this.gate;
    if (this.brokenChat !== undefined) throw this.brokenChat;
    return withFile(this.root, asPlace(ref), async (file) => {
      const page = await readPage(file, cursor, pageBuffer(budget.bytes));
      return {
        entries: page.lines.flatMap(entriesOf),
        next: formatJsonlCursor(page.next),
        ...(page.reset && { reset: page.reset }),
        uses: [file.stamp],
        settled: this.settled,
      };
    });
  }

  async before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const cursor = before === "tail" ? undefined : parseJsonlCursor(before);
    return withFile(this.root, asPlace(ref), async (file) => {
      const end = cursor?.offset ?? byteOffsetOf(file.size);
      const page = await readPageBefore(file, end, pageBuffer(budget.bytes));
      const last = page.lines.at(-1)?.end ?? byteOffsetOf(0);
      return {
        entries: page.lines.flatMap(entriesOf),
        next: formatJsonlCursor({ offset: last, discarding: false }),
        prev: page.prev === undefined ? null : formatJsonlCursor({ offset: page.prev, discarding: false }),
        uses: [file.stamp],
        settled: true,
      };
    });
  }

  async record(ref: SessionRef, pos: Cursor): Promise<readonly Entry[]> {
    const { entries } = await this.entries(ref, pos, { bytes: 1024 * 1024, parts: 1 });
    return entries.slice(0, 1);
  }

  async children(ref: SessionRef, most = 200): Promise<ChildList> {
    const names = readdirSync(this.root).flatMap((name) => name.match(`^${ref.id}\\.([^.]+)\\.jsonl$`)?.[1] ?? []);
    return {
      children: names
        .slice(0, most)
        .map((id) => ({ id: sid(id), title: id, status: "unknown", startedAt: at(1), updatedAt: at(2) })),
      uses: [this.#stamp(ref.id)],
      settled: true,
    };
  }

  async child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    const found = this.#refTo(`${ref.id}.${id}`, ref.id);
    return found && { ...found, child: id, standsOn: [this.file(ref.id)] };
  }

  async totals(): Promise<Totals | undefined> {
    return this.totalsOf;
  }

  async *watch(_ref: SessionRef, signal: AbortSignal): AsyncGenerator<void, void> {
    this.watches++;
    yield* this.#told(signal);
  }

  async *changes(signal: AbortSignal): AsyncGenerator<Change, void> {
    for await (const _ of this.#told(signal)) yield {};
  }

  async live(): Promise<readonly LiveProof[]> {
    return this.proofs;
  }

  async report(): Promise<StoreReport> {
    return {
      agent: this.agent,
      roots: [{ path: this.root, found: true }],
      sessions: 0,
      formats: [],
      skipped: [{ reason: "no transcript", count: 3, example: "x" }],
    };
  }

  async *#told(signal: AbortSignal): AsyncGenerator<void, void> {
    const bell = new Bell();
    this.#listeners.add(bell);
    try {
      for (await bell.listen(signal); !signal.aborted; await bell.listen(signal)) yield;
    } finally {
      this.#listeners.delete(bell);
    }
  }

  #refTo(name: string, id: SessionId): SessionRef | undefined {
    const place = this.file(name);
    return stampOf(place) && { agent: this.agent, id, place };
  }

  #stamp(name: string): FileStamp {
    const stamp = stampOf(this.file(name));
    if (stamp === undefined) throw new Failure("not-found", "no such transcript");
    return stamp;
  }

  #row(id: SessionId): Listed {
    const { size } = this.#stamp(id);
    return row({ agent: this.agent, id, updatedAt: at(size), bytes: size });
  }
}

/** A time. */
export function at(ms: number): EpochMs {
  return ms as EpochMs;
}

/** A row of a list, of a session that says little of itself. */
export function row(given: Partial<Listed> & { readonly id: SessionId }): Listed {
  return { agent: "claude", title: `Title of ${given.id}`, cwd: "/w", startedAt: at(1), updatedAt: at(1), ...given };
}

function asPlace(ref: SessionRef): string {
  if (typeof ref.place !== "string") throw new Error("a place of another store");
  return ref.place;
}

function entriesOf(line: JsonlLine): Entry[] {
  if (line.kind === "oversized") return [];
  const pos = formatJsonlCursor({ offset: line.start, discarding: false });
  return parseRecords(line.bytes).flatMap((record) => {
    const text = asString(asObject(record)?.say);
    return text === undefined ? [] : [{ kind: "user" as const, at: at(1), pos, text }];
  });
}
