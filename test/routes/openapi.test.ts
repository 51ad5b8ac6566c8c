import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/platform/clock.ts";
import { makeLoginCheck, makeLoginCode } from "../../src/platform/login-code.ts";
import { healthRoute } from "../../src/routes/health.ts";
import { homeRoute, SIGN_IN_ASSETS } from "../../src/routes/home.ts";
import { openApiRoute } from "../../src/routes/openapi.ts";
import { UNCUT_ITEMS } from "../../src/routes/schemas.ts";
import { openApiDocument } from "../../src/server/openapi.ts";
import type { Route } from "../../src/server/route.ts";
import { COOKIE, KEY, serve, type TestServer } from "../server/harness.ts";
import { servedSessions } from "../support/routes.ts";

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly required?: boolean; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly [media: string]: { readonly schema?: Schema } } };
  readonly responses: { readonly [status: string]: { readonly content?: { readonly [media: string]: unknown } } };
}

interface Schema {
  readonly type?: string;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly properties?: { readonly [key: string]: Schema };
  readonly required?: readonly string[];
}

const BOOT = "ab".repeat(16);

const WORDS = { withoutPaths: (command: string) => command };

/** A server with every route that is served, one chat with a subagent in its store, and the document over it. */
async function described(t: TestContext) {
  const { routes: own, store, inventory, sessions } = servedSessions(t);
  sessions.add({ id: "live" });
  store.say("a", "parent");
  store.say("a.c", "child");
  store.totalsOf = { tokens: {} };
  const table = (): readonly Route[] => routes;
  const routes: readonly Route[] = [
    homeRoute({
      key: () => KEY,
      bootNonce: BOOT,
      checkLogin: makeLoginCheck(systemClock),
      dashboard: undefined,
      words: WORDS,
    }),
    healthRoute(BOOT),
    openApiRoute(table, "1"),
    ...own,
  ];
  inventory.start();
  await inventory.settled();
  const later = { now: () => (systemClock.now() + 60_000) as ReturnType<typeof systemClock.now> };
  const server = await serve(t, routes, { assets: SIGN_IN_ASSETS, clock: later });
  const paths = openApiDocument(routes, "1").paths as { [path: string]: { [method: string]: Operation } };
  return { server, paths };
}

/** The status and head of an answer; a stream is left at once. */
async function head(server: TestServer, path: string, headers: { [name: string]: string }): Promise<IncomingMessage> {
  const request = get({ host: "127.0.0.1", port: server.port, path, headers, agent: false });
  request.on("error", () => {});
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {});
  response.destroy();
  return response;
}

const mediaOf = ({ headers }: IncomingMessage): string => (headers["content-type"] ?? "").split(";")[0] ?? "";

test("every route answers as the document says: its content type, and 304 just where there is an ETag", async (t) => {
  const { server, paths } = await described(t);
  let answered = 0;
  for (const [pattern, { get: operation }] of Object.entries(paths)) {
    if (operation === undefined) continue;
    const required = operation.parameters.flatMap(({ name, required }) =>
      required && name === "ref" ? ["ref=0"] : [],
    );
    const path = pattern
      .replace("{agent}", "claude")
      .replace("{id}", "a")
      .replace("{child}", "c")
      .replace("{session}", "live");
    const target = required.length === 0 ? path : `${path}?${required.join("&")}`;
    const answer = await head(server, target, COOKIE);
    const media = mediaOf(answer);
    const status = String(answer.statusCode);
    const error = media === "application/json" && Number(status) >= 400;
    assert.ok(error || operation.responses[status]?.content?.[media], `${target}: ${status} ${media}`);
    if (status !== "200") continue;
    answered++;
    const { etag } = answer.headers;
    // What is still being counted has none yet.
    if (pattern !== "/api/transcripts/{agent}/{id}") {
      assert.equal(operation.responses["304"] !== undefined, etag !== undefined, `${target}: ETag ${etag}`);
    }
    if (etag === undefined) continue;
    assert.equal((await head(server, target, { ...COOKIE, "if-none-match": etag })).statusCode, 304, target);
  }
  assert.equal(answered, 23);
});

test("a stream is described as one, and nothing else is", async (t) => {
  const { paths } = await described(t);
  const streams = Object.entries(paths).filter(([, { get }]) => get?.responses["200"]?.content?.["text/event-stream"]);
  for (const [path] of Object.entries(paths)) {
    const isStream = path.endsWith("/stream") || path === "/api/events";
    assert.equal(
      streams.some(([each]) => each === path),
      isStream,
      path,
    );
  }
});

test("an export is described with every content type that it may have, and no ETag", async (t) => {
  const { paths } = await described(t);
  const exports = Object.entries(paths).filter(([path]) => path.endsWith("/export"));
  // Those of sessions are of the server that looks for peers.
  assert.deepEqual(
    exports.map(([path]) => path),
    [
      "/api/transcripts/{agent}/{id}/export",
      "/api/transcripts/{agent}/{id}/subagents/{child}/export",
      "/api/runs/{name}/export",
      "/api/runs/{name}/subagents/{child}/export",
      "/api/jobs/{job}/subagents/{child}/export",
    ],
  );
  for (const [path, { get: operation }] of exports) {
    const content = operation?.responses["200"]?.content ?? {};
    assert.deepEqual(Object.keys(content), ["text/markdown", "application/json", "text/html"], path);
    const query = operation?.parameters.map(({ name }) => name).filter((name) => !path.includes(`{${name}}`));
    assert.deepEqual(query, ["format", "source", "subagents", "reasoning", "maxToolChars"], path);
    assert.deepEqual(
      ["304", "400", "404", "409"].map((status) => operation?.responses[status] !== undefined),
      [false, true, true, true],
      path,
    );
  }
});

test("a parameter that is required is missed, and one that repeats is a list of what one text may be", async (t) => {
  const { server, paths } = await described(t);
  const item = paths["/api/transcripts/{agent}/{id}/item"]?.get;
  assert.deepEqual(
    item?.parameters.map(({ name, required }) => [name, required]),
    [
      ["agent", true],
      ["id", true],
      ["ref", true],
      ["ansi", undefined],
    ],
  );
  for (const [query, error] of [
    ["", 'the parameter \\"ref\\" is missing'],
    ["?ref=a%20b", "ref must be the ref of an item of this chat"],
  ]) {
    const { status, body } = await server.ask(`/api/transcripts/claude/a/item${query}`, { headers: COOKIE });
    assert.deepEqual([status, body], [400, `{"error":"${error}"}`]);
  }
  const chat = paths["/api/events"]?.get?.parameters[0];
  assert.deepEqual([chat?.name, chat?.schema], ["chat", { type: "array", items: { type: "string" }, maxItems: 100 }]);
  const many = Array.from({ length: 101 }, () => "chat=claude/a").join("&");
  assert.equal((await server.ask(`/api/events?${many}`, { headers: COOKIE })).status, 400);
});

test("the first page is described with all that it answers: the page, the way in, and how to get in", async (t) => {
  const { server, paths } = await described(t);
  const responses = paths["/"]?.get?.responses;
  assert.ok(responses);
  const code = makeLoginCode({ key: KEY, bootNonce: BOOT }, systemClock);
  const answers = [await head(server, "/", COOKIE), await head(server, `/?t=${code}`, {}), await head(server, "/", {})];
  assert.deepEqual(
    answers.map((answer) => [answer.statusCode, mediaOf(answer)]),
    [
      [200, "text/html"],
      [302, "text/html"],
      [403, "text/html"],
    ],
  );
  assert.deepEqual(
    ["200", "302", "403"].map((status) => Object.keys(responses[status]?.content ?? {})),
    [["text/html"], [], ["text/html"]],
  );
});

test("an uncut item is described with all its fields", () => {
  const { properties } = UNCUT_ITEMS as {
    properties: { items: { items: { properties: object; required: string[] } } };
  };
  const { properties: fields, required } = properties.items.items;
  assert.deepEqual(Object.keys(fields), [
    "kind",
    "at",
    "ref",
    "text",
    "tool",
    "summary",
    "subagent",
    "id",
    "of",
    "error",
    "cut",
    "input",
    "diffs",
  ]);
  assert.deepEqual(required, ["kind", "at", "ref"]);
});

test("the files of the page are served and deliberately not described", async (t) => {
  const { server, paths } = await described(t);
  for (const { path } of SIGN_IN_ASSETS) {
    assert.equal((await server.ask(path)).status, 200);
    assert.equal(paths[path], undefined);
  }
});

test("what changes something is described with its body and its status", async (t) => {
  const { paths } = await described(t);
  const changing = Object.entries(paths).flatMap(([path, { post, delete: remove }]) => [
    ...(post === undefined ? [] : [[path, "post", post] as const]),
    ...(remove === undefined ? [] : [[path, "delete", remove] as const]),
  ]);
  const rows = changing.map(([path, method, { requestBody, responses }]) => {
    const schema = requestBody?.content["application/json"]?.schema;
    const fine = Object.keys(responses).filter((status) => status.startsWith("2"));
    return [method, path.replace("/api/sessions", ""), fine, Object.keys(schema?.properties ?? {}), schema?.required];
  });
  const start = ["kind", "agent", "cwd", "prompt", "name", "model", "argv", "permit", "columns", "rows"];
  assert.deepEqual(rows, [
    ["post", "", ["201"], start, ["cwd"]],
    ["delete", "/{session}", ["200"], [], undefined],
    ["post", "/{session}/restart", ["201"], [], []],
    ["post", "/{session}/prompt", ["200", "202"], ["prompt", "interrupt", "wait"], ["prompt"]],
    ["post", "/{session}/cancel", ["200"], [], []],
    ["post", "/{session}/input", ["200"], ["text", "end", "columns", "rows"], []],
    ["post", "/{session}/permissions", ["200"], ["toolCallId", "optionId"], ["toolCallId", "optionId"]],
  ]);
  for (const [path, method, { responses }] of changing) {
    for (const status of method === "post" ? ["409", "413", "415"] : ["409"]) {
      assert.ok(responses[status], `${method} ${path} ${status}`);
    }
  }
});

test("what reads a session is described with its 409, and nothing else", async (t) => {
  const { paths } = await described(t);
  const refusing = Object.entries(paths).filter(([, { get }]) => Object.hasOwn(get?.responses ?? {}, "409"));
  const reads =
    /^\/api\/(runs\/\{name\}\/(chat|item|export|subagents)|jobs\/\{job\}\/subagents|transcripts\/\{agent\})/;
  assert.deepEqual(
    refusing.map(([path]) => path),
    Object.keys(paths).filter((path) => reads.test(path)),
  );
  assert.equal(refusing.length, 24);
});
