import type { Bridge, Histories } from "../../src/commands/bridge.ts";
import type { Context } from "../../src/commands/command.ts";
import type { Input } from "../../src/commands/input.ts";
import type { Program } from "../../src/commands/program.ts";
import type { Terminal } from "../../src/commands/terminal.ts";
import { openOwnSessions } from "../../src/peers/own-sessions-file.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import { type Environment, environmentFrom } from "../../src/platform/environment.ts";
import { Subscription } from "../../src/platform/subscription.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { Pages } from "../../src/stores/pages.ts";
import type { Listed, SessionRef, Store } from "../../src/stores/store.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import type { SessionId } from "../../src/transcript/names.ts";

/** The moment at which these tests play. */
export const NOW = 1_796_030_640_000 as EpochMs;

/** The program of these tests: an installed one. */
export const PROGRAM: Program = {
  version: "1.2.3",
  call: "node /opt/agent-bridge.mjs",
  words: ["/usr/bin/node", "/opt/agent-bridge.mjs"],
  name: "agent-bridge",
  said: (message) => message,
};

/** A terminal that keeps what is written. */
export interface FakeTerminal extends Terminal {
  readonly written: { out: string; err: string };
}

/** A terminal of `columns` columns, or (without) a pipe. */
export function fakeTerminal(columns?: number): FakeTerminal {
  const written = { out: "", err: "" };
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    written,
    columns,
    colours: false,
    showsProgress: false,
    async out(text) {
      written.out += typeof text === "string" ? text : decoder.decode(text, { stream: true });
    },
    async err(text) {
      written.err += text;
    },
  };
}

/** Input of which nothing comes, as from /dev/null. */
export const NO_INPUT: Input = {
  isTerminal: false,
  parts: async function* () {},
  dropTyped: async () => false,
  editor: async () => undefined,
  raw: () => () => {},
  size: () => undefined,
  resized: async function* () {},
};

/** A context over `stores`, whose terminal is kept. */
export function fakeContext(
  stores: readonly Store[],
  given: Omit<Partial<Context>, "bridge"> & {
    readonly terminal?: FakeTerminal;
    readonly bridge?: Partial<Bridge>;
  } = {},
): Context & { readonly terminal: FakeTerminal } {
  const unexpected = (): never => {
    throw new Error("not called in this test");
  };
  const runs = ({ bridgeHome }: Environment) => new RunInventory({ bridgeHome, clock: { now: () => NOW } });
  const ownSessions = ({ bridgeHome }: Environment) => openOwnSessions({ bridgeHome, clock: { now: () => NOW } });
  const defaults = {
    histories: async () => historiesOf(stores),
    runs,
    ownSessions,
    timer: systemTimer,
    running: async () => undefined,
  };
  const bridge = new Proxy({ ...defaults, ...given.bridge } as Bridge, {
    get: (target, name) => Reflect.get(target, name) ?? unexpected,
  });
  return {
    clock: { now: () => NOW },
    environment: (home) => environmentFrom({ home: "/home/dev", platform: "linux", bridgeHome: home }),
    program: PROGRAM,
    input: NO_INPUT,
    untilInterrupted: unexpected,
    interrupts: (signal) => new Subscription<never>(signal, () => {}) as AsyncIterable<never>,
    ...given,
    bridge,
    terminal: given.terminal ?? fakeTerminal(),
  };
}

function historiesOf(stores: readonly Store[]): Histories {
  const clock = { now: () => NOW };
  const inventory = new Inventory({ stores, clock, timer: systemTimer, home: "/home/dev" });
  return { stores, inventory, tools: { pages: new Pages(clock), timer: systemTimer }, agents: new Map() };
}

/** A session as a list shows it. */
export function listed(id: string, more: Partial<Listed> = {}): Listed {
  return {
    agent: "claude",
    id: id as SessionId,
    title: `title of ${id}`,
    cwd: "/home/dev/shop",
    startedAt: NOW,
    updatedAt: NOW,
    ...more,
  };
}

/** An assistant's text at record `index` of a fake chat. */
export function said(index: number, text: string): Entry {
  return { kind: "assistant", at: (NOW + index * 1000) as EpochMs, pos: `j:${index}:0` as Cursor, text };
}

/** A store over chats in memory; a cursor counts entries, and a page holds two. */
export function fakeStore(
  sessions: readonly Listed[],
  chats: { readonly [id: string]: Entry[] } = {},
  more: Partial<Store> = {},
): Store {
  const chatOf = (ref: SessionRef): Entry[] => chats[ref.child ?? ref.id] ?? [];
  const cursor = (index: number): Cursor => `j:${index}:0` as Cursor;
  const indexOf = (from: Cursor): number => (from === "0" ? 0 : Number(from.split(":")[1]));
  const unexpected = (): never => {
    throw new Error("not called in this test");
  };
  const facts = { uses: [], settled: true };
  return {
    agent: "claude",
    list: async () => sessions,
    find: async (id) =>
      sessions.some((each) => each.id === id) ? { agent: "claude", id, place: undefined } : undefined,
    async entries(ref, from) {
      const entries = chatOf(ref).slice(indexOf(from), indexOf(from) + 2);
      return { entries, next: entries.length === 0 ? from : cursor(indexOf(from) + entries.length), ...facts };
    },
    async before(ref, before) {
      const end = before === "tail" ? chatOf(ref).length : indexOf(before);
      const start = Math.max(0, end - 2);
      return {
        entries: chatOf(ref).slice(start, end),
        next: cursor(end),
        prev: start === 0 ? null : cursor(start),
        ...facts,
      };
    },
    record: unexpected,
    children: async () => ({ children: [], ...facts }),
    child: async () => undefined,
    totals: unexpected,
    watch: unexpected,
    changes: unexpected,
    live: async () => [],
    report: unexpected,
    ...more,
  };
}
