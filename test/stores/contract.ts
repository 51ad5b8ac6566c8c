import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Clock, EpochMs } from "../../src/platform/clock.ts";
import { Failure } from "../../src/platform/failure.ts";
import type { Budget, SessionRef, Store } from "../../src/stores/store.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { toItems } from "../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../src/transcript/limits.ts";
import { requireSessionId, type SessionId } from "../../src/transcript/names.ts";
import { divides } from "./refs.ts";

/** The part of a store that reads chats. */
export type ChatStore = Pick<Store, "agent" | "find" | "entries" | "before" | "record" | "children" | "child">;

/** What the suite has to know of a store. */
export interface ContractGiven {
  /** A folder with a whole home of the agent, which each test copies. */
  readonly fixtures: string;
  /** The sessions in it whose chats are read, with all their children. */
  readonly sessions: readonly string[];
  /** A store that has seen nothing, over the home at `home`. Without a clock it is long after the fixtures. */
  open(home: string, clock?: Clock): ChatStore;
  /** Cursors that are malformed, too large, or of another kind of store. */
  readonly foreignCursors: readonly string[];
}

/** What the suite has to know of a store whose chats are JSONL files, each of a single file. */
export interface JsonlContractGiven extends ContractGiven {
  /** The transcript of a session (or of a child of it) below `home`. */
  transcript(home: string, session: string, child?: string): string;
  /** A line, without its newline, that shows one item of the user's with this text. */
  line(session: string, text: string): string;
}

/** A chat of a fixture. */
interface Chat {
  readonly name: string;
  readonly session: string;
  readonly child?: SessionId;
}

const WHOLE: Budget = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** What every store promises (CONTRACT §3), whatever it reads. */
export function storeContract(given: ContractGiven): void {
  for (const session of given.sessions) {
    test(`${session}: paging gives what one read gives, forward, backward and from every position`, async (t) => {
      const { home } = copied(t, given);
      for (const chat of await chatsOf(given, home, session)) await pagesEveryWay(given, home, chat);
    });

    test(`${session}: the refs of items divide a chat, backward and forward`, async (t) => {
      const { home } = copied(t, given);
      for (const chat of await chatsOf(given, home, session)) await dividesAtRefs(given, home, chat);
    });

    test(`${session}: reading leaves the store as it was`, async (t) => {
      const { home } = copied(t, given);
      const before = stateOf(home);
      const store = given.open(home);
      for (const chat of await chatsOf(given, home, session)) {
        const ref = await refOf(store, chat);
        for (const entry of await wholeChat(store, ref)) await store.record(ref, entry.pos);
        await store.before(ref, "tail", WHOLE);
      }
      assert.deepEqual(stateOf(home), before);
    });
  }

  test("a child is found under its own session alone", async (t) => {
    const { home } = copied(t, given);
    const store = given.open(home);
    const all = new Map<string, readonly SessionId[]>();
    for (const session of given.sessions) {
      const { children } = await store.children(await refOf(store, { name: session, session }));
      all.set(
        session,
        children.map(({ id }) => id),
      );
    }
    for (const session of given.sessions) {
      const ref = await refOf(store, { name: session, session });
      for (const [owner, ids] of all) {
        for (const id of ids) {
          const own = all.get(session)?.includes(id) === true;
          assert.equal((await store.child(ref, id)) !== undefined, own, `${id} of ${owner} under ${session}`);
        }
      }
      assert.equal(await store.child(ref, requireSessionId("no-such-child")), undefined);
      assert.equal(await store.child(ref, requireSessionId(session)), undefined);
    }
  });

  test("no cursor but its own is read", async (t) => {
    const { home } = copied(t, given);
    const store = given.open(home);
    const ref = await refOf(store, { name: "", session: first(given.sessions) });
    for (const cursor of given.foreignCursors) {
      await assert.rejects(store.entries(ref, cursor as Cursor, WHOLE), isFailure("bad-request"), cursor);
      await assert.rejects(store.before(ref, cursor as Cursor, WHOLE), isFailure("bad-request"), cursor);
      await assert.rejects(store.record(ref, cursor as Cursor), isFailure("bad-request"), cursor);
    }
  });
}

/** What a store of JSONL files promises besides. */
export function jsonlStoreContract(given: JsonlContractGiven): void {
  for (const session of given.sessions) {
    test(`${session}: a chat that grows byte by byte tells every record once, as soon as its newline is there`, async (t) => {
      const { home } = copied(t, given);
      for (const chat of await chatsOf(given, home, session)) await growsByteByByte(given, home, chat);
    });
  }

  const session = first(given.sessions);
  const main: Chat = { name: session, session };

  test("a transcript that was cut short starts again", async (t) => {
    const { home } = copied(t, given);
    const store = given.open(home);
    const ref = await refOf(store, main);
    const end = await endOf(store, ref);
    const file = given.transcript(home, session);
    const short = readFileSync(file).indexOf(0x0a) + 1;
    truncateSync(file, short);
    const page = await store.entries(ref, end, WHOLE);
    assert.equal(page.reset, true);
    assert.deepEqual(page.entries, await wholeChat(given.open(home), ref));
    // Grown again beyond the old end: a cursor of what was cut away is not taken for one of what is there now.
    appendFileSync(file, `${given.line(session, "x".repeat(offsetOf(end)))}\n`.repeat(2));
    assert.equal((await store.entries(ref, end, WHOLE)).reset, true);
    assert.equal((await store.entries(ref, page.next, WHOLE)).reset, undefined);
  });

  test("a transcript that was replaced starts again, even by one of the same size", async (t) => {
    const { home } = copied(t, given);
    const stores = [given.open(home), given.open(home)] as const;
    const ref = await refOf(stores[0], main);
    const [end] = await Promise.all(stores.map((store) => endOf(store, ref)));
    assert.ok(end);
    const file = given.transcript(home, session);
    const { length } = readFileSync(file);
    const bare = given.line(session, "").length + 1;
    const text = "y".repeat(length - bare);
    writeFileSync(`${file}.new`, `${given.line(session, text)}\n`);
    renameSync(`${file}.new`, file);
    const page = await stores[0].entries(ref, end, WHOLE);
    assert.equal(page.reset, true);
    assert.deepEqual(texts(page.entries), [text]);
    assert.equal((await stores[0].entries(ref, page.next, WHOLE)).reset, undefined);
    await assert.rejects(stores[1].record(ref, end), isFailure("not-found"));
    const above = await stores[1].before(ref, end, WHOLE);
    assert.equal(above.reset, true);
    assert.deepEqual(texts(above.entries), [text]);
  });

  test("a record over the limit is told once, with its size, and what stands around it is shown", async (t) => {
    const { home } = copied(t, given);
    const ref = await refOf(given.open(home), main);
    const budget = { ...WHOLE, bytes: 4096 };
    const line = (text: string): string => `${given.line(session, text)}\n`;
    const long = line("z".repeat(20_000));
    writeFileSync(
      given.transcript(home, session),
      line("before") + long + line("between") + long + long + line("behind"),
    );
    const store = given.open(home);
    const expected = ["before", `oversized ${long.length}`, "between", `oversized ${long.length}`];
    const told = (entries: readonly Entry[]): string[] => entries.flatMap((entry) => toldOf(entry) ?? []);
    assert.deepEqual(told(await wholeChat(store, ref, budget)), [...expected, `oversized ${long.length}`, "behind"]);
    assert.deepEqual(told(await wholeBackward(store, ref, budget)), [
      ...expected,
      `oversized ${long.length}`,
      "behind",
    ]);
    const tail = await store.before(ref, "tail", { ...budget, bytes: line("behind").length });
    assert.deepEqual(told(tail.entries), ["behind"]);
    const above = await store.before(ref, tail.prev as Cursor, budget);
    assert.deepEqual(told(above.entries), [`oversized ${long.length}`]);
    assert.deepEqual(texts(await store.record(ref, first(above.entries).pos)), ["z".repeat(20_000)]);
  });

  test("a half-written line waits for its newline, a half-written character for its other bytes", async (t) => {
    const { home } = copied(t, given);
    const file = given.transcript(home, session);
    writeFileSync(file, "");
    const store = given.open(home);
    const ref = await refOf(store, main);
    const bytes = Buffer.from(`${given.line(session, "größer 😀 done")}\n`);
    let from = (await store.entries(ref, START, WHOLE)).next;
    for (const [index, byte] of bytes.entries()) {
      appendFileSync(file, Buffer.of(byte));
      const page = await store.entries(ref, from, WHOLE);
      assert.deepEqual(texts(page.entries), index === bytes.length - 1 ? ["größer 😀 done"] : []);
      from = page.next;
    }
  });

  test("what a link outside the store leads to is not read", async (t) => {
    const { home, outside } = copied(t, given);
    const store = given.open(home);
    const ref = await refOf(store, main);
    const file = given.transcript(home, session);
    const secret = join(outside, "secret.jsonl");
    writeFileSync(secret, `${given.line(session, "secret")}\n`);
    rmSync(file);
    symlinkSync(secret, file);
    await assert.rejects(store.entries(ref, START, WHOLE), isFailure("not-found"));
    await assert.rejects(store.before(ref, "tail", WHOLE), isFailure("not-found"));
    await assert.rejects(store.record(ref, START), isFailure("not-found"));
  });

  test("a transcript that is gone is not found", async (t) => {
    const { home } = copied(t, given);
    const store = given.open(home);
    const ref = await refOf(store, main);
    rmSync(given.transcript(home, session));
    await assert.rejects(store.entries(ref, START, WHOLE), isFailure("not-found"));
    await assert.rejects(store.before(ref, "tail", WHOLE), isFailure("not-found"));
    await assert.rejects(store.children(ref), isFailure("not-found"));
  });

  test("a subagent names the files of its session that it stands on", async (t) => {
    const { home } = copied(t, given);
    const store = given.open(home);
    const stamps = async (chat: Chat): Promise<string[]> => {
      const ref = await refOf(store, chat);
      const { uses } = await store.entries(ref, START, WHOLE);
      return [...uses.map(({ path }) => path), ...(ref.standsOn ?? [])].map((path) => realpathSync(path));
    };
    for (const each of given.sessions) {
      const children = (await chatsOf(given, home, each)).slice(1);
      for (const chat of children) {
        assert.ok((await stamps(chat)).includes(realpathSync(given.transcript(home, each))), chat.name);
      }
    }
  });

  test("no record stands where no line begins", async (t) => {
    const { home } = copied(t, given);
    const store = given.open(home);
    const ref = await refOf(store, main);
    const end = offsetOf(await endOf(store, ref));
    for (const cursor of ["j:1:0", "j:0:1", `j:${end}:0`, `j:${end + 1}:0`, `j:${Number.MAX_SAFE_INTEGER}:0`]) {
      await assert.rejects(store.record(ref, cursor as Cursor), isFailure("not-found"), cursor);
    }
  });
}

async function pagesEveryWay(given: ContractGiven, home: string, chat: Chat): Promise<void> {
  const store = given.open(home);
  const ref = await refOf(store, chat);
  const page = await store.entries(ref, START, WHOLE);
  const whole = page.entries;
  const again = await store.entries(ref, page.next, WHOLE);
  assert.deepEqual([again.entries, again.next, again.reset], [[], page.next, undefined], `${chat.name} has no more`);
  const positions = [...new Set(whole.map(({ pos }) => pos))];

  for (const bytes of await budgetsOf(store, ref, positions)) {
    // A store that remembers nothing must give the same as one that has read the rest.
    for (const reader of [store, given.open(home)]) {
      const budget = { bytes, parts: 3 };
      assert.deepEqual(await wholeChat(reader, ref, budget), whole, `${chat.name} forward by ${bytes}`);
      assert.deepEqual(await wholeBackward(reader, ref, budget), whole, `${chat.name} backward by ${bytes}`);
    }
  }
  const reader = given.open(home);
  for (const pos of positions) {
    const from = whole.findIndex((entry) => entry.pos === pos);
    const ids = new Set(whole.slice(0, from).flatMap(({ id }) => id ?? []));
    // An item that began before may be gone on with behind.
    const read = (await reader.entries(ref, pos, WHOLE)).entries.filter(({ id }) => id === undefined || !ids.has(id));
    assert.deepEqual(read, whole.slice(from), `${chat.name} from ${pos}`);
    const above = await reader.before(ref, pos, WHOLE);
    assert.deepEqual(above.entries, whole.slice(0, from), `${chat.name} before ${pos}`);
    assert.equal(above.next, pos);
  }
  for (const pos of positions) {
    const own = whole.filter((entry) => entry.pos === pos);
    const alone = await given.open(home).record(ref, pos);
    assert.deepEqual(shapesOf(alone), shapesOf(own), `${chat.name} at ${pos}`);
  }
  const tail = await given.open(home).before(ref, "tail", WHOLE);
  assert.deepEqual(tail.entries, whole, `${chat.name} at its end`);
  assert.equal(tail.prev, null);
  assert.deepEqual((await reader.entries(ref, tail.next, WHOLE)).entries, []);
}

async function dividesAtRefs(given: ContractGiven, home: string, chat: Chat): Promise<void> {
  const store = given.open(home);
  const ref = await refOf(store, chat);
  const whole = await wholeChat(store, ref);
  const sizes = await budgetsOf(store, ref, [...new Set(whole.map(({ pos }) => pos))]);
  const budgets = sizes.flatMap((bytes) => [1, 3].map((parts) => ({ bytes, parts })));
  await divides(chat.name, { open: () => given.open(home), ref, items: toItems(whole) }, budgets);
}

/** Entries without their texts, which one record alone may give longer. */
function shapesOf(entries: readonly Entry[]): unknown[] {
  return entries.map((entry) => ("text" in entry ? { ...entry, text: undefined, isPreview: undefined } : entry));
}

/** From the smallest page that holds the largest record to some that hold more. */
async function budgetsOf(store: ChatStore, ref: SessionRef, positions: readonly Cursor[]): Promise<number[]> {
  const offsets = positions.filter((pos) => pos.startsWith("j:")).map(offsetOf);
  if (offsets.length === 0) return [WHOLE.bytes];
  // Whatever a page of this size can't hold is told as oversized, so the smallest that tells none is looked for.
  let bytes = 256;
  while ((await wholeChat(store, ref, { ...WHOLE, bytes })).some(isOversized)) bytes = Math.ceil(bytes * 1.1);
  return [bytes, bytes + 1, bytes * 2 + 7, bytes * 5];
}

async function growsByteByByte(given: JsonlContractGiven, home: string, chat: Chat): Promise<void> {
  const file = given.transcript(home, chat.session, chat.child);
  const bytes = readFileSync(file);
  const ref = await refOf(given.open(home), chat);
  const whole = await wholeChat(given.open(home), ref);
  let now = 0;
  const store = given.open(home, { now: () => now as EpochMs });
  writeFileSync(file, "");
  const collected: Entry[] = [];
  let from: Cursor = START;
  let written = 0;
  for (const cut of cutsOf(bytes)) {
    appendFileSync(file, bytes.subarray(written, cut));
    written = cut;
    const complete = bytes.subarray(0, cut).lastIndexOf(0x0a) + 1;
    const expected = whole.filter(({ pos }) => offsetOf(pos) < complete);
    now = expected.at(-1)?.at ?? 0;
    const page = await store.entries(ref, from, WHOLE);
    assert.equal(page.reset, undefined);
    put(collected, page.entries);
    from = page.next;
    // A call that waits for its subagent holds back what follows it, no longer.
    if (page.settled) assert.equal(collected.length, expected.length, `${chat.name} cut at ${cut}`);
  }
  assert.deepEqual(collected, whole, chat.name);
}

/** Every byte of a short file; of a long one those around newlines and inside characters, and every 61st. */
function cutsOf(bytes: Buffer): number[] {
  const cuts: number[] = [];
  for (let cut = 1; cut <= bytes.length; cut++) {
    const near = bytes.subarray(Math.max(0, cut - 3), cut + 3).includes(0x0a);
    const inCharacter = ((bytes[cut] ?? 0) & 0xc0) === 0x80;
    if (bytes.length <= 4096 || near || inCharacter || cut % 61 === 0 || cut === bytes.length) cuts.push(cut);
  }
  return cuts;
}

async function chatsOf(given: ContractGiven, home: string, session: string): Promise<Chat[]> {
  const store = given.open(home);
  const { children } = await store.children(await refOf(store, { name: session, session }));
  return [{ name: session, session }, ...children.map(({ id }) => ({ name: `${session} ${id}`, session, child: id }))];
}

async function refOf(store: ChatStore, chat: Chat): Promise<SessionRef> {
  const ref = await store.find(requireSessionId(chat.session));
  assert.ok(ref, `${chat.name} is found`);
  const child = chat.child === undefined ? ref : await store.child(ref, chat.child);
  assert.ok(child, `${chat.name} is found`);
  return child;
}

async function wholeChat(store: ChatStore, ref: SessionRef, budget: Budget = WHOLE): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let from: Cursor = START; ; ) {
    const page = await store.entries(ref, from, budget);
    assert.equal(page.reset, undefined);
    put(entries, page.entries);
    if (page.next === from) return entries;
    from = page.next;
  }
}

async function wholeBackward(store: ChatStore, ref: SessionRef, budget: Budget): Promise<Entry[]> {
  const pages: (readonly Entry[])[] = [];
  for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
    const page = await store.before(ref, before, budget);
    assert.equal(page.reset, undefined);
    if (before !== "tail") assert.equal(page.next, before);
    pages.unshift(page.entries);
    assert.ok(page.prev === null || toItems(page.entries).length > 0, "a page backward shows something");
    before = page.prev;
  }
  const entries: Entry[] = [];
  for (const page of pages) put(entries, page);
  return entries;
}

/** Adds what a page tells, as every reader does: what comes again under its id replaces what was told. */
function put(entries: Entry[], page: readonly Entry[]): void {
  const places = new Map(entries.map((entry, index) => [nameOf(entry), index]));
  for (const entry of page) {
    const place = entry.id === undefined ? undefined : places.get(nameOf(entry));
    if (place !== undefined) entries[place] = entry;
    else places.set(nameOf(entry), entries.push(entry) - 1);
  }
}

/** One row may tell several things under its id: a call, its subagent, a compaction and what that summed up. */
function nameOf(entry: Entry): string {
  return `${entry.kind} ${entry.kind === "marker" ? entry.marker : ""} ${entry.id}`;
}

async function endOf(store: ChatStore, ref: SessionRef): Promise<Cursor> {
  return (await store.entries(ref, START, WHOLE)).next;
}

function offsetOf(cursor: Cursor): number {
  return Number(cursor.split(":")[1]);
}

function isOversized(entry: Entry): boolean {
  return entry.kind === "marker" && entry.marker === "oversized";
}

function toldOf(entry: Entry): string | undefined {
  if (isOversized(entry)) return `oversized ${/\d+/.exec("summary" in entry ? (entry.summary ?? "") : "")?.[0]}`;
  return entry.kind === "user" ? entry.text : undefined;
}

function texts(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === "user" ? [entry.text] : []));
}

function isFailure(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.kind === kind;
}

function first<T>(values: readonly T[]): T {
  const [value] = values;
  assert.ok(value !== undefined);
  return value;
}

/** A copy of the fixtures, and a folder beside it. */
function copied(t: TestContext, given: ContractGiven): { home: string; outside: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "store-contract-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, "home");
  const outside = join(folder, "outside");
  mkdirSync(outside);
  cpSync(given.fixtures, home, { recursive: true });
  return { home, outside };
}

/** Names, sizes, times and contents of all that is below `home`. */
function stateOf(home: string): unknown[] {
  return globSync("**", { cwd: home })
    .sort()
    .map((name) => {
      const stats = lstatSync(join(home, name), { bigint: true });
      const content = stats.isFile()
        ? createHash("sha256")
            .update(readFileSync(join(home, name)))
            .digest("hex")
        : "";
      return [name, stats.size, stats.mtimeNs, stats.ctimeNs, content];
    });
}
