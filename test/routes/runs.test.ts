import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogChunk } from "../../src/runs/log-file.ts";
import { age, finishedLog, fixture, put } from "../runs/home.ts";
import { askEvents, askJson, refusal } from "../support/ask.ts";
import { type Served, served, servedSessions } from "../support/routes.ts";
import { nextOf, until } from "../support/turns.ts";

/** The routes over a home with runs of a session `a` that has a chat, of one that has none, and of no session. */
function servedRuns(t: TestContext): Served {
  const all = served(t);
  const { bridgeHome: home, store, time } = all;
  const old = time.now() - 3_600_000;
  const run = (name: string, metadata?: object): void => {
    put(home, `runs/${name}.log`, finishedLog(name), old);
    if (metadata !== undefined) put(home, `runs/${name}.json`, metadata, old);
  };
  store.say("a", "one", "two");
  store.write("a.kid", '{"say":"from the child"}\n');
  run("2026-10-05-14-05-09-claude-00000001", { session: "a", job: "with-log" });
  run("2026-10-05-14-05-09-claude-00000002", { sessionId: "gone", session: "a" });
  run("2026-10-05-14-05-09-claude-00000003");
  run("2026-10-05-14-05-09-codex-00000004", { session: "a" });
  run("2026-10-05-14-05-09-claude-00000005", { session: "../a" });
  put(
    home,
    "jobs.json",
    {
      version: 2,
      jobs: [
        { name: "with-log", agent: "claude", status: "done", startedAt: old },
        { name: "recovered", agent: "claude", status: "done", threadId: "a", prompt: "Do.", startedAt: old },
        { name: "no session", agent: "claude", status: "done", startedAt: old },
        { name: "gone", agent: "claude", sessionId: "gone", startedAt: old },
        { name: "of-codex", agent: "codex", sessionId: "a", startedAt: old },
      ],
    },
    old,
  );
  return all;
}

const RUN = "/api/runs/2026-10-05-14-05-09-claude-0000000";

test("the list is paged by its query, and its answer changes its facts only when it changes", async (t) => {
  const { routes, bridgeHome } = servedRuns(t);
  const seen: string[] = [];
  for (let before: string | null = ""; before !== null; ) {
    const query: string = before === "" ? "" : `&before=${encodeURIComponent(before)}`;
    const { runs, next, total } = (await askJson(routes, `/api/runs?limit=2${query}`)).body as {
      runs: { name: string }[];
      next: string | null;
      total: number;
    };
    assert.equal(total, 9);
    seen.push(...runs.map(({ name }) => name));
    before = next;
  }
  const whole = await askJson(routes, "/api/runs?limit=500");
  assert.deepEqual(
    (whole.body as { runs: { name: string }[] }).runs.map(({ name }) => name),
    seen,
  );
  assert.deepEqual((await askJson(routes, "/api/runs?limit=500")).validity, whole.validity);
  put(bridgeHome, "runs/new.log", finishedLog("x"));
  assert.notDeepEqual((await askJson(routes, "/api/runs?limit=500")).validity, whole.validity);
});

test("a query that is not well-formed is refused before anything is looked for", async (t) => {
  const { routes } = servedRuns(t);
  for (const query of [
    "limit=0",
    "limit=501",
    "limit=1.5",
    "limit=x",
    "before=x",
    "before=1:",
    "before=1.5",
    "before=",
  ]) {
    assert.equal(await refusal(routes, `/api/runs?${query}`), "bad-request", query);
  }
  for (const query of ["from=-1", "from=x", "from=1.5", "from=9007199254740992"]) {
    assert.equal(await refusal(routes, `/api/runs/nothing?${query}`), "bad-request", query);
  }
});

test("a log is read on where an earlier read ended, whether active or archived", async (t) => {
  const { routes, bridgeHome } = servedRuns(t);
  const log = finishedLog("2026-10-05-14-05-09-claude-00000001");
  const size = Buffer.byteLength(log);
  const first = await askJson(routes, `${RUN}1`);
  assert.deepEqual(first.body, { text: log, next: size, size });
  assert.equal(first.validity?.uses[0]?.path, join(bridgeHome, `runs/2026-10-05-14-05-09-claude-00000001.log`));
  assert.deepEqual((await askJson(routes, `${RUN}1?from=${size}`)).body, { text: "", next: size, size });
  put(bridgeHome, "runs/archive/x", "");
  const file = "2026-10-05-14-05-09-claude-00000001.log";
  renameSync(join(bridgeHome, "runs", file), join(bridgeHome, "runs/archive", `${file}-1790000200000-7`));
  assert.deepEqual((await askJson(routes, `${RUN}1?from=9`)).body, { text: log.slice(9), next: size, size });
});

test("a log that is archived between being found and being read is read all the same", async (t) => {
  const { routes, runs, bridgeHome } = servedRuns(t);
  const name = "2026-10-05-14-05-09-claude-00000001";
  mkdirSync(join(bridgeHome, "runs/archive"), { recursive: true });
  const find = runs.run.bind(runs);
  let moved = false;
  runs.run = async (asked) => {
    const found = await find(asked);
    if (!moved) renameSync(join(bridgeHome, `runs/${name}.log`), join(bridgeHome, `runs/archive/${name}.log-5-a`));
    moved = true;
    return found;
  };
  assert.equal(((await askJson(routes, `/api/runs/${name}`)).body as LogChunk).text, finishedLog(name));
});

test("a log that ends inside a character has no ETag while it may go on, and an end once its run is over", async (t) => {
  const { routes, bridgeHome, time } = servedRuns(t);
  const log = Buffer.concat([Buffer.from("14:05:09 codex in /srv, access edit, by you\n14:05:12 説"), Buffer.of(0xe6)]);
  const path = join(bridgeHome, "runs/cut.log");
  writeFileSync(path, log);
  age(path, time.now());
  for (const from of [0, log.length - 1]) {
    const running = await askJson(routes, `/api/runs/cut?from=${from}`);
    assert.deepEqual([(running.body as LogChunk).next, running.validity?.settled], [log.length - 1, false]);
  }
  assert.equal((await askJson(routes, `/api/runs/cut?from=${log.length}`)).validity?.settled, true);
  time.pass(150_000);
  const over = await askJson(routes, "/api/runs/cut");
  assert.deepEqual([(over.body as LogChunk).next, over.validity?.settled], [log.length, true]);
  assert.match((over.body as LogChunk).text, /説\ufffd$/);
});

test("a recovered job has an empty log and the chat of its saved session", async (t) => {
  const { routes } = servedRuns(t);
  const body = { text: "", next: 0, size: 0, recovered: true, hasLog: false };
  assert.deepEqual((await askJson(routes, "/api/runs/recovered")).body, body);
  const { items } = (await askJson(routes, "/api/runs/recovered/chat")).body as { items: { text: string }[] };
  assert.deepEqual(
    items.map(({ text }) => text),
    ["one", "two"],
  );
});

test("below a run hang its chat, stream, item and subagents", async (t) => {
  const { routes } = servedRuns(t);
  const chat = (await askJson(routes, `${RUN}1/chat`)).body as { items: { ref: string }[] };
  assert.deepEqual(chat, (await askJson(routes, "/api/transcripts/claude/a/chat")).body);
  const item = await askJson(routes, `${RUN}1/item?ref=${chat.items[0]?.ref}`);
  assert.equal((item.body as typeof chat).items.length, 1);
  const children = (await askJson(routes, `${RUN}1/subagents`)).body as { subagents: { id: string }[] };
  assert.deepEqual(
    children.subagents.map(({ id }) => id),
    ["kid"],
  );
  const child = (await askJson(routes, `${RUN}1/subagents/kid`)).body as { items: { text: string }[] };
  assert.equal(child.items[0]?.text, "from the child");
  const events = await askEvents(routes, `${RUN}1/chat/stream`, { signal: t.signal });
  assert.equal(((await nextOf(events)).data as typeof chat).items.length, 2);
});

test("a stream of a run's recording goes over to the agent's transcript when that is there", async (t) => {
  const { routes, bridgeHome, store, recordings, time } = servedSessions(t);
  const end = new AbortController();
  t.after(() => end.abort());
  const name = "2026-10-05-14-05-09-claude-00000009";
  put(bridgeHome, `runs/${name}.log`, finishedLog("x"), time.now() - 3_600_000);
  put(bridgeHome, `runs/${name}.json`, { session: "native", recording: "sess_00000009" }, time.now() - 3_600_000);
  recordings.say("sess_00000009", "recorded");
  const events = await askEvents(routes, `/api/runs/${name}/chat/stream`, { signal: end.signal });
  const textsOf = (data: unknown): string[] => (data as { items: { text: string }[] }).items.map(({ text }) => text);
  assert.deepEqual(textsOf((await nextOf(events)).data), ["recorded"]);
  store.say("native", "one", "two");
  let isOver = false;
  const next = nextOf(events).finally(() => {
    isOver = true;
  });
  await until(() => {
    time.pass(100);
    return isOver;
  });
  assert.equal((await next).event, "reset");
  assert.deepEqual(textsOf((await nextOf(events)).data), ["one", "two"]);
});

test("the pages of a run's chat are of another state at once when the run or job is in another session", async (t) => {
  const { routes, bridgeHome, store, time } = servedRuns(t);
  store.say("b", "another");
  const jobs = join(bridgeHome, "jobs.json");
  const metadata = join(bridgeHome, "runs/2026-10-05-14-05-09-claude-00000001.json");
  const log = "runs/2026-10-05-14-05-09-claude-recovered.log";
  for (const [target, change] of [
    [`${RUN}1/chat`, () => writeFileSync(metadata, '{"session":"b"}')],
    ["/api/runs/recovered/chat", () => writeFileSync(jobs, '[{"name":"recovered","agent":"claude","threadId":"b"}]')],
    ["/api/runs/recovered/chat", () => put(bridgeHome, log, finishedLog("x"))],
  ] as const) {
    for (const folder of ["runs", ""]) age(join(bridgeHome, folder), time.now() - 3_600_000);
    for (const file of [jobs, metadata]) age(file, time.now() - 3_600_000);
    const { validity } = await askJson(routes, target);
    assert.deepEqual(validity?.factsNow?.(), validity?.facts);
    change();
    assert.notDeepEqual(validity?.factsNow?.(), validity?.facts);
  }
});

test("a job has its subagents, also by the session that only a run of it has", async (t) => {
  const { routes } = servedRuns(t);
  for (const job of ["with-log", "recovered"]) {
    const { subagents } = (await askJson(routes, `/api/jobs/${job}/subagents`)).body as { subagents: { id: string }[] };
    assert.deepEqual(
      subagents.map(({ id }) => id),
      ["kid"],
    );
    const child = (await askJson(routes, `/api/jobs/${job}/subagents/kid`)).body as { items: { text: string }[] };
    assert.equal(child.items[0]?.text, "from the child");
  }
});

test("what is not there is told in the contract's order", async (t) => {
  const { routes } = servedRuns(t);
  const cases: readonly (readonly [target: string, kind: string])[] = [
    ["/api/runs/nothing", "not-found"],
    ["/api/runs/nothing/chat", "not-found"],
    ["/api/runs/nothing/chat?from=%20", "bad-request"],
    ["/api/runs/2026-10-05-14-05-09-claude-00000001.log", "not-found"],
    ["/api/runs/..%2fjobs", "not-found"],
    [`${RUN}3/chat`, "conflict"],
    [`${RUN}3/chat?from=o:1:prt_1`, "conflict"],
    [`${RUN}3/subagents`, "conflict"],
    [`${RUN}2/chat`, "not-found"],
    [`${RUN}2/chat?from=o:1:prt_1`, "bad-request"],
    [`${RUN}2/chat?from=j:0:0`, "not-found"],
    [`${RUN}2/subagents`, "not-found"],
    [`${RUN}5/chat`, "not-found"],
    [`${RUN}1/chat?from=o:1:prt_1`, "bad-request"],
    [`${RUN}1/subagents/other`, "not-found"],
    [`${RUN}1/subagents/other?from=o:1:prt_1`, "bad-request"],
    ["/api/runs/2026-10-05-14-05-09-codex-00000004/chat", "not-found"],
    ["/api/jobs/nothing/subagents", "not-found"],
    ["/api/jobs/no%20session/subagents", "conflict"],
    ["/api/jobs/no%20session/subagents/kid?from=o:1:prt_1", "conflict"],
    ["/api/jobs/gone/subagents", "not-found"],
    ["/api/jobs/gone/subagents/kid", "not-found"],
    ["/api/jobs/recovered/subagents/a", "not-found"],
    ["/api/jobs/recovered/subagents/..%2fa", "not-found"],
  ];
  for (const [target, kind] of cases) assert.equal(await refusal(routes, target), kind, target);
});

test("where there is no store at all there are no subagents", async (t) => {
  const { routes } = servedRuns(t);
  assert.deepEqual((await askJson(routes, "/api/jobs/of-codex/subagents")).body, { subagents: [] });
  assert.deepEqual(await refusal(routes, "/api/jobs/of-codex/subagents/kid"), "not-found");
});

test("the state holds the newest 50 runs, where to go on, and the jobs of those runs", async (t) => {
  const { routes, bridgeHome, time } = servedRuns(t);
  for (let i = 10; i < 60; i++) {
    put(bridgeHome, `runs/2026-10-04-00-00-${i}-codex-000000${i}.log`, finishedLog("x"), time.now() - 3_600_000);
  }
  const { body } = await askJson(routes, "/api/state");
  const state = body as { runs: { name: string }[]; runsNext: string; runsTotal: number; running: []; jobs: object };
  assert.deepEqual([state.runs.length, state.runsTotal, state.running], [50, 59, []]);
  assert.ok(Object.hasOwn(state.jobs, "with-log"));
  const rest = (await askJson(routes, `/api/runs?before=${encodeURIComponent(state.runsNext)}`)).body as {
    runs: { name: string }[];
    next: null;
  };
  assert.deepEqual([rest.runs.length, rest.next], [9, null]);
  assert.equal(new Set([...state.runs, ...rest.runs].map(({ name }) => name)).size, 59);
});

test("/api/events tells that runs changed", async (t) => {
  const { routes, bridgeHome, runs } = servedRuns(t);
  await runs.look();
  const events = await askEvents(routes, "/api/events", { signal: t.signal });
  assert.equal((await nextOf(events)).event, "hello");
  const told = nextOf(events);
  await until(() => true);
  put(bridgeHome, "runs/new.log", finishedLog("x"));
  await runs.look();
  const { event, data } = await told;
  assert.deepEqual([event, (data as { ids: string[] }).ids], ["runs", ["new"]]);
});

test("the expected file of the fixture fits the schema that openapi.json gives", async (t) => {
  const { routes } = served(t);
  const { answer } = routes.find(({ pattern }) => pattern === "/api/runs") ?? {};
  const item = (answer as { properties: { runs: { items: { required: string[] } } } }).properties.runs.items;
  const { runs } = JSON.parse(readFileSync(fixture("api-runs.json"), "utf8")) as { runs: object[] };
  for (const run of runs) for (const field of item.required) assert.ok(Object.hasOwn(run, field), field);
});
