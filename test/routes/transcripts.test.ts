import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import type { Cursor } from "../../src/transcript/cursor.ts";
import { askEvents, askJson, refusal } from "../support/ask.ts";
import { at, row, sid } from "../support/fake-store.ts";
import { served } from "../support/routes.ts";
import { nextOf } from "../support/turns.ts";

const CHAT = "/api/transcripts/claude/a/chat";

test("a list shows a session that was made just before it was asked for", async (t) => {
  const { routes, store, inventory } = served(t);
  inventory.start();
  await inventory.settled();
  store.say("a", "one");
  const { body, validity } = await askJson(routes, "/api/transcripts");
  assert.deepEqual(body, {
    transcripts: [{ agent: "claude", id: "a", title: "Title of a", cwd: "/w", startedAt: 1, updatedAt: 14, bytes: 14 }],
    next: null,
    total: 1,
  });
  assert.deepEqual(validity, { facts: ["1", "nonce"], uses: [], settled: true });
});

test("a list is paged and filtered by its query", async (t) => {
  const { routes, store } = served(t);
  store.rows = [1, 2, 3].map((ms) => row({ id: sid(`s${ms}`), updatedAt: at(ms), title: `T${ms}` }));
  store.rows.push(row({ id: sid("child"), updatedAt: at(2), parent: sid("s1") }));
  const first = await askJson(routes, "/api/transcripts?limit=2");
  const { transcripts, next, total } = first.body as { transcripts: { id: string }[]; next: string; total: number };
  assert.deepEqual([transcripts.map(({ id }) => id), next, total], [["s3", "s2"], "2:claude:s2", 3]);
  const rest = await askJson(routes, `/api/transcripts?limit=2&before=${encodeURIComponent(next)}`);
  assert.deepEqual((rest.body as typeof first.body & { next: null }).next, null);
  const withChildren = await askJson(routes, "/api/transcripts?children=1&project=%2Fw&agent=claude&state=ended");
  assert.equal((withChildren.body as { total: number }).total, 4);
  const found = await askJson(routes, "/api/transcripts?q=t2");
  assert.equal((found.body as { total: number }).total, 1);
});

test("projects are paged and filtered as sessions are, and each gives the list of its own sessions", async (t) => {
  const { routes, store, time } = served(t);
  store.rows = ["/w/a", "/w/b", "", "/w/b/c"].map((cwd, i) => row({ id: sid(`s${i}`), cwd, updatedAt: at(i + 1) }));
  store.rows.push(row({ id: sid("child"), cwd: "/w/a", updatedAt: at(9), parent: sid("s0") }));
  const entry = { sessions: 1, live: 0, agents: ["claude"] };
  const first = await askJson(routes, "/api/projects?limit=2");
  assert.deepEqual(first.body, {
    projects: [
      { project: "/w/b/c", ...entry, updatedAt: 4 },
      { project: "", ...entry, updatedAt: 3 },
    ],
    next: "3:",
    total: 4,
  });
  assert.deepEqual(first.validity, { facts: ["1.0", "nonce"], uses: [], settled: true });
  const second = await askJson(routes, "/api/projects?before=3:&limit=1");
  assert.deepEqual(second.body, { projects: [{ project: "/w/b", ...entry, updatedAt: 2 }], next: "2:/w/b", total: 4 });
  const rest = await askJson(routes, "/api/projects?before=2:/w/b&children=1&q=w&agent=claude&state=ended");
  assert.deepEqual(rest.body, { projects: [], next: null, total: 3 });
  const ids = async (query: string): Promise<string[]> => {
    const { body, validity } = await askJson(routes, `/api/transcripts?${query}`);
    assert.equal(validity?.settled, true);
    return (body as { transcripts: { id: string }[] }).transcripts.map(({ id }) => id);
  };
  assert.deepEqual(await ids("project=/w/b&exact=1"), ["s1"]);
  assert.deepEqual(await ids("project=/w/b&exact=0"), ["s3", "s1"]);
  assert.deepEqual(await ids("project=/w/a&exact=1&children=1"), ["child", "s0"]);
  assert.deepEqual(await ids("folderless=1"), ["s2"]);
  assert.deepEqual(await ids("folderless=0"), ["s3", "s2", "s1", "s0"]);
  time.pass(60_000);
  assert.deepEqual((await askJson(routes, "/api/projects?limit=2")).validity, first.validity);
});

test("a query that is not well-formed is refused", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const list = ["limit=0", "limit=501", "limit=1.5", "limit=", "limit=01", "limit=-1", "limit=1e2", "agent=nobody"];
  list.push("agent=", "before=x", "before=", "children=2", "state=busy", "project=relative", "project=%2Fa%00", "q=");
  list.push(`q=${"x".repeat(1_001)}`, `project=%2F${"x".repeat(4_096)}`, "limit=1&limit=2");
  list.push("exact=1", "project=%2Fa&exact=", "project=%2Fa&folderless=1", "folderless=yes", "project=");
  for (const query of list) assert.equal(await refusal(routes, `/api/transcripts?${query}`), "bad-request", query);
  for (const query of ["limit=0", "limit=501", "before=x", "before=", "agent=nobody", "q=", "project=%2Fa"]) {
    assert.equal(await refusal(routes, `/api/projects?${query}`), "bad-request", query);
  }
  const chat = ["from=", "from=nope", "from=o:1:prt_1", "from=j:1", "from=j:9007199254740993:0", "before=o:1:prt_1"];
  chat.push(
    "from=0&before=0",
    "from=tail&before=tail",
    "before=tail",
    `from=${"1".repeat(257)}`,
    "from=j:0:0&from=j:0:0",
    "from=a%20b",
  );
  for (const query of chat) assert.equal(await refusal(routes, `${CHAT}?${query}`), "bad-request", query);
  for (const query of ["from=", "from=nope"]) {
    assert.equal(await refusal(routes, `${CHAT}/stream?${query}`), "bad-request", query);
  }
  for (const lastEventId of ["nope", "tail"]) {
    assert.equal(await refusal(routes, `${CHAT}/stream`, { lastEventId }), "bad-request", lastEventId);
  }
  assert.equal(await refusal(routes, "/api/transcripts/claude/a/item"), "bad-request");
  assert.equal(await refusal(routes, "/api/transcripts/claude/a/item?ref=nope"), "bad-request");
});

test("a session that the list leaves out has an entry where it has a chat", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  store.list = async () => [];
  assert.equal(await refusal(routes, "/api/transcripts/claude/a"), "not-found");
  Object.assign(store, { unlisted: async () => row({ id: sid("a"), title: "Untitled", updatedAt: at(1) }) });
  const { body } = await askJson(routes, "/api/transcripts/claude/a");
  assert.deepEqual((body as { title: string; counting: boolean }).title, "Untitled");
  assert.equal(((await askJson(routes, "/api/transcripts")).body as { total: number }).total, 0);
});

test("what is not there, can't be there or is of another store is not found", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const sessions = ["claude/b", "codex/a", "nobody/a", "CLAUDE/a", "claude/..", "claude/a%2fb", "claude/%2e%2e%2fa"];
  sessions.push("claude/a%00", `claude/${"a".repeat(129)}`, "claude/-a", "claude/a.jsonl", "host%2fx/a");
  for (const session of sessions) {
    const base = `/api/transcripts/${session.replace("/..", "/%252e%252e")}`;
    for (const path of [
      "",
      "/chat",
      "/subagents",
      "/item?ref=0",
      "/chat/stream",
      "/subagents/c",
      "/subagents/c/stream",
    ]) {
      assert.equal(await refusal(routes, base + path), "not-found", base + path);
    }
  }
  for (const child of ["c", "%252e%252e", "a%2fb", "x".repeat(129)]) {
    for (const path of ["", "/stream", "/item?ref=0"]) {
      const target = `/api/transcripts/claude/a/subagents/${child}${path}`;
      assert.equal(await refusal(routes, target), "not-found", target);
    }
  }
});

test("of two errors the first in the order of the contract is told", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const told = {
    "a malformed query before a session that is not there": "/api/transcripts/claude/b/chat?from=0&before=0",
    "a cursor of another store before a subagent that is not there": "/api/transcripts/claude/a/subagents/c?from=o:1:p",
    "a malformed list query before anything": "/api/transcripts/claude/a/subagents/c?from=",
  };
  for (const [what, target] of Object.entries(told)) assert.equal(await refusal(routes, target), "bad-request", what);
  assert.equal(await refusal(routes, "/api/transcripts/claude/b/chat?from=o:1:p"), "not-found");
});

test("a session is answered with its totals, or says that they are being counted", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const counting = await askJson(routes, "/api/transcripts/claude/a");
  assert.equal((counting.body as { counting?: true }).counting, true);
  assert.equal(counting.validity?.settled, false);
  store.totalsOf = { tokens: { input: 5, output: 7 }, costUsd: 0.5 };
  const counted = await askJson(routes, "/api/transcripts/claude/a");
  assert.deepEqual(counted.body, {
    agent: "claude",
    id: "a",
    title: "Title of a",
    cwd: "/w",
    startedAt: 1,
    updatedAt: 14,
    bytes: 14,
    tokens: { input: 5, output: 7 },
    costUsd: 0.5,
  });
  assert.equal(counted.validity?.settled, true);
});

test("a chat is read page by page, with what its ETag stands on", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const { body, validity } = await askJson(routes, CHAT);
  assert.deepEqual(body, { items: [{ kind: "user", at: 1, text: "one", ref: "j:0:0" }], next: "j:14:0" });
  assert.deepEqual([validity?.uses.map(({ path }) => path), validity?.settled], [[store.file("a")], true]);
  assert.deepEqual((await askJson(routes, `${CHAT}?from=j:14:0`)).body, { items: [], next: "j:14:0" });
  store.say("a", "two");
  const second = await askJson(routes, `${CHAT}?from=j:14:0`);
  assert.deepEqual(second.body, { items: [{ kind: "user", at: 1, text: "two", ref: "j:14:0" }], next: "j:28:0" });
  const past = await askJson(routes, `${CHAT}?from=j:999:0`);
  assert.equal((past.body as { reset?: true }).reset, true);
});

test("a chat is read backward from its tail", async (t) => {
  const { routes, store } = served(t);
  const large = "x".repeat(400_000);
  store.say("a", "one", large, "two", large, "three");
  const tail = await askJson(routes, `${CHAT}?from=tail`);
  const { items, next, prev } = tail.body as { items: unknown[]; next: string; prev: string };
  assert.deepEqual([items.length, next, prev], [3, "j:800066:0", "j:400025:0"]);
  const before = await askJson(routes, `${CHAT}?before=${prev}`);
  const earlier = before.body as { items: unknown[]; prev: null; next?: string };
  assert.deepEqual([earlier.items.length, earlier.prev, "next" in earlier], [2, null, false]);
});

test("an item is given whole by its ref", async (t) => {
  const { routes, store } = served(t);
  const long = "y".repeat(20_000);
  store.say("a", "one", long);
  store.say("a.c", long);
  for (const [path, ref] of [
    ["", "j:14:0"],
    ["/subagents/c", "j:0:0"],
  ]) {
    const { body } = await askJson(routes, `/api/transcripts/claude/a${path}/item?ref=${ref}`);
    assert.deepEqual(body, { items: [{ kind: "user", at: 1, text: long, ref }] });
  }
});

test("a call's item comes with its input, and with the colours of its output where they are asked for", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  store.say("a.c", "one");
  const base = { at: at(1), pos: "j:0:0" as Cursor };
  const input = { file_path: "/a", old_string: "x", new_string: "y" };
  store.record = async () => [{ ...base, kind: "tool-call", tool: "Edit", input, output: "\u001b[32mok\u001b[0m" }];
  const shown = { kind: "tool", at: 1, tool: "Edit", summary: "/a", ref: "j:0:0", input };
  for (const path of ["", "/subagents/c"]) {
    const target = `/api/transcripts/claude/a${path}/item?ref=j:0:0`;
    for (const query of ["", "&ansi=0"]) {
      assert.deepEqual((await askJson(routes, target + query)).body, { items: [{ ...shown, text: "ok" }] });
    }
    const { body } = await askJson(routes, `${target}&ansi=1`);
    assert.deepEqual(body, { items: [{ ...shown, text: "\u001b[32mok\u001b[0m" }] });
    assert.equal(await refusal(routes, `${target}&ansi=yes`), "bad-request");
  }
});

test("subagents are listed, and read below their own session alone", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  store.say("b", "other");
  store.say("a.c", "child");
  const { body } = await askJson(routes, "/api/transcripts/claude/a/subagents");
  assert.deepEqual(body, { subagents: [{ id: "c", title: "c", status: "unknown", startedAt: 1, updatedAt: 2 }] });
  assert.deepEqual((await askJson(routes, "/api/transcripts/claude/b/subagents")).body, { subagents: [] });
  const page = await askJson(routes, "/api/transcripts/claude/a/subagents/c");
  assert.deepEqual((page.body as { next: string }).next, "j:16:0");
  assert.equal(await refusal(routes, "/api/transcripts/claude/b/subagents/c"), "not-found");
});

test("a stream goes on behind the last event that its client had, whatever its address says", async (t) => {
  const { routes, store, end } = served(t);
  store.say("a", "one", "two");
  store.say("a.c", "one", "two");
  for (const path of ["/chat", "/subagents/c"]) {
    const target = `/api/transcripts/claude/a${path}/stream?from=tail`;
    const events = await askEvents(routes, target, { lastEventId: "j:14:0", signal: end.signal });
    const { id, data } = await nextOf(events);
    assert.deepEqual([id, (data as { items: { text: string }[] }).items.map(({ text }) => text)], ["j:28:0", ["two"]]);
  }
});

test("a stream whose chat can't be read is refused before it begins", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const { find } = store;
  store.find = async (id) => {
    const ref = await find.call(store, id);
    rmSync(store.file("a"), { force: true });
    return ref;
  };
  assert.equal(await refusal(routes, `${CHAT}/stream`), "not-found");
});

test("the state names the stores and the agents that can be started, and is well-formed while there are no peers, runs and jobs", async (t) => {
  const { routes, store } = served(t);
  store.say("a", "one");
  const { body, validity } = await askJson(routes, "/api/state");
  const stores = [{ agent: "claude", sessions: 1, roots: [{ path: store.root, found: true }], skipped: 3 }];
  const agents = [
    { name: "claude", installed: true },
    { name: "codex", installed: false, remedy: "install it" },
  ];
  const shown = { peers: [], runs: [], runsNext: null, runsTotal: 0, running: [], jobs: {}, stores, agents };
  assert.deepEqual(body, { version: "1.2.3", pid: 42, ...shown });
  assert.deepEqual(validity, { facts: ["1", "nonce", JSON.stringify(shown)], uses: [], settled: true });
});

test("a store that fails does not take the state away", async (t) => {
  const { routes, store } = served(t);
  store.broken = new Error("disk");
  store.report = async () => {
    throw new Error("disk");
  };
  const { body } = await askJson(routes, "/api/state");
  assert.deepEqual((body as { stores: unknown }).stores, [
    { problem: "its sessions could not be listed", agent: "claude", sessions: 0, roots: [], skipped: 0 },
  ]);
});

test("every route has a schema and a description for all that it takes", (t) => {
  const { routes } = served(t);
  for (const { pattern, query, answer, summary } of routes) {
    assert.ok(summary.length > 0 && Object.keys(answer).length > 0, pattern);
    for (const [name, { description, schema }] of Object.entries(query)) {
      assert.ok(description.length > 0 && Object.keys(schema).length > 0, `${pattern}?${name}`);
    }
  }
  assert.equal(routes.length, 30);
});
