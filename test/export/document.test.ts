import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ExportOptions, exportDocument } from "../../src/export/document.ts";
import { Failure } from "../../src/platform/failure.ts";
import type { ChildEntry, EntryPage, EntryPageBefore, SessionRef, Store } from "../../src/stores/store.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { FakeStore, sid } from "../support/fake-store.ts";
import { readExport, textOf } from "./read-export.ts";

type Said = Entry extends infer E ? (E extends Entry ? Omit<E, "at" | "pos"> : never) : never;

/** A store of chats that are told here: a page for each list of entries. */
class ToldStore extends FakeStore {
  readonly chats = new Map<string, Said[][]>();
  readonly long = new Map<Cursor, readonly Said[]>();
  kids: readonly ChildEntry[] = [];
  /** Called before each page. */
  meanwhile: ((page: number) => void) | undefined;
  resets = 0;
  farCalls: Store["farCalls"];
  farCall: Store["farCall"];

  override async entries({ id, child }: SessionRef, from: Cursor): Promise<EntryPage> {
    const pages = this.chats.get(child ?? id);
    if (pages === undefined) throw new Failure("not-found", "it is gone");
    const number = from === START ? 0 : Number(from.split(":")[1]);
    this.meanwhile?.(number);
    const reset = number > 0 && this.resets-- > 0;
    const page = pages[number] ?? [];
    const entries = page.map((said, index) => ({
      ...said,
      at: number * 100 + index + 1,
      pos: `j:${number * 100 + index}:0`,
    }));
    const next = number < pages.length ? (`p:${number + 1}` as Cursor) : from;
    return { entries: entries as unknown as Entry[], next, uses: [], settled: true, ...(reset && { reset }) };
  }

  override async before(): Promise<EntryPageBefore> {
    return { entries: [], next: "p:0" as Cursor, prev: null, uses: [], settled: true };
  }

  override async record(_ref: SessionRef, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]> {
    const said = this.long.get(pos);
    if (said === undefined) throw new Failure("not-found", "it is gone");
    assert.equal(mostBytes, 128 * 1024 * 1024);
    return said.map((each) => ({ ...each, at: 5, pos })) as unknown as Entry[];
  }

  override async children(
    _ref: SessionRef,
    most = 200,
  ): Promise<{ children: readonly ChildEntry[]; uses: []; settled: true }> {
    return { children: this.kids.slice(0, most), uses: [], settled: true };
  }

  override async child(ref: SessionRef, id: ChildEntry["id"]): Promise<SessionRef | undefined> {
    return this.chats.has(id) ? { agent: ref.agent, id: ref.id, child: id, place: "" } : undefined;
  }
}

const JSON_ALONE: ExportOptions = { format: "json", subagents: false, reasoning: false };

function setUp(t: TestContext, chats: { readonly [id: string]: Said[][] }) {
  const store = new ToldStore();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "export-")));
  t.after(() => {
    store.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [id, pages] of Object.entries(chats)) store.chats.set(id, pages);
  store.totalsOf = { tokens: { input: 7 } };
  const ref: SessionRef = { agent: "claude", id: sid("s1"), place: "" };
  const exported = (options: Partial<ExportOptions> = {}, signal?: AbortSignal) =>
    exportDocument({ store, ref, source: "native" }, { ...JSON_ALONE, ...options }, { folder, signal });
  return { store, folder, exported };
}

const user = (text: string): Said => ({ kind: "user", text });
const assistant = (text: string): Said => ({ kind: "assistant", text });
const named = (id: string): Said => ({
  kind: "subagent",
  subagent: { id: sid(id), title: `T ${id}`, agent: "claude" },
});

test("what stands above the messages is what the store says and what was counted; what it does not say is absent", async (t) => {
  const { store, exported } = setUp(t, { s1: [[user("Go"), { ...assistant("Yes"), model: "m-2" } as Said]] });
  const call: Said = { kind: "tool-call", tool: "Bash", input: { command: "ls" } };
  store.chats.get("s1")?.push([call, call]);
  store.rows = [
    { agent: "claude", id: sid("s1"), title: "Fix it", cwd: "/home/dev", startedAt: 3, updatedAt: 4 } as never,
  ];
  const document = await exported();
  assert.equal(document.fileName, "claude-s1.json");
  assert.deepEqual((await readExport(document)).meta, {
    agent: "claude",
    sessionId: "s1",
    title: "Fix it",
    model: "m-2",
    cwd: "/home/dev",
    startedAt: 3,
    endedAt: 102,
    messageCount: 2,
    toolCallCount: 2,
    tokens: { input: 7 },
    source: "native",
  });
});

test("a message stands on a line of its own, and nothing in it acts on a terminal", async (t) => {
  const hostile = "\u001b[31m\u202e\u0085\u2028 \ud800 <b>";
  const { exported } = setUp(t, { s1: [[user(hostile), assistant("b")]] });
  const text = await textOf(await exported());
  const lines = text.split("\n");
  assert.equal(lines.length, 5);
  assert.match(lines[1] ?? "", /^\{"role":"user","at":1,"text":"\\u001b\[31m\\u202e\\u0085\\u2028 \\ud800 <b>"\},$/);
  assert.equal(JSON.parse(text).messages[0].text, hostile);
});

test("turns that were taken back are flagged in JSON and folded in Markdown", async (t) => {
  const pages: Said[][] = [
    [user("one"), assistant("1")],
    [user("two"), assistant("2")],
    [{ kind: "marker", marker: "rewind", takesBack: "j:100:0" as Cursor, summary: "back" }, user("other")],
  ];
  const { exported } = setUp(t, { s1: pages });
  const { messages } = await readExport(await exported());
  assert.deepEqual(
    messages.map(({ text, takenBack }) => [text, takenBack]),
    [
      ["one", undefined],
      ["1", undefined],
      ["two", true],
      ["2", true],
      ["back", undefined],
      ["other", undefined],
    ],
  );
  const markdown = await textOf(await exported({ format: "markdown" }));
  const [before = "", folded = "", after = ""] = markdown.split(/<details>|<\/details>/);
  assert.match(before, /one.*1/s);
  assert.match(folded, /two.*2/s);
  assert.match(after, /back.*other/s);
});

test("subagents stand at their place, each once, and those that nothing names at the end", async (t) => {
  const { store, exported } = setUp(t, {
    s1: [
      [user("go"), named("a"), named("gone")],
      [named("a"), assistant("done")],
    ],
    a: [[user("inner"), named("b")]],
    b: [[user("deep")]],
    c: [[user("lost")]],
  });
  const kid = (id: string) => ({ id: sid(id), title: `T ${id}`, status: "done" as const, startedAt: 1, updatedAt: 1 });
  store.kids = [kid("c"), kid("b"), kid("a")] as never;
  const { meta, messages } = await readExport(await exported({ subagents: true }));
  assert.equal(meta.messageCount, 6);
  const texts = (list: typeof messages): unknown[] =>
    list.map(({ text, subagent }) => text ?? [subagent?.id, ...(subagent?.messages ? [texts(subagent.messages)] : [])]);
  assert.deepEqual(texts(messages), [
    "go",
    ["a", ["inner", ["b", ["deep"]]]],
    ["gone"],
    ["a"],
    "done",
    ["c", ["lost"]],
  ]);
  const alone = await readExport(await exported());
  assert.deepEqual(texts(alone.messages), ["go", ["a"], ["gone"], ["a"], "done"]);
});

test("subagents that no record names are all there, however many there are", async (t) => {
  const ids = Array.from({ length: 300 }, (_, index) => `c${index}`);
  const { store, exported } = setUp(t, {
    s1: [[user("go")]],
    ...Object.fromEntries(ids.map((id) => [id, [[user(`said to ${id}`)]]])),
  });
  store.kids = ids.map((id) => ({ id: sid(id), title: id, status: "done", startedAt: 1, updatedAt: 1 })) as never;
  const { messages } = await readExport(await exported({ subagents: true }));
  assert.deepEqual(
    messages.slice(1).map(({ subagent }) => subagent?.messages?.[0]?.text),
    ids.map((id) => `said to ${id}`),
  );
});

test("turns that were taken back from further away than pages tell are folded too", async (t) => {
  const far: Said = { kind: "user", text: "other", goesFarBack: true };
  const { store, exported } = setUp(t, { s1: [[user("one"), assistant("1")], [user("two"), assistant("2")], [far]] });
  const mark: Said = { kind: "marker", marker: "rewind", takesBack: "j:100:0" as Cursor, summary: "back" };
  store.long.set("j:200:0" as Cursor, [mark, far]);
  const { messages } = await readExport(await exported());
  assert.deepEqual(
    messages.map(({ text, takenBack = false }) => [text, takenBack]),
    [
      ["one", false],
      ["1", false],
      ["two", true],
      ["2", true],
      ["back", false],
      ["other", false],
    ],
  );
});

test("a record that is too long for a page is exported whole, in its place", async (t) => {
  const oversized: Said = { kind: "marker", marker: "oversized", summary: "a record of 999 bytes" };
  const { store, exported } = setUp(t, { s1: [[user("a"), oversized, user("b"), oversized]] });
  store.long.set("j:1:0" as Cursor, [assistant("long"), { kind: "tool-call", tool: "t", input: {} }]);
  const { messages } = await readExport(await exported());
  assert.deepEqual(
    messages.map(({ text, marker }) => [text, marker]),
    [
      ["a", undefined],
      ["long", undefined],
      ["b", undefined],
      ["a record of 999 bytes", "oversized"],
    ],
  );
});

test("a record takes the place of all that a page tells in its stead, and an output is told once", async (t) => {
  const { store, exported } = setUp(t, { s1: [[user("a"), { kind: "marker", marker: "oversized" }, user("b")]] });
  const preview: Said = { kind: "tool-result", tool: "t", callId: "c", text: "begin…", isPreview: true };
  const call: Said = { kind: "tool-call", tool: "t", callId: "d", input: {}, output: "all" };
  store.chats.get("s1")?.push([preview, { kind: "tool-result", tool: "t", callId: "d", text: "all" }]);
  store.long.set("j:1:0" as Cursor, [call]);
  store.long.set("j:100:0" as Cursor, [{ kind: "tool-result", tool: "t", callId: "c", text: "begin and end" }]);
  const { messages } = await readExport(await exported());
  assert.deepEqual(
    messages.map(({ text, toolCalls }) => text ?? toolCalls?.map(({ id }) => id)),
    ["a", ["d"], "all", "b", "begin and end"],
  );
});

test("a call whose records lie far apart is told once, whole, where it began", async (t) => {
  const begun: Said = { kind: "tool-call", tool: "Far", callId: "f", input: { v: 1 }, id: "e2" };
  const grown: Said = { ...begun, input: { v: 2 } };
  const more: Said = { kind: "tool-call", tool: "tool", callId: "f", input: { v: 3 }, id: "e9", continues: true };
  const late: Said = { kind: "tool-result", callId: "f", text: "ok", continues: true };
  const other: Said = { kind: "tool-result", callId: "x", text: "of none", continues: true };
  const { store, exported } = setUp(t, {
    s1: [
      [user("a"), begun],
      [grown, user("b")],
      [more, late, other],
    ],
  });
  store.farCalls = async () => new Map([["j:1:0" as Cursor, { callId: "f", last: "j:201:0" as Cursor }]]);
  store.farCall = async (_ref, pos) => ({ ...begun, input: { v: 3 }, output: "ok", at: 2, pos }) as never;
  const { messages } = await readExport(await exported());
  assert.deepEqual(
    messages.map(({ text, toolCalls }) => text ?? toolCalls?.map(({ id, input }) => [id, input])),
    ["a", [["f", { v: 3 }]], "ok", "b", "of none"],
  );
});

test("a transcript that is replaced meanwhile is read anew, and one that always is, is told", async (t) => {
  const { store, exported } = setUp(t, { s1: [[user("a")], [user("b")]] });
  store.resets = 1;
  const { messages } = await readExport(await exported());
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["a", "b"],
  );
  store.resets = Number.POSITIVE_INFINITY;
  await assert.rejects(exported(), { kind: "conflict" });
});

test("a transcript that is written faster than it is read is exported as far as it went", async (t) => {
  const store = new FakeStore();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "export-")));
  t.after(() => {
    store.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  store.say("s1", "one", "two");
  const ref = await store.find(sid("s1"));
  assert.ok(ref);
  const read = store.entries.bind(store);
  store.entries = async (...given) => {
    const page = await read(...given);
    store.say("s1", "more");
    return page;
  };
  store.totalsOf = { tokens: {} };
  const document = await exportDocument({ store, ref, source: "native" }, JSON_ALONE, { folder });
  const { messages } = await readExport(document);
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["one", "two"],
  );
});

test("what goes wrong is told instead of the document, and nothing is left behind", async (t) => {
  const { store, folder, exported } = setUp(t, { s1: [[user("a")], [user("b")]] });
  store.meanwhile = (page) => {
    if (page === 1) throw new Failure("unreadable", "it is locked");
  };
  await assert.rejects(exported(), { kind: "unreadable" });
  const controller = new AbortController();
  store.meanwhile = () => controller.abort(new Error("left"));
  await assert.rejects(exported({}, controller.signal), /left/);
  assert.deepEqual(readdirSync(folder), []);
});
