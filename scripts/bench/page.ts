import type { EntryPage, SessionRef, Store } from "../../src/stores/store.ts";
import { cursorOf } from "../../src/transcript/cursor.ts";
import { toItems } from "../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../src/transcript/limits.ts";
import { requireSessionId } from "../../src/transcript/names.ts";
import type { WrittenSession } from "../history.ts";
import { readAndParse } from "./bare-page.ts";
import { chatPath, freshPages, lineCursor, offsetOf, type PageRange, type WrittenChat } from "./chat.ts";
import { type Running, runBare, runProduct } from "./child.ts";
import type { Bench, Measure, Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";
import { storeOver } from "./store.ts";

const PAGES_A_ROUND = 12;
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
  const store = storeOver(bench.chats.home, "claude");
  const rows: Row[] = [];
  for (const { what, small, large } of contents(bench)) {
    const early = await readInProcess(bench, store, small, "start");
    const late = await readInProcess(bench, store, large, "end");
    const row = { measure: "page", unit: "ms", compare: "ratio", bare: late.bare, aim: AIM } as const;
    rows.push({ ...row, what: `entries, ${what}`, ours: late.entries, slope: late.entries / early.entries });
    rows.push({ ...row, what: `entries to JSON, ${what}`, ours: late.json, slope: late.json / early.json });
  }
  return rows;
}

/** Pages near the start or the end of a chat, read by `store` (also as JSON), and bare: ms a page of 512 KiB. */
export async function readInProcess(bench: Bench, store: Store, session: WrittenChat, where: "start" | "end") {
  const ref = await found(store, session);
  const read = async ({ start, end }: PageRange): Promise<EntryPage> => {
    const page = await store.entries(ref, cursorOf(lineCursor(start)), BUDGET);
    if (offsetOf(page.next) !== end) throw new Error(`a page ends at ${page.next}, not at byte ${end}`);
    return page;
  };
  const each = perPage(bench, session, where);
  return interleaved(
    bench.rounds,
    {
      bare: each(({ start, end }) => readAndParse(session.file, start, end)),
      entries: each(read),
      json: each(async (range) => {
        const { entries, next } = await read(range);
        return Buffer.from(JSON.stringify({ items: toItems(entries), next }));
      }),
    },
    WARM,
  );
}

async function found(store: Store, session: WrittenChat): Promise<SessionRef> {
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
      const early = await readOverHttp(bench, product, bare, small, "start");
      const late = await readOverHttp(bench, product, bare, large, "end");
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

function readOverHttp(bench: Bench, product: Running, bare: Running, session: WrittenSession, where: "start" | "end") {
  const each = perPage(bench, session, where);
  const bareTarget = ({ start, end }: PageRange) =>
    `/page?file=${encodeURIComponent(session.file)}&from=${start}&to=${end}`;
  return interleaved(
    bench.rounds,
    {
      records: each((range) => bare.client.body(bareTarget(range))),
      ours: each(({ start }) => product.client.body(`${chatPath(session)}?from=${lineCursor(start)}`)),
      count: each((range) => bare.client.body(`${bareTarget(range)}&count`)),
    },
    WARM,
  );
}

/** Makes a subject of what is done with a page: ms a page of 512 KiB, each round over pages not read before. */
function perPage(bench: Bench, session: WrittenChat, where: "start" | "end") {
  const all = freshPages(session, where, (WARM + bench.rounds) * PAGES_A_ROUND);
  return (work: (page: PageRange) => unknown) =>
    async (round: number): Promise<number> => {
      const pages = all.filter((_, index) => index % (WARM + bench.rounds) === round);
      const ms = await timed(async () => {
        for (const page of pages) await work(page);
      });
      return (ms * PAGE_BYTES) / pages.reduce((sum, { start, end }) => sum + end - start, 0);
    };
}
