import type { Entry } from "../../transcript/entry.ts";
import {
  type ChatRows,
  type ChatSource,
  childNames,
  Filling,
  oversizedEntry,
  type PageNeed,
  parsed,
  type Revert,
  timeOf,
  type Unit,
} from "./chat-rows.ts";
import { type Bound, inOrder, type Message, MessageReader, type Place } from "./message-reader.ts";
import {
  asksForParent,
  childOfPart,
  messageEntries,
  type Part,
  type PartContext,
  partEntries,
  SHELL_NOTE,
} from "./part-entries.ts";

/** What is looked at of a parent message for what it stands for: parts, and bytes of each. */
const PARENT_PARTS = 20;
const PARENT_BYTES = 64 * 1024;

/** The chat of a session in v1 tables: messages by (time_created, id), each with its parts by id, then what it itself says. */
export class PartRows implements ChatRows {
  readonly revert: string | undefined;
  readonly #source: ChatSource;
  readonly #reader: MessageReader;
  readonly #end: { readonly message: Place; readonly part: string | undefined } | undefined;

  constructor(source: ChatSource, revert: Revert | undefined) {
    this.#source = source;
    this.#reader = new MessageReader(source);
    const message = revert && this.#reader.messageOf(revert.message);
    this.#end = message && { message, part: revert.part };
    this.revert = message && revert.tag;
  }

  forward(from: string | undefined, need: PageNeed): readonly Unit[] | undefined {
    const place = from === undefined ? undefined : this.#reader.messageOf(from);
    if (from !== undefined && place === undefined) return undefined;
    return this.#gather({ direction: "ASC", place, inclusive: true }, need, (visible) => {
      if (from === undefined) return visible;
      const index = visible.findIndex((unit) => unit.id === from);
      return index < 0 ? undefined : visible.slice(index);
    });
  }

  backward(to: string | undefined, need: PageNeed): readonly Unit[] | undefined {
    const place = to === undefined ? this.#end?.message : this.#reader.messageOf(to);
    if (to !== undefined && place === undefined) return undefined;
    const units = this.#gather({ direction: "DESC", place, inclusive: true }, need, (visible) => {
      if (to === undefined) return visible;
      const index = visible.findIndex((unit) => unit.id === to);
      return index < 0 ? undefined : visible.slice(0, index);
    });
    return units && [...units].reverse();
  }

  /** The shown rows in the order of reading until there are enough; `cut` takes its part of the first message, if it can. */
  #gather(
    bound: Bound,
    need: PageNeed,
    cut: (visible: readonly Unit[]) => readonly Unit[] | undefined,
  ): readonly Unit[] | undefined {
    const units: Unit[] = [];
    const filling = new Filling(need);
    let isFirst = true;
    for (const message of this.#reader.messages(bound, need)) {
      const visible: readonly Unit[] | undefined = isFirst ? cut(this.#visible(message)) : this.#visible(message);
      isFirst = false;
      if (visible === undefined) return undefined;
      const ordered = bound.direction === "ASC" ? visible : [...visible].reverse();
      units.push(...ordered);
      if (filling.add(ordered) || (bound.direction === "ASC" && this.#isTakenBack(message))) break;
    }
    return units;
  }

  named(ids: readonly string[]): readonly Unit[] {
    if (this.#end === undefined) return this.#reader.keysOf(ids);
    const named = new Set(ids);
    return this.#visibleOf(ids).filter(({ id }) => named.has(id));
  }

  has(id: string): boolean {
    return this.#reader.messageOf(id) !== undefined;
  }

  entries(units: readonly Unit[], mostBytes: number): Entry[] {
    const parts = this.#reader.parts(units, mostBytes);
    const messages = new Set<string>();
    for (const unit of units) if (unit.kind === "message") messages.add(unit.id);
    for (const row of parts.values()) messages.add(String(row.message));
    const facts = this.#reader.facts(messages);
    const read = new Map<string, Part>();
    for (const [id, row] of parts) {
      const data = parsed(row.data);
      const message = facts.get(String(row.message));
      if (data === undefined) {
        if (Number(row.bytes ?? 0) <= mostBytes)
          this.#source.problems.add("a part that is no JSON object", `part ${id}`);
      } else if (message !== undefined) read.set(id, { id, at: timeOf(row.time_created), data, message });
    }
    const context = this.#context([...read.values()]);
    return units.flatMap((unit): Entry[] => {
      if (unit.kind === "message") {
        const message = facts.get(unit.id);
        return message === undefined ? [] : messageEntries(message);
      }
      if (unit.bytes > mostBytes) return [oversizedEntry(unit, timeOf(parts.get(unit.id)?.time_created))];
      const part = read.get(unit.id);
      return part === undefined ? [] : partEntries(part, context);
    });
  }

  /** The rows of these ids that are shown: where a turn is taken back, their place among their message's decides. */
  #visibleOf(ids: readonly string[]): Unit[] {
    const list = JSON.stringify(ids);
    const messages = this.#reader.withParts(
      `id IN (SELECT message_id FROM part WHERE id IN (SELECT value FROM json_each(?)) UNION SELECT value FROM json_each(?))`,
      list,
      list,
    );
    return messages.sort(inOrder).flatMap((message) => this.#visible(message));
  }

  /** Whether a message, or a part of it, is the first that is taken back, or stands behind it. */
  #isTakenBack(message: Place): boolean {
    return this.#end !== undefined && inOrder(message, this.#end.message) >= 0;
  }

  /** What is left of a message when what is taken back is hidden. */
  #visible({ time, id, units }: Message): readonly Unit[] {
    const end = this.#end;
    if (end === undefined || inOrder({ time, id }, end.message) < 0) return units;
    if (id !== end.message.id || end.part === undefined) return [];
    const index = units.findIndex((unit) => unit.id === end.part);
    return index < 0 ? [] : units.slice(0, index);
  }

  #context(parts: readonly Part[]): PartContext {
    const children = parts.flatMap((part) => childOfPart(part.data) ?? []);
    const parents = parts.filter(asksForParent).flatMap((part) => part.message.parent ?? []);
    const { shells, compactions } = this.#parents([...new Set(parents)]);
    return {
      children: childNames(this.#source, children),
      isShell: (message) => shells.has(message),
      isCompaction: (message) => compactions.has(message),
    };
  }

  /** What the parents of some messages stand for. */
  #parents(ids: readonly string[]): { readonly shells: Set<string>; readonly compactions: Set<string> } {
    const shells = new Set<string>();
    const compactions = new Set<string>();
    for (const id of ids) {
      const rows = this.#source.database.all(
        `SELECT data FROM part WHERE message_id = ? AND octet_length(data) <= ${PARENT_BYTES} LIMIT ${PARENT_PARTS}`,
        id,
      );
      for (const { data } of rows) {
        const part = parsed(data);
        if (part?.type === "compaction") compactions.add(id);
        if (part?.synthetic === true && String(part.text).startsWith(SHELL_NOTE)) shells.add(id);
      }
    }
    return { shells, compactions };
  }
}
