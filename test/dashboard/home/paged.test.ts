import assert from "node:assert/strict";
import { test } from "node:test";
import { PagedList, type PageOf } from "../../../src/dashboard/app/home/paged.ts";

interface Row {
  readonly id: string;
  readonly updatedAt: number;
}

/** A server's list, and what was asked of it. */
class Server {
  rows: Row[];
  readonly asked: string[] = [];
  fails = false;

  constructor(count: number) {
    this.rows = Array.from({ length: count }, (_, at) => ({ id: `s${at}`, updatedAt: (count - at) * 600_000 }));
  }

  readonly read = async (before: string | undefined, limit: number): Promise<PageOf<Row>> => {
    this.asked.push(`${before ?? "start"}+${limit}`);
    if (this.fails) throw new Error("gone");
    const start = before === undefined ? 0 : this.rows.findIndex(({ updatedAt }) => updatedAt < Number(before));
    const rows = this.rows.slice(start, start + limit);
    const ends = start + limit >= this.rows.length;
    return { rows, next: ends ? null : String(rows.at(-1)?.updatedAt), total: this.rows.length };
  };

  update(id: string): void {
    const updatedAt = Math.max(...this.rows.map((row) => row.updatedAt)) + 600_000;
    this.rows = [{ id, updatedAt }, ...this.rows.filter((row) => row.id !== id)];
  }
}

function listOf(server: Server): PagedList<Row> & { readonly changes: () => number } {
  let changes = 0;
  const list = new PagedList<Row>({
    read: server.read,
    keyOf: ({ id }) => id,
    changed: () => changes++,
    size: 10,
  });
  return Object.assign(list, { changes: () => changes });
}

const first = (list: PagedList<Row>, count: number): string =>
  list.rows
    .slice(0, count)
    .map(({ id }) => id)
    .join(" ");

test("a list is read page by page, each row once", async () => {
  const server = new Server(25);
  const list = listOf(server);
  await list.start();
  assert.equal(list.rows.length, 10);
  server.update("s20");
  await list.more();
  await list.more();
  assert.equal(list.hasMore, false);
  await list.more();
  assert.equal(server.asked.length, 3);
  assert.equal(new Set(list.rows.map(({ id }) => id)).size, list.rows.length);
});

test("as many rows as were read before are read at once", async () => {
  const server = new Server(1200);
  const list = listOf(server);
  await list.start(700);
  assert.deepEqual(
    server.asked.map((each) => each.replace(/^\d+/, "then")),
    ["start+500", "then+200"],
  );
  assert.equal(list.rows.length, 700);
});

test("what is updated moves to the top at once, or waits there while one reads on", async () => {
  const server = new Server(30);
  const list = listOf(server);
  await list.start();
  server.update("s4");
  await list.refresh(() => false);
  assert.equal(first(list, 3), "s4 s0 s1");
  server.update("s2");
  server.update("new");
  await list.refresh(() => true);
  assert.equal(first(list, 5), "s4 s0 s1 s2 s3");
  assert.equal(list.held, 2);
  assert.equal(list.rows[3]?.updatedAt, server.rows[1]?.updatedAt);
  await list.more();
  assert.equal(list.rows.at(-1)?.id, "s19");
  list.apply();
  assert.equal(first(list, 5), "new s2 s4 s0 s1");
  assert.equal(list.held, 0);
});

test("when more is new than a page holds, nothing is missing", async () => {
  const server = new Server(40);
  const list = listOf(server);
  await list.start(30);
  for (let at = 0; at < 25; at++) server.update(`n${at}`);
  await list.refresh(() => false);
  assert.deepEqual(
    list.rows.slice(0, 40).map(({ id }) => id),
    server.rows.slice(0, 40).map(({ id }) => id),
  );
});

test("what could not be read is told, what was read stays, and it can be tried again", async () => {
  const server = new Server(30);
  const list = listOf(server);
  await list.start();
  server.fails = true;
  await list.more();
  assert.equal(list.trouble?.of, "more");
  assert.equal(list.rows.length, 10);
  await list.refresh(() => false);
  assert.equal(list.trouble?.of, "news");
  server.fails = false;
  await list.refresh(() => false);
  assert.equal(list.trouble, undefined);
  await list.more();
  assert.equal(list.rows.length, 20);
});

test("a list that could not be read at first is read when it is to be brought up to date", async () => {
  const server = new Server(5);
  server.fails = true;
  const list = listOf(server);
  await list.start();
  assert.equal(list.trouble?.of, "first");
  server.fails = false;
  await list.refresh(() => false);
  assert.equal(list.ready, true);
  assert.equal(list.rows.length, 5);
});

test("a list that was left tells nothing any more", async () => {
  const server = new Server(5);
  const list = listOf(server);
  const started = list.start();
  list.close();
  const before = list.changes();
  await started;
  assert.equal(list.changes(), before);
});
