import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { recordingMark } from "../../src/stores/changing-place.ts";
import { liveProcess } from "../peers/live-process.ts";
import { COOKIE } from "../server/harness.ts";
import { askEvents } from "../support/ask.ts";
import { at, FakeStore, sid } from "../support/fake-store.ts";
import { nextOf } from "../support/turns.ts";
import { peerServer } from "./peer-server.ts";

type Page = { items: { text: string; ref: string }[]; next: string; prev?: string | null; reset?: true };

const texts = (body: unknown): string[] => (body as Page).items.map(({ text }) => text);
const chatOf = (session: string, query = ""): string => `/api/sessions/${encodeURIComponent(session)}/chat${query}`;

test("a peer's chat, its subagents and theirs are found by its name, however that must be escaped", async (t) => {
  const { get, claude, peers } = await peerServer(t);
  const cli = await liveProcess(t);
  claude.say("s1", "hello");
  claude.say("s1.c1", "from the child");
  const name = "front & end? ä%2f😀";
  await peers.join({ name, agent: "claude", sessionId: "s1", cwd: "/w", pid: cli.pid });
  const page = await get(chatOf(name));
  assert.deepEqual(texts(page.body), ["hello"]);
  const ref = (page.body as Page).items[0]?.ref;
  const path = `/api/sessions/${encodeURIComponent(name)}`;
  assert.deepEqual(texts((await get(`${path}/item?ref=${ref}`)).body), ["hello"]);
  const { body } = await get(`${path}/subagents`);
  assert.deepEqual(
    (body.subagents as { id: string }[]).map(({ id }) => id),
    ["c1"],
  );
  assert.deepEqual(texts((await get(`${path}/subagents/c1`)).body), ["from the child"]);
  assert.equal((await get(`${path}/subagents/c2`)).status, 404);
});

test("what names nothing is 404: other machines' sessions, names that can't be, unknown ones, missing transcripts", async (t) => {
  const { get, peers } = await peerServer(t);
  const cli = await liveProcess(t);
  await peers.join({ name: "front", agent: "claude", sessionId: "gone", cwd: "/w", pid: cli.pid });
  for (const name of ["host/front", "host/", "a/b", "a\u0001", "x".repeat(129), "nobody", "front"]) {
    assert.equal((await get(chatOf(name))).status, 404, name);
    assert.equal((await get(`/api/sessions/${encodeURIComponent(name)}/chat/stream`)).status, 404, name);
  }
});

test("a peer without a session id is 409; a cursor of another store is told before a missing transcript", async (t) => {
  const { get, peers } = await peerServer(t);
  const [cli, other] = [await liveProcess(t), await liveProcess(t)];
  await peers.join({ name: "new", agent: "claude", sessionId: null, cwd: "/w", pid: cli.pid });
  await peers.join({ name: "gone", agent: "claude", sessionId: "gone", cwd: "/w", pid: other.pid });
  assert.equal((await get(chatOf("new"))).status, 409);
  assert.equal((await get(chatOf("gone", "?from=h:1"))).status, 400);
  assert.equal((await get(chatOf("gone", "?from=j:1:0"))).status, 404);
});

test("subagents of an agent without a store here are none", async (t) => {
  const { get, peers } = await peerServer(t);
  const cli = await liveProcess(t);
  await peers.join({ name: "x", agent: "hermes", sessionId: "s1", cwd: "/w", pid: cli.pid });
  assert.deepEqual(await get("/api/sessions/x/subagents"), { status: 200, body: { subagents: [] } });
  assert.equal((await get(chatOf("x"))).status, 404);
});

test("the id of a session of ours, or of a recording, wins over a peer's name", async (t) => {
  const { get, peers, claude, recordings, saveOwn } = await peerServer(t);
  const [first, second] = [await liveProcess(t), await liveProcess(t)];
  for (const [name, cli] of [
    ["sess_1", first],
    ["other", second],
  ] as const) {
    claude.say(`peer-${name}`, "the peer's");
    await peers.join({ name, agent: "claude", sessionId: `peer-${name}`, cwd: "/w", pid: cli.pid });
  }
  await saveOwn("sess_1", { agent: "gemini", status: "ended", endedAt: at(9) });
  recordings.say("sess_1", "ours");
  assert.deepEqual(texts((await get(chatOf("sess_1"))).body), ["ours"]);
  assert.deepEqual(texts((await get(chatOf("other"))).body), ["the peer's"]);
  recordings.say("other", "recorded by another program");
  assert.deepEqual(texts((await get(chatOf("other"))).body), ["recorded by another program"]);
});

test("a session of ours is read from its own store by name while it lives, and when it has ended", async (t) => {
  const { get, claude, recordings, saveOwn } = await peerServer(t);
  claude.say("native", "as the store has it");
  recordings.say("sess_1", "as recorded");
  await saveOwn("sess_1", { name: "till", nativeSessionId: "native" });
  for (const name of ["till", "sess_1"])
    assert.deepEqual(texts((await get(chatOf(name))).body), ["as the store has it"]);
  await saveOwn("sess_1", { status: "ended", endedAt: at(9) });
  for (const name of ["till", "sess_1"])
    assert.deepEqual(texts((await get(chatOf(name))).body), ["as the store has it"]);
});

test("terminal and command sessions have no chat; that of an agent session is empty until something is recorded", async (t) => {
  const { get, recordings, saveOwn } = await peerServer(t);
  await saveOwn("sess_1", { kind: "terminal", agent: undefined });
  await saveOwn("sess_2", { kind: "command", agent: undefined, name: "build" });
  await saveOwn("sess_3", {});
  for (const name of ["sess_1", "sess_2", "build"]) assert.equal((await get(chatOf(name))).status, 404, name);
  assert.deepEqual(await get(chatOf("sess_3")), { status: 200, body: { items: [], next: "0" } });
  assert.deepEqual((await get(chatOf("sess_3", "?from=tail"))).body, { items: [], next: "0", prev: null });
  assert.deepEqual((await get(chatOf("sess_3", "?from=j:9:0"))).body, { items: [], next: "0", reset: true });
  assert.equal((await get(chatOf("sess_3", "?from=h:1"))).status, 400);
  assert.deepEqual(await get("/api/sessions/sess_3/subagents"), { status: 200, body: { subagents: [] } });
  assert.equal((await get("/api/sessions/sess_3/subagents/c1")).status, 404);
  assert.equal((await get("/api/sessions/sess_3/item?ref=j:0:0")).status, 404);
  recordings.say("sess_3", "hello");
  assert.deepEqual(texts((await get(chatOf("sess_3"))).body), ["hello"]);
});

test("a cursor into the recording starts anew in the store's own transcript, and never the other way round unseen", async (t) => {
  const { get, claude, recordings, saveOwn } = await peerServer(t);
  const mark = recordingMark(sid("sess_1"));
  recordings.say("sess_1", "recorded one", "recorded two");
  await saveOwn("sess_1", { nativeSessionId: "native" });
  const first = (await get(chatOf("sess_1"))).body as Page;
  assert.match(first.next, new RegExp(`^j:\\d+:0:${mark}$`));
  assert.ok(first.items.every(({ ref }) => ref.endsWith(`:${mark}`)));
  recordings.say("sess_1", "recorded three");
  const more = (await get(chatOf("sess_1", `?from=${first.next}`))).body as Page;
  assert.deepEqual([texts(more), more.reset], [["recorded three"], undefined]);
  const item = await get(`/api/sessions/sess_1/item?ref=${first.items[1]?.ref}`);
  assert.deepEqual(texts(item.body), ["recorded two"]);
  const tail = (await get(chatOf("sess_1", "?from=tail"))).body as Page;
  assert.deepEqual([texts(tail).at(-1), tail.next], ["recorded three", more.next]);

  claude.say("native", "native one", "native two");
  const flipped = (await get(chatOf("sess_1", `?from=${more.next}`))).body as Page;
  assert.deepEqual([texts(flipped), flipped.reset], [["native one", "native two"], true]);
  assert.doesNotMatch(flipped.next, new RegExp(mark));
  assert.equal((await get(`/api/sessions/sess_1/item?ref=${first.items[1]?.ref}`)).status, 404);
  const before = (await get(chatOf("sess_1", `?before=${first.items[1]?.ref}`))).body as Page;
  assert.deepEqual([texts(before), before.reset], [["native one", "native two"], true]);

  await saveOwn("sess_1", { nativeSessionId: "lost" });
  const back = (await get(chatOf("sess_1", `?from=${flipped.next}`))).body as Page;
  assert.deepEqual([texts(back), back.reset], [["recorded one", "recorded two", "recorded three"], true]);
  assert.equal((await get(`/api/sessions/sess_1/item?ref=${flipped.next}`)).status, 404);
  assert.equal((await get(chatOf("sess_1", "?from=h:1"))).status, 400);
});

test("the same recording read as a transcript of its own has plain cursors", async (t) => {
  const { get, recordings, saveOwn } = await peerServer(t);
  recordings.say("sess_1", "one");
  await saveOwn("sess_1", { nativeSessionId: "native" });
  const marked = (await get(chatOf("sess_1"))).body as Page;
  const plain = (await get("/api/transcripts/daemon/sess_1/chat")).body as Page;
  assert.equal(marked.next, `${plain.next}:${recordingMark(sid("sess_1"))}`);
  await saveOwn("sess_2", { agent: "gemini" });
  recordings.say("sess_2", "one");
  assert.equal(((await get(chatOf("sess_2"))).body as Page).next, plain.next);
});

test("a cursor of the store's own kind starts anew in the recording, of whatever kind that is", async (t) => {
  const hermes = new FakeStore("hermes");
  t.after(() => hermes.remove());
  const { get, recordings, saveOwn } = await peerServer(t, [hermes]);
  recordings.say("sess_1", "one");
  await saveOwn("sess_1", { agent: "hermes", nativeSessionId: "native" });
  const page = (await get(chatOf("sess_1", "?from=h:12"))).body as Page;
  assert.deepEqual([texts(page), page.reset], [["one"], true]);
  assert.equal((await get(chatOf("sess_1", "?from=o:1:x"))).status, 400);
});

test("a poll of the recording that has given way to the transcript is not answered 304", async (t) => {
  const { server, claude, recordings, saveOwn } = await peerServer(t);
  recordings.say("sess_1", "recorded");
  await saveOwn("sess_1", { nativeSessionId: "native" });
  const ask = (etag?: string) =>
    server.ask(chatOf("sess_1"), { headers: { ...COOKIE, ...(etag !== undefined && { "if-none-match": etag }) } });
  let first = await ask();
  // A file that was written a moment ago has no ETag yet.
  while (first.headers.etag === undefined) first = await ask();
  assert.equal((await ask(first.headers.etag)).status, 304);
  claude.say("native", "native");
  const after = await ask(first.headers.etag);
  assert.deepEqual([after.status, texts(JSON.parse(after.body))], [200, ["native"]]);
});

test("a stream of a peer's chat goes on as it is written", async (t) => {
  const { routes, claude, peers } = await peerServer(t);
  const end = new AbortController();
  t.after(() => end.abort());
  const cli = await liveProcess(t);
  claude.say("s1", "one");
  await peers.join({ name: "front", agent: "claude", sessionId: "s1", cwd: "/w", pid: cli.pid });
  const events = await askEvents(routes, "/api/sessions/front/chat/stream", { signal: end.signal });
  assert.deepEqual(texts((await nextOf(events)).data), ["one"]);
  claude.say("s1", "two");
  assert.deepEqual(texts((await nextOf(events)).data), ["two"]);
});

for (const where of ["recording", "store"] as const) {
  test(`a stream of a chat that is not there yet goes on by itself once it is, in the ${where}`, async (t) => {
    const { routes, claude, recordings, saveOwn } = await peerServer(t);
    const end = new AbortController();
    t.after(() => end.abort());
    await saveOwn("sess_1", {});
    const events = await askEvents(routes, "/api/sessions/sess_1/chat/stream", { signal: end.signal });
    const first = nextOf(events);
    await saveOwn("sess_1", { nativeSessionId: "native" });
    const say = (text: string): void =>
      where === "store" ? claude.say("native", text) : recordings.say("sess_1", text);
    say("one");
    const { data, id } = await first;
    assert.deepEqual(texts(data), ["one"]);
    say("two");
    assert.deepEqual(texts((await nextOf(events)).data), ["two"]);
    const again = await askEvents(routes, "/api/sessions/sess_1/chat/stream", {
      signal: end.signal,
      ...(id !== undefined && { lastEventId: id }),
    });
    assert.deepEqual(texts((await nextOf(again)).data), ["two"]);
  });
}

test("a poll by a name that has gone over to another session is not answered 304", async (t) => {
  const { server, claude, saveOwn } = await peerServer(t);
  claude.say("first", "of the first");
  claude.say("second", "of the second");
  const ask = (etag?: string) =>
    server.ask(chatOf("shop"), { headers: { ...COOKIE, ...(etag !== undefined && { "if-none-match": etag }) } });
  const settled = async () => {
    for (;;) {
      const answer = await ask();
      // A file that was written a moment ago has no ETag yet.
      if (answer.headers.etag !== undefined) return answer;
    }
  };
  await saveOwn("sess_1", { name: "shop", nativeSessionId: "first", startedAt: at(1) });
  const live = await settled();
  assert.equal((await ask(live.headers.etag)).status, 304);
  await saveOwn("sess_1", { status: "ended", endedAt: at(2) });
  const ended = await settled();
  assert.deepEqual(texts(JSON.parse(ended.body)), ["of the first"]);
  await saveOwn("sess_2", { name: "shop", nativeSessionId: "second", startedAt: at(3) });
  for (const { headers } of [live, ended]) {
    const after = await ask(headers.etag);
    assert.deepEqual([after.status, texts(JSON.parse(after.body))], [200, ["of the second"]]);
  }
});

for (const from of ["0", "tail"]) {
  test(`a stream of a recording from ${from} goes over to the agent's transcript when that is there, and back when it has gone`, async (t) => {
    const { routes, get, claude, recordings, saveOwn } = await peerServer(t);
    const end = new AbortController();
    t.after(() => end.abort());
    recordings.say("sess_1", "recorded");
    await saveOwn("sess_1", {});
    const events = await askEvents(routes, `/api/sessions/sess_1/chat/stream?from=${from}`, { signal: end.signal });
    assert.deepEqual(texts((await nextOf(events)).data), ["recorded"]);
    claude.say("native", "one", "two");
    await saveOwn("sess_1", { nativeSessionId: "native" });
    assert.equal((await nextOf(events)).event, "reset");
    const { data } = await nextOf(events);
    assert.deepEqual(texts(data), ["one", "two"]);
    const item = await get(`/api/sessions/sess_1/item?ref=${(data as Page).items[1]?.ref}`);
    assert.deepEqual([item.status, texts(item.body)], [200, ["two"]]);
    recordings.say("sess_1", "not told twice");
    claude.say("native", "three");
    assert.deepEqual(texts((await nextOf(events)).data), ["three"]);
    rmSync(claude.file("native"));
    assert.equal((await nextOf(events)).event, "reset");
    assert.deepEqual(texts((await nextOf(events)).data), ["recorded", "not told twice"]);
  });
}

test("a stream of an empty chat that took the recording first goes over to the agent's transcript", async (t) => {
  const { routes, claude, recordings, saveOwn } = await peerServer(t);
  const end = new AbortController();
  t.after(() => end.abort());
  await saveOwn("sess_1", { name: "shop", nativeSessionId: "native" });
  const events = await askEvents(routes, "/api/sessions/shop/chat/stream", { signal: end.signal });
  const first = nextOf(events);
  recordings.say("sess_1", "recorded");
  assert.deepEqual(texts((await first).data), ["recorded"]);
  claude.say("native", "one");
  assert.equal((await nextOf(events)).event, "reset");
  assert.deepEqual(texts((await nextOf(events)).data), ["one"]);
});

for (const [what, content] of [
  ["is empty", ""],
  ["has half a line", '{"say":"ha'],
  ["has nothing that is shown", `${'{"type":"summary"}\n'.repeat(40_000)}`],
] as const) {
  test(`an agent's transcript that ${what} does not hide the recording, and is streamed once it shows something`, async (t) => {
    const { routes, get, claude, recordings, saveOwn } = await peerServer(t);
    const end = new AbortController();
    t.after(() => end.abort());
    recordings.say("sess_1", "recorded");
    await saveOwn("sess_1", { nativeSessionId: "native" });
    const { next } = (await get(chatOf("sess_1"))).body as Page;
    const events = await askEvents(routes, "/api/sessions/sess_1/chat/stream", { signal: end.signal });
    assert.deepEqual(texts((await nextOf(events)).data), ["recorded"]);
    claude.write("native", content);
    for (const query of ["", "?from=tail"]) {
      assert.deepEqual(texts((await get(chatOf("sess_1", query))).body), ["recorded"], query);
    }
    assert.deepEqual((await get(chatOf("sess_1", `?from=${next}`))).body, { items: [], next });
    const following = nextOf(events);
    recordings.say("sess_1", "more");
    assert.deepEqual(texts((await following).data), ["more"]);
    claude.write("native", `${content.endsWith("\n") ? content : ""}{"say":"one"}\n`);
    assert.equal((await nextOf(events)).event, "reset");
    assert.deepEqual(texts((await nextOf(events)).data), ["one"]);
  });
}

test("an agent's transcript that shows nothing is read where there is no recording, until there is one", async (t) => {
  const { server, routes, claude, recordings, saveOwn } = await peerServer(t);
  const end = new AbortController();
  t.after(() => end.abort());
  claude.write("native", '{"type":"summary"}\n');
  await saveOwn("sess_1", { nativeSessionId: "native" });
  const events = await askEvents(routes, "/api/sessions/sess_1/chat/stream", { signal: end.signal });
  const ask = (etag?: string) =>
    server.ask(chatOf("sess_1"), { headers: { ...COOKIE, ...(etag !== undefined && { "if-none-match": etag }) } });
  let first = await ask();
  assert.deepEqual(texts(JSON.parse(first.body)), []);
  while (first.headers.etag === undefined) first = await ask();
  recordings.say("sess_1", "recorded");
  const after = await ask(first.headers.etag);
  assert.deepEqual([after.status, texts(JSON.parse(after.body))], [200, ["recorded"]]);
  let told = await nextOf(events);
  if (told.event === "reset") told = await nextOf(events);
  assert.deepEqual(texts(told.data), ["recorded"]);
});

for (const fields of [{ status: "failed" }, { nativeSessionId: "native" }, { agent: "gemini" }]) {
  test(`a session that ended without a prompt has an empty chat, as before, whose stream ends: ${JSON.stringify(fields)}`, async (t) => {
    const { routes, get, saveOwn } = await peerServer(t);
    await saveOwn("sess_1", { name: "shop", status: "ended", endedAt: at(9), ...fields });
    for (const name of ["sess_1", "shop"]) {
      assert.deepEqual(await get(chatOf(name)), { status: 200, body: { items: [], next: "0" } });
      const events = await askEvents(routes, `/api/sessions/${name}/chat/stream`, { signal: t.signal });
      assert.deepEqual(await events.next(), { done: true, value: undefined });
    }
  });
}

test("the stream of an empty chat ends when its session has ended, and not before", async (t) => {
  const { routes, recordings, saveOwn } = await peerServer(t);
  const end = new AbortController();
  t.after(() => end.abort());
  await saveOwn("sess_1", { name: "shop" });
  const events = await askEvents(routes, "/api/sessions/shop/chat/stream", { signal: end.signal });
  const only = events.next();
  await saveOwn("sess_1", { status: "ended", endedAt: at(9) });
  await saveOwn("sess_2", { name: "shop" });
  assert.deepEqual(await only, { done: true, value: undefined });
  const anew = await askEvents(routes, "/api/sessions/shop/chat/stream", { signal: end.signal });
  const first = nextOf(anew);
  recordings.say("sess_2", "of the second");
  assert.deepEqual(texts((await first).data), ["of the second"]);
});

for (const agent of ["daemon", "claude"] as const) {
  test(`the shared stream follows the chat of a live session of ours before there is any, as one of ${agent}`, async (t) => {
    const { routes, claude, recordings, saveOwn } = await peerServer(t);
    const end = new AbortController();
    t.after(() => end.abort());
    await saveOwn("sess_1", { nativeSessionId: "native" });
    await saveOwn("sess_2", { status: "ended", endedAt: at(9), nativeSessionId: "never" });
    const [id, never] = agent === "daemon" ? ["sess_1", "sess_2"] : ["native", "never"];
    const path = `/api/events?chat=${agent}/${id}&chat=${agent}/${never}`;
    const events = await askEvents(routes, path, { signal: end.signal });
    const nextOfChats = async (): Promise<{ event?: string | undefined; data: unknown }> => {
      for (;;) {
        const event = await nextOf(events);
        if (event.event?.startsWith("chat")) return event;
      }
    };
    const missing = { agent, id: never, error: "no such transcript" };
    const { event, data } = await nextOfChats();
    assert.deepEqual([event, data], ["chat-error", missing]);
    const store = agent === "daemon" ? recordings : claude;
    const first = nextOfChats();
    store.say(id, "one");
    assert.deepEqual(texts((await first).data), ["one"]);
    store.say(id, "two");
    assert.deepEqual(texts((await nextOfChats()).data), ["two"]);
  });
}
