import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { grow } from "../../test/browser/dashboard/grower.ts";
import { USUAL, writeHistory } from "../history.ts";
import { BrowserPages } from "./browser-pages.ts";
import { type Running, runProduct } from "./child.ts";
import { writeOne } from "./histories.ts";
import { type Bench, type Measure, NotMeasurable, type Row } from "./measure.ts";
import { interleaved, percentile } from "./stats.ts";

const SESSIONS = 10_000;
const SESSION_BYTES = 10_000;
const RECORDS_A_SECOND = 1_000;
/** Of frames, of the page that follows and of the empty one, in turn. */
const FRAMES_MS = 4_000;
const FRAMES_ROUNDS = 3;
const SCROLLED_MB = 200;
/** About an hour's worth: more up than down, so that ever more of the session is passed. */
const WHEEL = [700, -300, 700, -300];
const WHEEL_PIXELS = 900;
const MOST_KB = 120;
const FIRST_ROW = 'document.querySelector(".chat-rows [data-key]").dataset.key';
const LIST_MS = 60_000;

/** The dashboard in a browser. */
export const dashboard: Measure = {
  name: "dashboard",
  about:
    "the page in Chromium: its beginning against a page that shows one row; frames while it follows against an empty page's; memory after scrolling against before",
  async run(bench) {
    const home = bench.folder("home");
    bench.progress(`dashboard: writing ${SESSIONS} sessions`);
    writeHistory(home, { ...USUAL, seed: bench.seed, sessions: SESSIONS, bytes: SESSIONS * SESSION_BYTES, agents: 0 });
    const long = writeOne(home, bench.seed + 200, SCROLLED_MB);
    const bridge = bench.folder("bridge");
    const server = await runProduct(home, bridge);
    try {
      await listed(server);
      const pages = await BrowserPages.of(server, bridge);
      try {
        return [
          ...(await beginning(bench, pages)),
          ...(await following(bench, pages, home)),
          ...(await scrolling(bench, pages, `#/claude/${long.id}`)),
          ...(await sizes(server)),
        ];
      } finally {
        await pages.close();
      }
    } finally {
      await server.close();
    }
  },
};

/** Comes back when the server knows all sessions. */
async function listed(server: Running): Promise<void> {
  for (const giveUp = performance.now() + LIST_MS; performance.now() < giveUp; ) {
    const { total } = await server.client.json<{ total: number }>("/api/transcripts?limit=1");
    if (total > SESSIONS) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new NotMeasurable(`not all sessions are listed within ${LIST_MS / 1000} s`);
}

async function beginning({ rounds, progress }: Bench, pages: BrowserPages): Promise<Row[]> {
  progress("dashboard: opening the page");
  const at = async (name: "paint" | "row") =>
    interleaved(rounds, {
      ours: async () => (await pages.begin("ours"))[name],
      bare: async () => (await pages.begin("bare"))[name],
    });
  const row = { measure: "dashboard", unit: "ms", compare: "ratio" } as const;
  return [
    { ...row, what: `first paint, ${SESSIONS} sessions; bare shows one row`, ...(await at("paint")) },
    { ...row, what: `first session's row, ${SESSIONS} sessions; bare shows one row`, ...(await at("row")) },
  ];
}

async function following({ progress }: Bench, pages: BrowserPages, home: string): Promise<Row[]> {
  progress("dashboard: following a session that grows");
  const session = "7bce4c68-9fa0-41d1-8db7-6ebf9c8fd176";
  const growing = grow(home, session, join(home, "work"), RECORDS_A_SECOND);
  const ours: number[] = [];
  const bare: number[] = [];
  try {
    for (let round = 0; round < FRAMES_ROUNDS; round++) {
      bare.push(...(await pages.gaps(FRAMES_MS)));
      ours.push(...(await pages.gaps(FRAMES_MS, `#/claude/${session}`)));
    }
  } finally {
    await growing.stop();
  }
  return [50, 99, 100].map((percent) => ({
    measure: "dashboard",
    what: `frames, ${percent === 100 ? "longest gap" : `p${percent} of gaps`}, following ${RECORDS_A_SECOND} records/s; bare is an empty page`,
    unit: "ms",
    compare: "ratio",
    ours: percentile(ours, percent),
    bare: percentile(bare, percent),
  }));
}

function scrolling({ progress }: Bench, pages: BrowserPages, hash: string): Promise<Row[]> {
  progress("dashboard: scrolling");
  return pages.chat(hash, async (page, held) => {
    const before = await held();
    const shown = async (): Promise<unknown> => page.evaluate(FIRST_ROW);
    const first = await shown();
    await page.mouse.move(640, 500);
    for (const steps of WHEEL) {
      for (let step = 0; step < Math.abs(steps); step++) await page.mouse.wheel(0, -Math.sign(steps) * WHEEL_PIXELS);
    }
    if ((await shown()) === first) throw new NotMeasurable("the wheel did not scroll the chat");
    const after = await held();
    const steps = WHEEL.reduce((sum, one) => sum + Math.abs(one), 0);
    const row = { measure: "dashboard", compare: "ratio" } as const;
    const what = `after ${steps} steps through ${SCROLLED_MB} MB; bare is before`;
    return [
      { ...row, what: `JavaScript heap ${what}`, unit: "MB", ours: after.heap, bare: before.heap },
      { ...row, what: `elements ${what}`, unit: "nodes", ours: after.elements, bare: before.elements, aim: "≤ 2000" },
      { ...row, what: `living DOM nodes ${what}`, unit: "nodes", ours: after.alive, bare: before.alive },
    ];
  });
}

async function sizes(server: Running): Promise<Row[]> {
  const files = await Promise.all(
    ["/", "/assets/page.js", "/assets/hub.js", "/assets/page.css"].map((path) => server.client.body(path)),
  );
  const kilobytes = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0) / 1024;
  const row = { measure: "dashboard", unit: "KB", compare: "ratio", bare: MOST_KB } as const;
  return [
    { ...row, what: "HTML, JS and CSS; bare is what they may have", ours: kilobytes(files), aim: "≤ 1 ×" },
    { ...row, what: "the same, gzip", ours: kilobytes(files.map((file) => gzipSync(file))) },
  ];
}
