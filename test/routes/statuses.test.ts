import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Route } from "../../src/server/route.ts";
import { finishedLog, put } from "../runs/home.ts";
import { COOKIE, serve, type TestServer } from "../server/harness.ts";
import { servedSessions } from "../support/routes.ts";

/** Names that are there, for the parameters of a pattern. */
const THERE: { readonly [name: string]: string } = {
  agent: "claude",
  id: "a",
  name: "with",
  job: "with",
  child: "kid",
  session: "live",
};
/** Bodies that are well-formed, for the routes that need something in theirs. */
const BODIES: { readonly [pattern: string]: object } = {
  "/api/sessions/:session/prompt": { prompt: "x" },
  "/api/sessions/:session/input": { text: "x" },
  "/api/sessions/:session/permissions": { toolCallId: "t", optionId: "o" },
};
/** Another store's kind of cursor. */
const FOREIGN = "o:1:prt_1";

/**
 * Every route, over a session with a subagent and jobs with it, with a session that is gone, and with none, and over a
 * live session of ours.
 */
async function described(t: TestContext): Promise<{ server: TestServer; routes: readonly Route[] }> {
  const { routes, bridgeHome, store, sessions } = servedSessions(t);
  sessions.add({ id: "live" });
  store.say("a", "one");
  store.say("a.kid", "from the child");
  for (const [name, session] of [
    ["with", "a"],
    ["gone", "gone"],
    ["none", undefined],
  ] as const) {
    put(bridgeHome, `runs/${name}.log`, finishedLog(name));
    put(bridgeHome, `runs/${name}.json`, { agent: "claude", job: name, ...(session !== undefined && { session }) });
  }
  return { server: await serve(t, routes), routes };
}

/** The path of `pattern` where its parameters are as in `THERE`, or as in `given`. */
function path(pattern: string, given: typeof THERE = {}): string {
  const filled = pattern.replace(/:(\w+)/g, (_, name: string) => given[name] ?? THERE[name] ?? assert.fail(name));
  return pattern.endsWith("/item") && !filled.includes("?") ? `${filled}?ref=j:0:0` : filled;
}

interface Given {
  readonly method?: string;
  readonly headers?: { [name: string]: string };
  readonly body?: string;
}

/** What is sent with a request to a route, so that nothing is wrong with it but what a test makes wrong. */
function wellFormed({ method, pattern }: Route): Given {
  if (method !== "POST") return { method, headers: COOKIE };
  const headers = { ...COOKIE, "content-type": "application/json" };
  return { method, headers, body: JSON.stringify(BODIES[pattern] ?? {}) };
}

async function assertRefused(
  server: TestServer,
  asked: string,
  status: number,
  given: Given = { headers: COOKIE },
): Promise<void> {
  const answer = await server.ask(asked, given);
  assert.equal(answer.status, status, `${given.method ?? "GET"} ${asked}: ${answer.body.slice(0, 200)}`);
  assert.equal(answer.headers["content-type"], "application/json; charset=utf-8", asked);
  const body = JSON.parse(answer.body) as { error: string };
  assert.deepEqual(Object.keys(body), ["error"], asked);
  assert.match(
    body.error.replace("application/json", "JSON"),
    /^[^/\n]*\S$/,
    "a sentence, and no path of this machine",
  );
}

test("every route refuses a stranger, another method, a query that it does not take, and a URL that is too long", async (t) => {
  const { server, routes } = await described(t);
  for (const route of routes) {
    const asked = path(route.pattern);
    const fine = wellFormed(route);
    await assertRefused(server, asked, 403, { ...fine, headers: {} });
    await assertRefused(server, asked, 403, { ...fine, headers: { ...fine.headers, host: "elsewhere.example" } });
    await assertRefused(server, asked, 405, { method: "PUT", headers: COOKIE });
    const methods = routes.filter(({ pattern }) => pattern === route.pattern).map(({ method }) => method);
    for (const method of ["GET", "POST", "DELETE"] as const) {
      if (!methods.includes(method)) await assertRefused(server, asked, 405, { method, headers: COOKIE });
    }
    const also = asked.includes("?") ? "&" : "?";
    await assertRefused(server, `${asked}${also}unknown=1`, 400, fine);
    await assertRefused(server, `${asked}${also}q=${"q".repeat(9_000)}`, 414, fine);
  }
});

test("every route that names something is 404 where it is not there, or can't be", async (t) => {
  const { server, routes } = await described(t);
  for (const route of routes) {
    const { pattern } = route;
    const fine = wellFormed(route);
    for (const name of [...pattern.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)) {
      for (const wrong of ["nothing", "..%2fa", "a%00", "a".repeat(129), "host%2fa"]) {
        await assertRefused(server, path(pattern, { [name]: wrong }), 404, fine);
      }
    }
    // The transcript of a run or job that is saved with its session, and is gone.
    if (/^\/api\/(runs\/:name|jobs\/:job)\/./.test(pattern)) {
      await assertRefused(server, path(pattern, { name: "gone", job: "gone" }), 404);
    }
  }
});

test("every route that takes a body refuses one that is no JSON, no object, or has a key that it does not know", async (t) => {
  const { server, routes } = await described(t);
  const posts = routes.filter(({ method }) => method === "POST");
  assert.equal(posts.length, 6);
  for (const route of posts) {
    const asked = path(route.pattern);
    const { headers } = wellFormed(route);
    for (const body of ["{", "[]", "null", '"x"', '{"unknown":1}', '{"__proto__":{}}']) {
      await assertRefused(server, asked, 400, { method: "POST", headers, body });
    }
    await assertRefused(server, asked, 415, { method: "POST", headers: COOKIE, body: "{}" });
    const large = JSON.stringify({ text: "x".repeat(1024 * 1024) });
    await assertRefused(server, asked, 413, { method: "POST", headers, body: large });
  }
});

test("every chat refuses the cursor of another store, and that of a run or job without a session is 409", async (t) => {
  const { server, routes } = await described(t);
  const patterns = routes.map(({ pattern }) => pattern);
  const chats = patterns.filter((pattern) => /\/(chat|chat\/stream|item|subagents\/:child(\/stream)?)$/.test(pattern));
  assert.equal(chats.length, 15);
  for (const pattern of chats) {
    const [parameter, bare] = pattern.endsWith("/item")
      ? ["ref", path(pattern).split("?")[0]]
      : ["from", path(pattern)];
    await assertRefused(server, `${bare}?${parameter}=${FOREIGN}`, 400);
    await assertRefused(server, `${bare}?${parameter}=${"j".repeat(257)}`, 400);
  }
  const ofRuns = patterns.filter((pattern) => /^\/api\/(runs\/:name|jobs\/:job)\/./.test(pattern));
  assert.equal(ofRuns.length, 14);
  for (const pattern of ofRuns) await assertRefused(server, path(pattern, { name: "none", job: "none" }), 409);
});
