import { utimesSync } from "node:fs";
import type { SessionRef, Store } from "../../src/stores/store.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import { type Page, toItems } from "../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../src/transcript/limits.ts";
import { requireSessionId } from "../../src/transcript/names.ts";
import type { OpenCodeHistory } from "../history/opencode.ts";
import { askFiles, lookAtTimes, type Place, placesOf, readAndParseRows, readSessionRows } from "./bare-opencode.ts";
import { runProduct } from "./child.ts";
import type { Client } from "./client.ts";
import { delayRows, type Phase, watched } from "./loop-delay.ts";
import { type Bench, type Measure, NotMeasurable, type Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";
import { storeOver } from "./store.ts";

const PAGES = 12;
const POLLS = 200;
const LISTS = 20;
const BUDGET = { bytes: PAGE_BYTES, parts: PAGE_PARTS };
/** How long a written row is told again: ms. */
const QUIET_MS = 6_000;

/** A database of OpenCode: its longest chat, lists, and polls. */
export const opencode: Measure = {
  name: "opencode",
  about:
    "a database of OpenCode against bare node:sqlite: the same rows read and parsed; the same times looked at; polls against /healthz",
  async run(bench) {
    const { small, large } = bench.opencode();
    // What was written just now is followed more closely than a history at rest.
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    return [...(await inProcess(bench, small, large)), ...(await polled(bench, small, large)), ...(await held(bench))];
  },
};

async function inProcess(bench: Bench, small: OpenCodeHistory, large: OpenCodeHistory): Promise<Row[]> {
  const lesser = await figuresOf(bench, small, "start");
  const figures = await figuresOf(bench, large, "end");
  const sessions = large.sessions.length / small.sessions.length;
  const parts = longest(large).parts / longest(small).parts;
  type Name = keyof typeof figures;
  const row = (what: string, name: Name, bare: Name, grown: number, aim?: string): Row => ({
    measure: "opencode",
    what,
    unit: "ms",
    compare: "ratio",
    ours: figures[name],
    bare: figures[bare],
    slope: figures[name] / lesser[name] / grown,
    aim,
  });
  const long = `${longest(large).parts} parts`;
  return [
    row("page, entries", "entries", "rows", 1, "≤ 2 ×"),
    row("page, entries to JSON", "json", "rows", 1, "≤ 2 ×"),
    row(`look for updates, ${long}`, "scan", "times", parts),
    row(`last page at rest, ${long}`, "tail", "rows", 1),
    row(`list, cold, ${large.sessions.length} sessions`, "cold", "list", sessions, "≤ 5 ×"),
    row(`list, unchanged, ${large.sessions.length} sessions`, "unchanged", "stats", sessions),
  ];
}

async function figuresOf(bench: Bench, history: OpenCodeHistory, where: "start" | "end") {
  const { path, home } = history;
  const { id } = longest(history);
  const store = storeOver(home, "opencode");
  const ref = await found(store, id);
  const pages = await pagesOf(store, ref, path, where);
  await store.list("sweep");
  const { next } = await store.before(ref, "tail", BUDGET);
  const since = Number(next.split(":")[1]);
  const perPage = (work: (page: PageRange) => unknown) => async (): Promise<number> => {
    const ms = await timed(async () => {
      for (const page of pages) await work(page);
    });
    return ms / pages.length;
  };
  return interleaved(
    bench.rounds,
    {
      rows: perPage(({ first, last }) => readAndParseRows(path, id, first, last)),
      entries: perPage(({ from }) => store.entries(ref, from, BUDGET)),
      json: perPage(async ({ from }) => {
        const { entries, next } = await store.entries(ref, from, BUDGET);
        return Buffer.from(JSON.stringify({ items: toItems(entries), next }));
      }),
      times: () => timed(() => lookAtTimes(path, id, since)),
      scan: () => {
        // A cursor from before the files changed asks for all times, by a store that has not looked yet.
        const fresh = storeOver(home, "opencode");
        return timed(() => fresh.entries(ref, `o:${since - QUIET_MS}:0` as Cursor, BUDGET));
      },
      tail: () => timed(() => store.before(ref, "tail", BUDGET)),
      list: () => timed(() => readSessionRows(path)),
      cold: () => timed(() => storeOver(home, "opencode").list("sweep")),
      stats: () => each(LISTS, () => askFiles(path)),
      unchanged: () => each(LISTS, () => store.list("quick")),
    },
    2,
  );
}

/** A page, and the messages that it begins and ends in. */
interface PageRange {
  readonly from: Cursor;
  readonly first: Place;
  readonly last: Place;
}

/** Pages of a chat, near its start or its end. */
async function pagesOf(store: Store, ref: SessionRef, path: string, where: "start" | "end"): Promise<PageRange[]> {
  const cursors: Cursor[] = [START];
  for (let cursor: Cursor = START; ; ) {
    const { next } = await store.entries(ref, cursor, BUDGET);
    if (!next.includes(":1", 3) || next === cursor) break;
    cursors.push(next);
    cursor = next;
  }
  const chosen = where === "start" ? cursors.slice(1, PAGES + 2) : cursors.slice(-PAGES - 1);
  const places = placesOf(
    path,
    chosen.map((cursor) => cursor.split(":")[2] ?? ""),
  );
  return chosen.slice(0, -1).flatMap((from, index): PageRange[] => {
    const [first, last] = [places[index], places[index + 1]];
    return first === undefined || last === undefined ? [] : [{ from, first, last }];
  });
}

async function found(store: Store, id: string): Promise<SessionRef> {
  const ref = await store.find(requireSessionId(id));
  if (ref === undefined) throw new Error(`the store does not find ${id}`);
  return ref;
}

/** Polls of what has not changed, over HTTP. */
async function polled(bench: Bench, small: OpenCodeHistory, large: OpenCodeHistory): Promise<Row[]> {
  const lesser = await pollsOf(bench, small);
  const figures = await pollsOf(bench, large);
  const row = (what: string, name: "chat" | "list"): Row => ({
    measure: "opencode",
    what,
    unit: "µs",
    compare: "ratio",
    ours: figures[name] * 1000,
    bare: figures.health * 1000,
    slope: figures[name] / lesser[name],
  });
  return [row("idle poll of the chat, 304", "chat"), row("idle poll of the list, 304", "list")];
}

async function pollsOf(bench: Bench, history: OpenCodeHistory) {
  const product = await runProduct(history.home, bench.folder("bridge"));
  try {
    const chat = await poll(product.client, `${chatPath(history)}?from=tail`);
    const list = await poll(product.client, "/api/transcripts");
    return await interleaved(bench.rounds, {
      health: () => each(POLLS, () => product.client.body("/healthz")),
      chat: () => each(POLLS, chat),
      list: () => each(POLLS, list),
    });
  } finally {
    await product.close();
  }
}

async function poll(client: Client, path: string): Promise<() => Promise<void>> {
  const { etag } = (await client.get(path)).headers;
  if (etag === undefined) throw new NotMeasurable(`${path} gives no ETag`);
  return async () => {
    const { status } = await client.get(path, { "if-none-match": etag });
    if (status !== 304) throw new NotMeasurable(`${path} answers ${status} though nothing changed`);
  };
}

/** How long the server's loop is held by listing and paging, and by looking for updates. */
async function held(bench: Bench): Promise<Row[]> {
  const { small, large } = bench.opencode();
  const of = async (history: OpenCodeHistory): Promise<Phase[]> => {
    const phases: Phase[] = [];
    phases.push(
      await watched(bench, history.home, async (client, phase) => {
        await client.body("/api/transcripts?limit=500");
        await pageThrough(client, history);
        phases.push(await phase());
        for (let round = 0; round < 10; round++) {
          // As if another session were being written.
          const now = new Date();
          utimesSync(history.path, now, now);
          await client.body(`${chatPath(history)}?from=tail`);
        }
      }),
    );
    return phases;
  };
  const lesser = await of(small);
  const phases = await of(large);
  const whats = ["listing and paging through the longest chat", "last page while the database is written"];
  return phases.flatMap((phase, index) => delayRows("opencode", whats[index] ?? "", phase, lesser[index]));
}

async function pageThrough(client: Client, history: OpenCodeHistory): Promise<void> {
  for (let cursor = "0"; ; ) {
    const { next } = await client.json<Page>(`${chatPath(history)}?from=${encodeURIComponent(cursor)}`);
    if (next === cursor) return;
    cursor = next;
  }
}

function chatPath(history: OpenCodeHistory): string {
  return `/api/transcripts/opencode/${longest(history).id}/chat`;
}

function longest({ sessions: [first] }: OpenCodeHistory): OpenCodeHistory["sessions"][number] {
  if (first === undefined) throw new Error("no session was written");
  return first;
}

/** ms a time. */
async function each(times: number, work: () => unknown): Promise<number> {
  const ms = await timed(async () => {
    for (let i = 0; i < times; i++) await work();
  });
  return ms / times;
}
