import { chatPath } from "./chat.ts";
import { type Running, runBare, runProduct } from "./child.ts";
import { type Measure, NotMeasurable, type Row } from "./measure.ts";
import { interleaved, timed } from "./stats.ts";

const POLLS = 200;

/** Polling what has not changed. */
export const idlePoll: Measure = {
  name: "idle-poll",
  about: "a poll that is answered 304 against the same server's /healthz, and that against the bare server",
  async run(bench) {
    const product = await runProduct(bench.chats.home, bench.folder("bridge"));
    const bare = await runBare();
    try {
      const small = await poll(product, `${chatPath(bench.chats.small)}?from=tail`);
      const large = await poll(product, `${chatPath(bench.chats.large)}?from=tail`);
      const list = await poll(product, "/api/transcripts");
      const times = await interleaved(bench.rounds, {
        bare: () => each(() => bare.client.body("/healthz")),
        health: () => each(() => product.client.body("/healthz")),
        small: () => each(small),
        large: () => each(large),
        list: () => each(list),
      });
      const row = { measure: "idle-poll", unit: "µs", compare: "ratio", bare: times.health } as const;
      const rows: Row[] = [
        { ...row, what: "chat, 304", ours: times.large, slope: times.large / times.small },
        { ...row, what: "list, 304", ours: times.list },
        { ...row, what: "/healthz against the bare server", ours: times.health, bare: times.bare },
      ];
      return rows;
    } finally {
      await product.close();
      await bare.close();
    }
  },
};

/** µs a request. */
async function each(request: () => Promise<unknown>): Promise<number> {
  const ms = await timed(async () => {
    for (let i = 0; i < POLLS; i++) await request();
  });
  return (ms * 1000) / POLLS;
}

/** A poll of `path` that is to be answered 304. */
async function poll(server: Running, path: string): Promise<() => Promise<void>> {
  const { etag } = (await server.client.get(path)).headers;
  if (etag === undefined) throw new NotMeasurable(`${path} gives no ETag`);
  return async () => {
    const { status } = await server.client.get(path, { "if-none-match": etag });
    if (status !== 304) throw new NotMeasurable(`${path} answers ${status} though nothing changed`);
  };
}
