import { Breather } from "../platform/breather.ts";
import type { EpochMs } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import type { SessionRef, Store } from "../stores/store.ts";
import type { Cursor } from "../transcript/cursor.ts";
import type { Entry, SubagentLink } from "../transcript/entry.ts";
import type { SessionId } from "../transcript/names.ts";
import type { ExportOptions, ExportTools } from "./document.ts";
import { type BuiltMessage, MessageBuilder } from "./messages.ts";
import type { ExportedMessage } from "./model.ts";
import { ReplacedWhileRead, wholeChat } from "./reading.ts";
import type { Spool } from "./spool.ts";
import { TakenBack } from "./taken-back.ts";
import type { DocumentWriter } from "./writer.ts";

/** What a chat's messages came to, those of its subagents not counted. */
export interface Count {
  messages: number;
  toolCalls: number;
  /** Of the last record; absent when there is none. */
  lastAt?: EpochMs;
  /** That answered last. */
  model?: string;
}

/** Subagents that started one another are opened so deep, so that no one runs out of memory. */
const MOST_DEPTH = 12;

/** A chat of more pages is long. */
const LONG_PAGES = 16;

/** One chat on its way into the document. */
interface Chapter {
  readonly ref: SessionRef;
  readonly depth: number;
  readonly count: Count;
  /** Where prompts stand: their offset, and how many messages stand before them. */
  readonly prompts: Map<Cursor, { readonly from: number; readonly before: number }>;
}

/** Writes the messages of a chat, with those of its subagents where that is wanted, one after the other into a spool. */
export class Body {
  readonly takenBack = new TakenBack();
  /** The byte behind each message, those of subagents included. */
  readonly ends: number[] = [];
  readonly #store: Store;
  readonly #session: SessionRef;
  readonly #options: ExportOptions;
  readonly #writer: DocumentWriter;
  readonly #spool: Spool;
  readonly #tools: ExportTools;
  #pages = 0;
  readonly #opened = new Set<SessionId>();

  constructor(parts: {
    readonly store: Store;
    readonly ref: SessionRef;
    readonly options: ExportOptions;
    readonly writer: DocumentWriter;
    readonly spool: Spool;
    readonly tools: ExportTools;
  }) {
    this.#store = parts.store;
    this.#session = parts.ref;
    this.#options = parts.options;
    this.#writer = parts.writer;
    this.#spool = parts.spool;
    this.#tools = parts.tools;
  }

  /** Writes all of it. @throws as `wholeChat` */
  async write(): Promise<Count> {
    const chapter = chapterOf(this.#session, 0);
    await this.#chapter(chapter, wholeChat(this.#store, this.#session, this.#tools.signal));
    if (this.#options.subagents && this.#session.child === undefined) await this.#unplaced(chapter);
    return chapter.count;
  }

  async #chapter(chapter: Chapter, pages: AsyncIterable<readonly Entry[]>): Promise<void> {
    const builder = new MessageBuilder(this.#options);
    const breather = new Breather();
    for await (const entries of pages) {
      if (++this.#pages === LONG_PAGES) await this.#tools.long?.();
      for (const entry of entries) {
        note(entry, chapter.count);
        for (const built of builder.add(entry)) await this.#message(built, chapter);
        if (breather.isDue) await this.#rest(breather);
      }
      await this.#rest(breather);
    }
    for (const built of builder.end()) await this.#message(built, chapter);
  }

  async #rest(breather: Breather): Promise<void> {
    await this.#spool.flush();
    await breather.pause();
    this.#tools.signal?.throwIfAborted();
  }

  async #message({ message, pos, takesBack }: BuiltMessage, chapter: Chapter): Promise<void> {
    const { count, depth, prompts } = chapter;
    const start = prompts.get(takesBack as Cursor);
    if (start !== undefined) {
      const messages = count.messages - start.before;
      if (messages > 0) this.takenBack.add({ from: start.from, to: this.#spool.size, messages, depth });
    }
    if (message.role === "user" && !prompts.has(pos)) {
      prompts.set(pos, { from: this.#spool.size, before: count.messages });
    }
    const place = { depth, isFirst: count.messages === 0 };
    count.messages++;
    count.toolCalls += message.toolCalls?.length ?? 0;
    const opened = message.subagent === undefined ? undefined : await this.#open(message.subagent, chapter);
    if (opened === undefined) this.#spool.add(this.#writer.message(message, place));
    else if ("problem" in opened) this.#spool.add(this.#writer.message({ ...message, text: opened.problem }, place));
    else await this.#subagent(message, opened, place);
    this.ends.push(this.#spool.size);
  }

  async #subagent(message: ExportedMessage, { chapter, pages }: Opened, place: { depth: number; isFirst: boolean }) {
    this.#spool.add(this.#writer.beginSubagent(message, place));
    await this.#chapter(chapter, pages);
    this.#spool.add(this.#writer.endSubagent(place));
  }

  /** A subagent's chat, when it is wanted; once each, as one that was resumed may be named again. */
  async #open({ id }: SubagentLink, parent: Chapter): Promise<Opened | { readonly problem: string } | undefined> {
    const { subagents } = this.#options;
    if (!subagents || parent.depth >= MOST_DEPTH || this.#opened.has(id)) return undefined;
    this.#opened.add(id);
    try {
      const ref = (await this.#store.child(parent.ref, id)) ?? (await this.#store.child(this.#session, id));
      if (ref === undefined) return undefined;
      const pages = wholeChat(this.#store, ref, this.#tools.signal);
      const first = await pages.next();
      return { chapter: chapterOf(ref, parent.depth + 1), pages: resumed(first, pages) };
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof ReplacedWhileRead) throw error;
      return error.kind === "not-found" ? undefined : { problem: `its chat can't be read: ${error.message}` };
    }
  }

  /** Subagents that no record of the chat names, at its end. */
  async #unplaced(chapter: Chapter): Promise<void> {
    const { children } = await this.#store.children(this.#session, Number.POSITIVE_INFINITY);
    const left = children.filter(({ id }) => !this.#opened.has(id)).sort((a, b) => a.startedAt - b.startedAt);
    for (const { id, title, startedAt: at } of left) {
      if (this.#opened.has(id)) continue;
      const subagent = { id, title, agent: this.#store.agent };
      await this.#message({ message: { role: "system", at, subagent }, pos: "" as Cursor }, chapter);
    }
  }
}

interface Opened {
  readonly chapter: Chapter;
  readonly pages: AsyncIterable<readonly Entry[]>;
}

function chapterOf(ref: SessionRef, depth: number): Chapter {
  return { ref, depth, count: { messages: 0, toolCalls: 0 }, prompts: new Map() };
}

function note(entry: Entry, count: Count): void {
  if (entry.at > (count.lastAt ?? 0)) count.lastAt = entry.at;
  if ("model" in entry && entry.model !== undefined) count.model = entry.model;
}

async function* resumed<T>(first: IteratorResult<T, void>, rest: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
