import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/platform/clock.ts";
import { Failure } from "../../src/platform/failure.ts";
import { makeLoginCheck, makeLoginCode } from "../../src/platform/login-code.ts";
import { healthRoute } from "../../src/routes/health.ts";
import { homeRoute, SIGN_IN_ASSETS } from "../../src/routes/home.ts";
import type { CommandWords } from "../../src/routes/home-page.ts";
import { openApiRoute } from "../../src/routes/openapi.ts";
import type { Route } from "../../src/server/route.ts";
import { COOKIE, KEY, plainRoute, serve, type TestServer } from "../server/harness.ts";

const secret = { key: KEY, bootNonce: "b".repeat(32) };

const WORDS: CommandWords = {
  withoutPaths: (command) => `node it.mjs ${command}`,
};

const PAGE = "<!doctype html><title>The dashboard</title>";

async function served(
  t: TestContext,
  { key = () => KEY, dashboard = PAGE }: { key?: () => string; dashboard?: string | undefined } = {},
): Promise<TestServer> {
  const routes: Route[] = [
    homeRoute({
      key,
      bootNonce: secret.bootNonce,
      checkLogin: makeLoginCheck(systemClock),
      dashboard,
      words: WORDS,
    }),
    healthRoute(secret.bootNonce),
    openApiRoute(() => routes, "1.2.3"),
    plainRoute("/api/things/:id", undefined, { summary: "one & only" }),
  ];
  return serve(t, routes, { assets: SIGN_IN_ASSETS, key });
}

test("healthz answers everyone", async (t) => {
  const server = await served(t);
  const { status, body } = await server.ask("/healthz");
  assert.deepEqual([status, body], [200, '{"ok":true}']);
});

test("a code lets a browser in once, and the key goes into its cookie", async (t) => {
  const server = await served(t);
  const code = makeLoginCode(secret, systemClock);
  const first = await server.ask(`/?t=${code}`, { headers: { "sec-fetch-site": "none" } });
  assert.deepEqual([first.status, first.headers.location, first.body], [302, "/", ""]);
  assert.deepEqual(first.headers["set-cookie"], [`ab_ui=${KEY}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000`]);
  assert.deepEqual([first.headers["cache-control"], first.headers["referrer-policy"]], ["no-store", "no-referrer"]);

  const [cookie = ""] = first.headers["set-cookie"]?.[0]?.split(";") ?? [];
  assert.equal((await server.ask("/", { headers: { cookie } })).status, 200);

  const again = await server.ask(`/?t=${code}`);
  assert.deepEqual([again.status, again.headers["set-cookie"]], [403, undefined]);
  assert.match(again.body, /This link no longer works/);
});

test("another site's page can't use up a code", async (t) => {
  const server = await served(t);
  const code = makeLoginCode(secret, systemClock);
  assert.equal((await server.ask(`/?t=${code}`, { headers: { "sec-fetch-site": "cross-site" } })).status, 403);
  assert.equal((await server.ask(`/?t=${code}`, { headers: { host: "evil.example" } })).status, 403);
  assert.equal((await server.ask(`/?t=${code}`)).status, 302);
});

test("a wrong code is 403, also in a browser that is in already, which is told so", async (t) => {
  const server = await served(t);
  const wrong = makeLoginCode({ ...secret, bootNonce: "c".repeat(32) }, systemClock);
  for (const code of [wrong, "x", "%00", "a%2fb", "a".repeat(129), "a".repeat(8_000)])
    assert.equal((await server.ask(`/?t=${code}`)).status, 403, code);
  const inside = await server.ask(`/?t=${wrong}`, { headers: COOKIE });
  assert.equal(inside.status, 403);
  assert.match(inside.body, /this browser is let in already/);
});

test("a query of the first page that is no code is refused", async (t) => {
  const server = await served(t);
  for (const query of ["?t=", "?t", "?x=1", "?t=a&t=b"]) {
    assert.equal((await server.ask(`/${query}`)).status, 400, query);
  }
});

test("who has no key is shown how to get in, and no route", async (t) => {
  const server = await served(t);
  const { status, headers, body } = await server.ask("/");
  assert.deepEqual([status, headers["content-type"]], [403, "text/html; charset=utf-8"]);
  assert.match(body, /<pre>node it\.mjs link<\/pre>/);
  assert.match(body, /curl -b ab_ui=\$\(node it\.mjs token\) /);
  assert.doesNotMatch(body, /\/opt/);
  assert.ok(body.includes(`http://127.0.0.1:${server.port}/api/state`), "curl goes to the server's own port");
  const elsewhere = await server.ask("/?t=x", { headers: { host: "localhost:9000" } });
  assert.match(elsewhere.body, /http:\/\/localhost:9000\/api\/state/);
  assert.doesNotMatch(body, /openapi|\/api\/things/);
});

test("a key file that can't be read is said to be so", async (t) => {
  const server = await served(t, {
    key: () => {
      throw new Failure("failed", "the key file is damaged");
    },
  });
  const answer = await server.ask(`/?t=${makeLoginCode(secret, systemClock)}`);
  assert.deepEqual([answer.status, answer.body], [403, '{"error":"the key file is damaged"}']);
});

test("who has the key gets the dashboard, and nothing of it that is not ours runs", async (t) => {
  const server = await served(t);
  const { status, headers, body } = await server.ask("/", { headers: { ...COOKIE, host: "localhost:9000" } });
  assert.deepEqual([status, body], [200, PAGE]);
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  assert.match(policy, /worker-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe|\*|data:|blob:|https?:/);
});

test("a server that runs from its source says that the dashboard is made by the build", async (t) => {
  const server = await served(t, { dashboard: "" });
  const { status, body } = await server.ask("/", { headers: COOKIE });
  assert.deepEqual([status, /npm start/.test(body)], [200, true]);
});

test("the description of the API is made from the table, for who has the key", async (t) => {
  const server = await served(t);
  assert.equal((await server.ask("/api/openapi.json")).status, 403);
  const { body } = await server.ask("/api/openapi.json", { headers: COOKIE });
  const document = JSON.parse(body) as { openapi: string; info: { version: string }; paths: object };
  assert.deepEqual([document.openapi, document.info.version], ["3.1.0", "1.2.3"]);
  assert.deepEqual(Object.keys(document.paths), ["/", "/healthz", "/api/openapi.json", "/api/things/{id}"]);
});
