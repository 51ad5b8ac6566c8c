import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import type { Watcher } from "../../../src/platform/watch.ts";
import { CodexStore } from "../../../src/stores/codex/store.ts";
import type { Work, WorkKind } from "../../../src/stores/codex/work.ts";
import type { SessionRef } from "../../../src/stores/store.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { type Item, toItems } from "../../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../../src/transcript/limits.ts";
import type { SessionId } from "../../../src/transcript/names.ts";

/** What every page may consume. */
export const BUDGET = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** 30 November 2026, 9:00 UTC, and thread ids made then. */
export const NINE = Date.UTC(2026, 10, 30, 9) as EpochMs;

/** A UUIDv7 of `at`; `n` tells those of one millisecond apart. */
export function uuid(at: number, n = 0): SessionId {
  const time = at.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}` as SessionId;
}

/** A clock that stands where it is put; at first long after all that tests write, whenever they run. */
export class HeldClock implements Clock {
  at: number;
  constructor(at: number = Date.UTC(2100, 0, 1)) {
    this.at = at;
  }
  now(): EpochMs {
    return this.at as EpochMs;
  }
}

/** Work as it was counted. */
export class CountedWork implements Work {
  readonly counts: Partial<Record<WorkKind, number>> = {};
  count(kind: WorkKind): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
  /** What was counted since the last time. */
  take(): Partial<Record<WorkKind, number>> {
    const taken = { ...this.counts };
    for (const kind of Object.keys(this.counts) as WorkKind[]) delete this.counts[kind];
    return taken;
  }
}

/** Watches nothing. */
export const NO_WATCHER: Watcher = {
  async *file() {},
  async *folder() {},
};

/** A Codex home in a temporary folder, and a store over it. */
export class Home {
  readonly path: string;
  readonly bridge: string;
  readonly clock = new HeldClock();
  readonly work = new CountedWork();
  locks: string | undefined;

  constructor(t: TestContext) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "codex-store-")));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    this.path = join(folder, "codex");
    this.bridge = join(folder, "bridge");
    mkdirSync(this.path);
  }

  store(options: StoreOptions = {}): CodexStore {
    return new CodexStore({
      environment: environmentFrom({
        home: this.bridge,
        variables: { CODEX_HOME: options.codexHome ?? this.path },
        bridgeHome: this.bridge,
      }),
      clock: this.clock,
      watcher: options.watcher ?? NO_WATCHER,
      work: this.work,
      locks: () => this.locks,
      ...(options.extraRoots && { extraRoots: options.extraRoots }),
      ...(options.childRollouts && { childRollouts: options.childRollouts }),
    });
  }

  /** Writes a rollout; gives its path. */
  rollout(thread: SessionId, lines: readonly unknown[], options: RolloutOptions = {}): string {
    const path = this.rolloutPath(thread, options);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, linesOf(lines));
    return path;
  }

  rolloutPath(
    thread: SessionId,
    { segment, archived, time = "09-00-00", day = "2026/11/30" }: RolloutOptions = {},
  ): string {
    const name = `rollout-${day.replaceAll("/", "-")}T${time}-${thread}${segment ? `_${segment}` : ""}.jsonl`;
    return join(this.path, archived ? "archived_sessions" : `sessions/${day}`, name);
  }
}

interface StoreOptions {
  readonly extraRoots?: readonly string[];
  readonly watcher?: Watcher;
  readonly codexHome?: string;
  readonly childRollouts?: number;
}

export interface RolloutOptions {
  readonly segment?: SessionId;
  readonly archived?: boolean;
  readonly time?: string;
  readonly day?: string;
}

/** Records as JSONL; a text stands as it is. */
export function linesOf(records: readonly unknown[]): string {
  return records.map((record) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`).join("");
}

/** A record in its envelope, `ms` after nine. */
export function line(ms: number, type: string, payload: object, more: object = {}): object {
  return { timestamp: new Date(NINE + ms).toISOString(), ...more, type, payload };
}

/** The header of a person's thread. */
export function meta(id: SessionId, payload: object = {}, ms = 0, more: object = {}): object {
  return line(
    ms,
    "session_meta",
    {
      id,
      timestamp: new Date(NINE + ms).toISOString(),
      cwd: "/home/dev/demo",
      originator: "codex_exec",
      cli_version: "0.134.0",
      source: "exec",
      ...payload,
    },
    more,
  );
}

/** The header of a spawned agent's thread. */
export function childMeta(id: SessionId, parent: SessionId, payload: object = {}, ms = 0): object {
  const spawn = { parent_thread_id: parent, depth: 1, agent_nickname: "Volta", agent_role: "default" };
  return meta(id, { source: { subagent: { thread_spawn: spawn } }, ...payload }, ms);
}

export const userEvent = (ms: number, message: string): object =>
  line(ms, "event_msg", { type: "user_message", message });
export const agentEvent = (ms: number, message: string): object =>
  line(ms, "event_msg", { type: "agent_message", message });
export const userItem = (ms: number, text: string): object =>
  line(ms, "response_item", { type: "message", role: "user", content: [{ type: "input_text", text }] });
export const agentItem = (ms: number, text: string): object =>
  line(ms, "response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] });
export const call = (ms: number, callId: string, name: string, input: object): object =>
  line(ms, "response_item", { type: "function_call", name, arguments: JSON.stringify(input), call_id: callId });
export const output = (ms: number, callId: string, text: unknown): object =>
  line(ms, "response_item", { type: "function_call_output", call_id: callId, output: text });
export const started = (ms: number, turn: string): object =>
  line(ms, "event_msg", { type: "task_started", turn_id: turn });
export const complete = (ms: number, turn: string, more: object = {}): object =>
  line(ms, "event_msg", { type: "task_complete", turn_id: turn, last_agent_message: "ok", ...more });

/** The session with this id. */
export async function found(store: CodexStore, id: SessionId): Promise<SessionRef> {
  const ref = await store.find(id);
  if (ref === undefined) throw new Error(`${id} is not found`);
  return ref;
}

/** Every entry of a chat, page by page. */
export async function allEntries(
  store: CodexStore,
  ref: SessionRef,
  from: Cursor = START,
  bytes = PAGE_BYTES,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let at = from; ; ) {
    const page = await store.entries(ref, at, { ...BUDGET, bytes });
    entries.push(...page.entries);
    if (page.next === at) return entries;
    at = page.next;
  }
}

/** Every item of a thread's chat. */
export async function chat(store: CodexStore, id: SessionId): Promise<Item[]> {
  return toItems(await allEntries(store, await found(store, id)));
}

/** An item on one line, as a person would read it. */
export function told(item: Item): string {
  const kind = item.kind === "tool" ? item.tool : item.kind;
  const parts = [kind, item.error ? "failed" : undefined, item.of ? "answers" : undefined];
  const text = [item.summary, item.subagent?.title, item.text === undefined ? undefined : JSON.stringify(item.text)];
  return `${parts.filter(Boolean).join(" ")}: ${text.filter((part) => part !== undefined && part !== "").join(" | ")}`;
}

/** A chat as a person would read it. */
export async function toldChat(store: CodexStore, id: SessionId): Promise<string[]> {
  return (await chat(store, id)).map(told);
}
