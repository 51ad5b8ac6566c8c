import type { SessionRef, Store } from "../../src/stores/store.ts";
import { cursorOf } from "../../src/transcript/cursor.ts";
import { toItems } from "../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../src/transcript/limits.ts";
import { requireSessionId } from "../../src/transcript/names.ts";
import type { WrittenSession } from "../history.ts";
import { readAndParse } from "./bare-page.ts";
import { chatPath, type PageRange, pagesOf, pageThrough } from "./chat.ts";
import { type Running, runBare, runProduct } from "./child.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";
import { claudeStoreOver } from "./store.ts";

const MOST_PAGES = 16;
const WARM = 3;
const BUDGET = { bytes: PAGE_BYTES, parts: PAGE_PARTS };
const AIM = "≤ 1.5 ×";

/** A chat page against the bare read and parse of the same bytes, in this process and over HTTP. */
export const page: Measure = {
  name: "page",
  about: "a chat page (512 KiB) against one open, read and JSON.parse of every line of the same bytes",
  async run(bench) {
    return [...(await inProcess(bench)), ...(await overHttp(bench))];
  },
};

/** The contents that pages are measured on, each in a small file from its start and at the end of a large one. */
function contents({ chats }: Bench): { what: string; small: WrittenSession; large: WrittenSession }[] {
  return [
    { what: "usual history", small: chats.small, large: chats.large },
    { what: "all shown", small: chats.denseSmall, large: chats.denseLarge },
  ];
}

async function inProcess(bench: Bench): Promise<Row[]> {
  const store = claudeStoreOver(bench.chats.home);
  const rows: Row[] = [];
  for (const { what, small, large } of contents(bench)) {
    const early = await readInProcess(bench, store, small, "first");
    const late = await readInProcess(bench, store, large, "last");
    const row = { measure: "page", unit: "ms", compare: "ratio", bare: late.bare, aim: AIM } as const;
    rows.push({ ...row, what: `entries, ${what}`, ours: late.entries, slope: late.entries / early.entries });
    rows.push({ ...row, what: `entries to JSON, ${what}`, ours: late.json, slope: late.json / early.json });
  }
  return rows;
}

/** Times per page of 512 KiB. */
async function readInProcess(bench: Bench, store: Store, session: WrittenSession, which: "first" | "last") {
  const ref = await found(store, session);
  const read = (cursor: string) => store.entries(ref, cursorOf(cursor), BUDGET);
  const pages = chosen(await pagesOf(async (cursor) => (await read(cursor)).next), which);
  const perPage = PAGE_BYTES / bytesOf(pages);
  const each = async (work: (page: PageRange) => unknown): Promise<number> =>
    perPage *
    (await timed(async () => {
      for (const range of pages) await work(range);
    }));
  return interleaved(
    bench.rounds,
    {
      bare: () => each(({ start, end }) => readAndParse(session.file, start, end)),
      entries: () => each(({ cursor }) => read(cursor)),
      json: () =>
        each(async ({ cursor }) => {
          const { entries, next } = await read(cursor);
          return Buffer.from(JSON.stringify({ items: toItems(entries), next }));
        }),
    },
    WARM,
  );
}

async function found(store: Store, session: WrittenSession): Promise<SessionRef> {
  const ref = await store.find(requireSessionId(session.id));
  if (ref === undefined) throw new Error(`the store does not find ${session.id}`);
  return ref;
}

async function overHttp(bench: Bench): Promise<Row[]> {
  const product = await runProduct(bench.chats.home, bench.folder("bridge"));
  const bare = await runBare();
  try {
    const rows: Row[] = [];
    for (const { what, small, large } of contents(bench)) {
      const early = await readOverHttp(bench, product, bare, small, "first");
      const late = await readOverHttp(bench, product, bare, large, "last");
      const row = { measure: "page", unit: "ms", compare: "ratio", ours: late.ours } as const;
      const slope = late.ours / early.ours;
      rows.push({ ...row, what: `HTTP, ${what}; bare answers the records`, bare: late.records, slope, aim: AIM });
      rows.push({ ...row, what: `HTTP, ${what}; bare answers their number`, bare: late.count, slope });
    }
    return rows;
  } finally {
    await product.close();
    await bare.close();
  }
}

async function readOverHttp(
  bench: Bench,
  product: Running,
  bare: Running,
  session: WrittenSession,
  which: "first" | "last",
) {
  const path = chatPath(session);
  const pages = chosen(await pageThrough(product.client, path), which);
  const perPage = PAGE_BYTES / bytesOf(pages);
  const each = async (server: Running, target: (page: PageRange) => string): Promise<number> =>
    perPage *
    (await timed(async () => {
      for (const range of pages) await server.client.body(target(range));
    }));
  const bareTarget = ({ start, end }: PageRange) =>
    `/page?file=${encodeURIComponent(session.file)}&from=${start}&to=${end}`;
  return interleaved(
    bench.rounds,
    {
      records: () => each(bare, bareTarget),
      ours: () => each(product, ({ cursor }) => `${path}?from=${encodeURIComponent(cursor)}`),
      count: () => each(bare, (range) => `${bareTarget(range)}&count`),
    },
    WARM,
  );
}

/** Full pages only: the last page of a file is a remainder. */
function chosen(pages: readonly PageRange[], which: "first" | "last"): PageRange[] {
  const full = pages.slice(0, Math.max(1, pages.length - 1));
  return which === "first" ? full.slice(0, MOST_PAGES) : full.slice(-MOST_PAGES);
}

function bytesOf(pages: readonly PageRange[]): number {
  return pages.reduce((sum, { start, end }) => sum + end - start, 0);
}
