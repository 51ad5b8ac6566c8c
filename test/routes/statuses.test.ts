import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { finishedLog, put } from "../runs/home.ts";
import { COOKIE, serve, type TestServer } from "../server/harness.ts";
import { served } from "../support/routes.ts";

/** Names that are there, for the parameters of a pattern. */
const THERE: { readonly [name: string]: string } = {
  agent: "claude",
  id: "a",
  name: "with",
  job: "with",
  child: "kid",
};
/** Another store's kind of cursor. */
const FOREIGN = "o:1:prt_1";

/** Every route that reads, over a session with a subagent and jobs with it, with a session that is gone, and with none. */
async function described(t: TestContext): Promise<{ server: TestServer; patterns: readonly string[] }> {
  const { routes, bridgeHome, store } = served(t);
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
  return { server: await serve(t, routes), patterns: routes.map(({ pattern }) => pattern) };
}

/** The path of `pattern` where its parameters are as in `THERE`, or as in `given`. */
function path(pattern: string, given: typeof THERE = {}): string {
  const filled = pattern.replace(/:(\w+)/g, (_, name: string) => given[name] ?? THERE[name] ?? assert.fail(name));
  return pattern.endsWith("/item") && !filled.includes("?") ? `${filled}?ref=j:0:0` : filled;
}

async function assertRefused(
  server: TestServer,
  asked: string,
  status: number,
  given: { method?: string; headers?: { [name: string]: string } } = { headers: COOKIE },
): Promise<void> {
  const answer = await server.ask(asked, given);
  assert.equal(answer.status, status, `${given.method ?? "GET"} ${asked}: ${answer.body.slice(0, 200)}`);
  assert.equal(answer.headers["content-type"], "application/json; charset=utf-8", asked);
  const body = JSON.parse(answer.body) as { error: string };
  assert.deepEqual(Object.keys(body), ["error"], asked);
  assert.match(body.error, /^[^/\n]*\S$/, "a sentence, and no path of this machine");
}

test("every route refuses a stranger, another method, a query that it does not take, and a URL that is too long", async (t) => {
  const { server, patterns } = await described(t);
  for (const pattern of patterns) {
    const asked = path(pattern);
    await assertRefused(server, asked, 403, {});
    await assertRefused(server, asked, 403, { headers: { ...COOKIE, host: "elsewhere.example" } });
    await assertRefused(server, asked, 405, { method: "POST", headers: COOKIE });
    const also = asked.includes("?") ? "&" : "?";
    await assertRefused(server, `${asked}${also}unknown=1`, 400);
    await assertRefused(server, `${asked}${also}q=${"q".repeat(9_000)}`, 414);
  }
});

test("every route that names something is 404 where it is not there, or can't be", async (t) => {
  const { server, patterns } = await described(t);
  for (const pattern of patterns) {
    for (const name of [...pattern.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)) {
      for (const wrong of ["nothing", "..%2fa", "a%00", "a".repeat(129)]) {
        await assertRefused(server, path(pattern, { [name]: wrong }), 404);
      }
    }
    // The transcript of a run or job that is saved with its session, and is gone.
    if (/^\/api\/(runs\/:name|jobs\/:job)\/./.test(pattern)) {
      await assertRefused(server, path(pattern, { name: "gone", job: "gone" }), 404);
    }
  }
});

test("every chat refuses the cursor of another store, and that of a run or job without a session is 409", async (t) => {
  const { server, patterns } = await described(t);
  const chats = patterns.filter((pattern) => /\/(chat|stream|item|subagents\/:child)$/.test(pattern));
  assert.equal(chats.length, 15);
  for (const pattern of chats) {
    const [parameter, bare] = pattern.endsWith("/item")
      ? ["ref", path(pattern).split("?")[0]]
      : ["from", path(pattern)];
    await assertRefused(server, `${bare}?${parameter}=${FOREIGN}`, 400);
    await assertRefused(server, `${bare}?${parameter}=${"j".repeat(257)}`, 400);
  }
  const ofRuns = patterns.filter((pattern) => /^\/api\/(runs\/:name|jobs\/:job)\/./.test(pattern));
  assert.equal(ofRuns.length, 11);
  for (const pattern of ofRuns) await assertRefused(server, path(pattern, { name: "none", job: "none" }), 409);
});
