import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Child, type LoopDelay } from "./child.ts";
import { Client } from "./client.ts";
import { delayRows } from "./loop-delay.ts";
import { type Bench, type Measure, NotMeasurable, type Row } from "./measure.ts";
import { percentile } from "./stats.ts";

const DELTAS_PER_SECOND = 100_000;
const RECORDS_PER_SECOND = 10_000;
const SECONDS = 4;
const CLIENTS = 50;
/** Records that are there before the first client comes. */
const BEFORE = 20_000;

/** Recording what an agent says, and streaming it to many while it is recorded. */
export const recorder: Measure = {
  name: "recorder",
  about:
    "recording 100,000 deltas/s against JSON.stringify and one appendFileSync a turn; replay and live events of 10,000 records/s to 50 clients, each record once, against node:http with everything in memory",
  async run(bench) {
    return [
      ...(await recordingRows(bench, "lines")),
      ...(await recordingRows(bench, "words")),
      ...(await streamRows(bench)),
    ];
  },
};

interface Recorded {
  readonly cpuMs: number;
  readonly deltas: number;
  readonly delay: LoopDelay;
}

async function recordingRows(bench: Bench, shape: "lines" | "words"): Promise<Row[]> {
  const ours = await recorded(bench, "ours", shape);
  const bare = await recorded(bench, "bare", shape);
  const idle = await recorded(bench, "idle", shape);
  const what = shape === "lines" ? "a line each" : "twelve a line";
  return [
    {
      measure: "recorder",
      what: `CPU a delta at ${DELTAS_PER_SECOND}/s, ${what} (10 µs are a core)`,
      unit: "µs",
      compare: "ratio",
      ours: (ours.cpuMs * 1000) / ours.deltas,
      bare: (bare.cpuMs * 1000) / bare.deltas,
    },
    ...delayRows("recorder", `recording, ${what}`, { ours: ours.delay, idle: idle.delay }),
  ];
}

async function recorded(bench: Bench, subject: "ours" | "bare" | "idle", shape: string): Promise<Recorded> {
  const args = [subject, bench.folder("recording"), shape, String(DELTAS_PER_SECOND), String(SECONDS)];
  const child = Child.script("recording-child.ts", args);
  try {
    await child.says(/^begins$/m);
    await child.loopDelay();
    const [, deltas, cpuMs] = await child.says(/^(\d+) deltas (\S+) ms$/m);
    return { deltas: Number(deltas), cpuMs: Number(cpuMs), delay: await child.loopDelay() };
  } finally {
    await child.close();
  }
}

interface Streamed {
  readonly cpuMs: number;
  readonly records: number;
  readonly delay: LoopDelay;
  /** From the time a record states to its arrival at the first client: ms, of a sample. */
  readonly lags: readonly number[];
}

async function streamRows(bench: Bench): Promise<Row[]> {
  const idle = Child.idle();
  try {
    await idle.loopDelay();
    const ours = await streamed(bench, "ours");
    const alone = await idle.loopDelay();
    const bare = await streamed(bench, "bare");
    const row = { measure: "recorder", compare: "ratio" } as const;
    const what = `${CLIENTS} clients at ${RECORDS_PER_SECOND} records/s`;
    return [
      {
        ...row,
        what: `CPU a record, ${what} (100 µs are a core)`,
        unit: "µs",
        ours: (ours.cpuMs * 1000) / ours.records,
        bare: (bare.cpuMs * 1000) / bare.records,
      },
      {
        ...row,
        what: `p99 from a record's time to its arrival, ${what}`,
        unit: "ms",
        ours: percentile(ours.lags, 99),
        bare: percentile(bare.lags, 99),
        aim: "≤ 100 ms",
      },
      ...delayRows("recorder", what, { ours: ours.delay, idle: alone }),
    ];
  } finally {
    await idle.close();
  }
}

/** Half of the clients come before the recording begins, half while it goes on. */
async function streamed(bench: Bench, subject: "ours" | "bare"): Promise<Streamed> {
  const args = [subject, bench.folder("home"), String(BEFORE), String(RECORDS_PER_SECOND), String(SECONDS)];
  const child = Child.script("recorded-server.ts", args);
  const client = new Client(await child.port(), {}, CLIENTS);
  const listeners: Listener[] = [];
  const listen = async (): Promise<void> => {
    const response = await client.stream("/sessions/sess_11aa22bb/events/stream");
    listeners.push(new Listener(response, BEFORE + RECORDS_PER_SECOND * SECONDS, listeners.length === 0));
  };
  try {
    for (let i = 0; i < CLIENTS / 2; i++) await listen();
    await listeners[0]?.replayed;
    await child.loopDelay();
    await client.get("/begin");
    for (let i = 0; i < CLIENTS / 2; i++) await listen();
    const [, records, cpuMs] = await child.says(/^recorded (\d+) (\S+)$/m);
    const digests = new Set(await Promise.all(listeners.map(({ all }) => all)));
    if (digests.size !== 1) throw new NotMeasurable("the clients did not all get the same");
    const delay = await child.loopDelay();
    const lags = listeners.flatMap((listener) => listener.lags);
    return { cpuMs: Number(cpuMs), records: Number(records), delay, lags };
  } finally {
    for (const listener of listeners) listener.close();
    client.close();
    await child.close();
  }
}

/** How long a client waits for the last record once nothing more comes. */
const GIVE_UP_MS = 20_000;
/** Every so manyth record's lag is taken. */
const SAMPLE = 97;
/** Behind the last event's id no more than this comes. */
const LAST_BYTES = 512;

/**
 * A client of a stream. The first holds it to every number from 1 on, in order, each once; the others, so as not to be what
 * is measured, to the first one's bytes.
 */
class Listener {
  readonly lags: number[] = [];
  /** A digest of all that came, when the last record has. @throws NotMeasurable: one was missing or came twice, or nothing came for 20 s */
  readonly all: Promise<string>;
  /** When the first one has all that was there before. */
  readonly replayed: Promise<void>;
  readonly #response: IncomingMessage;
  readonly #last: string;
  readonly #hash = createHash("sha1");
  readonly #patience: NodeJS.Timeout;
  #resolve: (digest: string) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #replayed = (): void => {};
  #rest = "";
  #seq = 0;
  #end = "";

  constructor(response: IncomingMessage, last: number, isFirst: boolean) {
    this.#response = response;
    this.#last = `id: ${last}\n`;
    this.all = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.all.catch(() => {});
    this.replayed = new Promise((resolve) => {
      this.#replayed = resolve;
    });
    const giveUp = (): void => this.#reject(new NotMeasurable("a client did not get the last record"));
    this.#patience = setTimeout(giveUp, GIVE_UP_MS);
    response.on("error", () => {});
    response.on("data", (bytes: Buffer) => this.#take(bytes, isFirst));
  }

  close(): void {
    clearTimeout(this.#patience);
    this.#response.destroy();
  }

  #take(bytes: Buffer, isFirst: boolean): void {
    this.#patience.refresh();
    this.#hash.update(bytes);
    if (isFirst) this.#check(this.#rest + bytes.toString("latin1"));
    this.#end = (this.#end + bytes.subarray(-LAST_BYTES).toString("latin1")).slice(-LAST_BYTES);
    if (this.#end.includes(this.#last) && this.#end.endsWith("\n\n")) this.#resolve(this.#hash.digest("hex"));
  }

  #check(held: string): void {
    let from = 0;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n", from)) {
      this.#event(held, from);
      from = end + 2;
    }
    this.#rest = held.slice(from);
  }

  #event(held: string, start: number): void {
    const seq = Number.parseInt(held.slice(start + 4, start + 20), 10);
    if (seq !== this.#seq + 1) this.#reject(new NotMeasurable(`record ${seq} came behind ${this.#seq}`));
    this.#seq = seq;
    if (seq === BEFORE) this.#replayed();
    if (seq <= BEFORE || seq % SAMPLE !== 0) return;
    const ts = held.indexOf('"ts":"', start) + 6;
    this.lags.push(Date.now() - Date.parse(held.slice(ts, ts + 24)));
  }
}
