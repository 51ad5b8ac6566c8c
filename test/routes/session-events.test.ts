import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Random } from "../../scripts/history/random.ts";
import { Failure } from "../../src/platform/failure.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import type { Recorded } from "../../src/routes/recorded-events.ts";
import { sessionEventRoutes } from "../../src/routes/session-events.ts";
import type { Route } from "../../src/server/route.ts";
import { sessionIdOf } from "../../src/transcript/names.ts";
import { COOKIE, serve } from "../server/harness.ts";
import { Home } from "../stores/recorded/home.ts";
import { ask, refusal } from "../support/ask.ts";
import { sid } from "../support/fake-store.ts";
import { until } from "../support/turns.ts";

const EVENTS = "/api/sessions/ses_1/events";
const plain = (seq: number, text = ""): string =>
  `{"seq":${seq},"kind":"notice","big":12345678901234567890,"text":"${text}"}\n`;
const plains = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => plain(from + index)).join("");

/** A home and the routes over it; sessions that are `known` exist also without a recording. */
function served(t: TestContext): { home: Home; routes: readonly Route[] } {
  const home = new Home(t);
  const find = async ({ id = "" }: { readonly [name: string]: string }): Promise<Recorded> => {
    const sessionId = sessionIdOf(id);
    const locate = () => home.store.find(sid(id));
    const ref = sessionId && (await locate());
    if (sessionId === undefined || (ref === undefined && id !== "ses_1"))
      throw new Failure("not-found", "no such session");
    return { sessionId, store: home.store, ref, locate };
  };
  const routes = sessionEventRoutes({ prefix: "/api/sessions/:id", what: "a session", find }, { timer: systemTimer });
  return { home, routes };
}

/** A client of a stream: what it was sent so far. */
class Client {
  readonly end = new AbortController();
  text = "";
  readonly done: Promise<void>;

  constructor(t: TestContext, routes: readonly Route[], target: string, lastEventId?: string) {
    t.after(() => this.end.abort());
    this.done = this.#read(routes, target, lastEventId);
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? "");
  }

  async #read(routes: readonly Route[], target: string, lastEventId?: string): Promise<void> {
    const { signal } = this.end;
    const answer = await ask(routes, target, { signal, ...(lastEventId !== undefined && { lastEventId }) });
    if (answer.kind !== "events") throw new Error("no stream");
    for await (const event of answer.events) {
      this.text += "wire" in event ? Buffer.from(event.wire).toString() : `event: ${event.event}\nid: ${event.id}\n\n`;
    }
  }
}

const upTo = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

test("a page holds the records just as they stand", async (t) => {
  const { home, routes } = served(t);
  home.write("ses_1", plains(1, 3));
  utimesSync(home.file("ses_1"), 1_700_000_000, 1_700_000_000);
  const server = await serve(t, routes);
  const { status, headers, body } = await server.ask(`${EVENTS}?since=1`, { headers: COOKIE });
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "application/json; charset=utf-8");
  assert.equal(
    body,
    `{"sessionId":"ses_1","events":[${plain(2).trimEnd()},${plain(3).trimEnd()}],"nextSeq":3,"complete":true}`,
  );
  const etag = headers.etag ?? "";
  const again = () => server.ask(`${EVENTS}?since=1`, { headers: { ...COOKIE, "if-none-match": etag } });
  assert.equal((await again()).status, 304);
  home.append("ses_1", plain(4));
  assert.equal((await again()).status, 200);
});

test("a limit ends a page, and nextSeq goes on behind it", async (t) => {
  const { home, routes } = served(t);
  home.write("ses_1", plains(1, 700));
  const page = async (query: string): Promise<{ events: { seq: number }[]; nextSeq: number; complete: boolean }> => {
    const answer = await ask(routes, `${EVENTS}${query}`);
    assert.ok(answer.kind === "text");
    return JSON.parse(String(answer.body));
  };
  const first = await page("");
  assert.deepEqual([first.events.length, first.nextSeq, first.complete], [500, 500, false]);
  const rest = await page("?since=500&limit=2000");
  assert.deepEqual([rest.events.length, rest.nextSeq, rest.complete], [200, 700, true]);
});

test("a query that is not well-formed is refused, and so is a session that is not there", async (t) => {
  const { home, routes } = served(t);
  home.write("ses_1", plains(1, 3));
  for (const query of ["since=x", "since=", "since=1e999", "limit=0", "limit=2001", "limit="]) {
    assert.equal(await refusal(routes, `${EVENTS}?${query}`), "bad-request", query);
  }
  assert.equal(await refusal(routes, `${EVENTS}/stream?since=x`), "bad-request");
  assert.equal(await refusal(routes, `${EVENTS}/stream`, { lastEventId: "x" }), "bad-request");
  for (const path of ["events", "events/stream"]) {
    assert.equal(await refusal(routes, `/api/sessions/ses_2/${path}`), "not-found");
  }
});

test("a session of which nothing is recorded yet is an empty page, and its stream waits for the first record", async (t) => {
  const { home, routes } = served(t);
  const answer = await ask(routes, `${EVENTS}?since=0`);
  assert.ok(answer.kind === "json");
  assert.deepEqual(answer.body, { sessionId: "ses_1", events: [], nextSeq: 0, complete: true });
  const client = new Client(t, routes, `${EVENTS}/stream`);
  rmSync(join(home.path, ".agentproto"), { recursive: true });
  home.write("ses_1", plain(1));
  await until(() => client.ids.length > 0);
  home.append("ses_1", plain(2));
  await until(() => client.ids.length > 1);
  assert.deepEqual(client.ids, ["1", "2"]);
});

test("a stream sends what is there and what comes, each record with its number as the id, and ends with the client", async (t) => {
  const { home, routes } = served(t);
  home.write("ses_1", plains(1, 5000));
  const client = new Client(t, routes, `${EVENTS}/stream?since=2`);
  await until(() => client.ids.length === 4998);
  home.append("ses_1", plain(5001));
  await until(() => client.ids.length === 4999);
  assert.deepEqual(client.ids, upTo(3, 5001));
  assert.ok(client.text.startsWith(`id: 3\ndata: ${plain(3)}\n`));
  client.end.abort();
  await client.done;
});

test("Last-Event-ID wins over since", async (t) => {
  const { home, routes } = served(t);
  home.write("ses_1", plains(1, 9));
  const client = new Client(t, routes, `${EVENTS}/stream?since=2`, "7");
  await until(() => client.ids.length > 0);
  assert.deepEqual(client.ids, ["8", "9"]);
});

test("a recording that begins anew is announced, one that goes on with its numbers goes on", async (t) => {
  const { home, routes } = served(t);
  const file = home.file("ses_1");
  home.write("ses_1", plains(1, 5));
  const client = new Client(t, routes, `${EVENTS}/stream`);
  await until(() => client.ids.length === 5);
  rmSync(dirname(file), { recursive: true });
  home.write("ses_1", plains(5, 7));
  await until(() => client.ids.length === 7);
  writeFileSync(`${file}.new`, plains(1, 2));
  renameSync(`${file}.new`, file);
  await until(() => client.ids.length === 10);
  truncateSync(file, 0);
  appendFileSync(file, plains(1, 1));
  await until(() => client.ids.length === 12);
  assert.deepEqual(client.ids, [...upTo(1, 7), "0", "1", "2", "0", "1"]);
  assert.equal(client.text.match(/^event: reset$/gm)?.length, 2);
});

test("streams that begin at any moment of a busy recording get each record once", async (t) => {
  const seed = Date.now() % 2 ** 31;
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  const { home, routes } = served(t);
  const bytes = Buffer.from(plains(1, 20_000));
  mkdirSync(dirname(home.file("ses_1")), { recursive: true });
  const clients: { readonly client: Client; readonly since: number }[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = from + random.between(1, 40_000);
    appendFileSync(home.file("ses_1"), bytes.subarray(from, to));
    from = to;
    if (clients.length < 20 && random.between(0, 2) === 0) {
      const since = random.pick([0, random.between(0, 20_000)]);
      clients.push({ since, client: new Client(t, routes, `${EVENTS}/stream?since=${since}`) });
    }
    for (let i = random.between(0, 5); i > 0; i--) await new Promise(setImmediate);
  }
  for (const { client, since } of clients) {
    await until(() => since === 20_000 || client.ids.at(-1) === "20000");
    assert.deepEqual(client.ids, upTo(since + 1, 20_000), `seed ${seed} since ${since}`);
  }
});
