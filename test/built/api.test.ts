import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { assistant, CHILD, LONG_PROMPTS, LONG_SESSION, SESSION, user, writeHistory } from "./history.ts";
import { type Api, ask, events, Machine, NODES, open, type Running } from "./product.ts";

for (const { name, node } of NODES) {
  describe(`the built file on ${name}`, () => {
    const machine = new Machine(node);
    let server: Running;
    let api: Api;

    before(async () => {
      writeHistory(machine);
      server = machine.start(["serve", "--port", "0"]);
      const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
      api = { port: Number(port), key: (await machine.run("token")).out.trim() };
    });

    after(() => machine.remove());

    const chat = `/api/transcripts/claude/${SESSION}/chat`;
    const longChat = `/api/transcripts/claude/${LONG_SESSION}/chat`;

    test("serve prints a way in that works once, the stores, and a line for curl", async () => {
      await server.printed(/claude +2 sessions in ~\/\.claude\/projects\n/);
      await server.printed(
        new RegExp(`curl -b ab_ui=\\$\\(.+agent-bridge\\.mjs token\\) http://127\\.0\\.0\\.1:${api.port}/api/state\n`),
      );
      const [, path = ""] = await server.printed(/http:\/\/127\.0\.0\.1:\d+(\/\?t=\S+)/);
      const { status, headers } = await ask({ ...api, key: "" }, path);
      assert.deepEqual(
        [status, headers.location, headers["set-cookie"]],
        [302, "/", [`ab_ui=${api.key}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000`]],
      );
      assert.equal((await ask({ ...api, key: "" }, path)).status, 403);
    });

    test("link prints another way in", async () => {
      const { code, out } = await machine.run("link");
      assert.equal(code, 0);
      assert.equal(
        (await ask({ ...api, key: "" }, new URL(out.trim()).pathname + new URL(out.trim()).search)).status,
        302,
      );
    });

    test("the state names the stores", async () => {
      const { status, json } = await ask(api, "/api/state");
      assert.equal(status, 200);
      assert.equal(json.pid, server.child.pid);
      assert.deepEqual([json.peers, json.runs, json.runsNext, json.jobs], [[], [], null, {}]);
      assert.deepEqual(
        json.stores
          .filter((store: { sessions: number }) => store.sessions > 0)
          .map((store: { agent: string; sessions: number }) => [store.agent, store.sessions]),
        [["claude", 2]],
      );
    });

    test("the list holds the sessions, newest first", async () => {
      const { json } = await ask(api, "/api/transcripts");
      assert.deepEqual(json.transcripts.map(({ id }: { id: string }) => id).sort(), [SESSION, LONG_SESSION].sort());
      assert.deepEqual([json.total, json.next], [2, null]);
      const first = (await ask(api, "/api/transcripts?limit=1")).json;
      const second = (await ask(api, `/api/transcripts?limit=1&before=${encodeURIComponent(first.next)}`)).json;
      assert.deepEqual([...first.transcripts, ...second.transcripts], json.transcripts);
    });

    test("an entry has the session's title and, once counted, its tokens", async () => {
      const path = `/api/transcripts/claude/${SESSION}`;
      let { json } = await ask(api, path);
      while (json.counting) json = (await ask(api, path)).json;
      assert.equal(json.title, "Fix the redirect");
      assert.deepEqual(json.tokens, { input: 40, output: 20, cacheRead: 400, cacheWrite: 80 });
    });

    test("a chat shows every kind of item", async () => {
      const { json } = await ask(api, chat);
      assert.deepEqual(
        json.items.map((item: { kind: string; tool?: string; error?: true; cut?: true }) =>
          [item.kind, item.tool, item.error && "error", item.cut && "cut"].filter(Boolean).join(" "),
        ),
        ["user", "assistant cut", "tool Bash", "tool Bash error", "tool Agent", "subagent", "tool Agent"],
      );
      assert.equal(json.items[3].of, json.items[2].ref);
    });

    test("an item is answered uncut", async () => {
      const [, { ref }] = (await ask(api, chat)).json.items;
      const { json } = await ask(api, `/api/transcripts/claude/${SESSION}/item?ref=${encodeURIComponent(ref)}`);
      assert.equal(json.items[0].text, `I will. ${"x".repeat(20_000)}`);
    });

    test("pages forward and pages backward hold the same items", async () => {
      const forward: { text: string }[] = [];
      for (let from = "0", next = ""; from !== next; ) {
        from = next || from;
        const { json } = await ask(api, `${longChat}?from=${encodeURIComponent(from)}`);
        forward.push(...json.items);
        next = json.next;
      }
      let page = (await ask(api, `${longChat}?from=tail`)).json;
      const backward = [...page.items];
      while (page.prev !== null) {
        page = (await ask(api, `${longChat}?before=${encodeURIComponent(page.prev)}`)).json;
        backward.unshift(...page.items);
      }
      assert.deepEqual(backward, forward);
      assert.equal(forward.length, LONG_PROMPTS);
    });

    test("a subagent has a chat under its own session alone", async () => {
      const { subagents } = (await ask(api, `/api/transcripts/claude/${SESSION}/subagents`)).json;
      assert.deepEqual(
        subagents.map(({ id, status }: { id: string; status: string }) => [id, status]),
        [[CHILD, "done"]],
      );
      const { json } = await ask(api, `/api/transcripts/claude/${SESSION}/subagents/${CHILD}`);
      assert.deepEqual(
        json.items.map(({ kind }: { kind: string }) => kind),
        ["user", "assistant"],
      );
      assert.equal((await ask(api, `/api/transcripts/claude/${LONG_SESSION}/subagents/${CHILD}`)).status, 404);
    });

    test("an unchanged chat is a 304, a grown one is not", async () => {
      const quiet = `/api/transcripts/claude/${LONG_SESSION}/chat?from=tail`;
      const { etag = "" } = (await ask(api, quiet)).headers;
      assert.match(etag, /^W\/"/);
      assert.equal((await ask(api, quiet, { "If-None-Match": etag })).status, 304);
      machine.append(LONG_SESSION, [user(LONG_PROMPTS, "one more")]);
      assert.equal((await ask(api, quiet, { "If-None-Match": etag })).status, 200);
    });

    test("a stream tells what is appended, and goes on where it was left", async () => {
      const { next } = (await ask(api, chat)).json;
      const stream = await open(api, `${chat}/stream?from=${encodeURIComponent(next)}`);
      const told = events(stream);
      machine.append(SESSION, [assistant(20, [{ type: "text", text: "appended" }])]);
      const { value: first } = await told.next();
      assert.deepEqual(texts(first?.data), ["appended"]);
      stream.destroy();
      machine.append(SESSION, [user(21, "meanwhile")]);
      const again = await open(api, `${chat}/stream`, { "Last-Event-ID": first?.id ?? "" });
      assert.deepEqual(texts((await events(again).next()).value?.data), ["meanwhile"]);
      again.destroy();
    });

    const REFUSED: readonly (readonly [
      status: number,
      path: string,
      headers?: Record<string, string>,
      method?: string,
    ])[] = [
      [400, "/api/transcripts?limit=0"],
      [400, "/api/transcripts?unknown=1"],
      [400, `${chat}?from=o:1:prt_1`],
      [400, `${chat}?from=j:1`],
      [403, "/api/state", { Cookie: "" }],
      [403, "/api/state", { Cookie: `ab_ui=${"0".repeat(48)}` }],
      [403, "/api/state", { Host: "example.com" }],
      [403, "/api/state", { "Sec-Fetch-Site": "cross-site" }],
      [404, "/nothing"],
      [404, "/api/transcripts/claude/9b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10/chat"],
      [404, "/api/transcripts/claude/..%2f..%2fsecret/chat"],
      [404, `/api/transcripts/claude/${SESSION}/subagents/${"a".repeat(129)}`],
      [405, "/api/state", {}, "POST"],
      [414, `/api/transcripts?q=${"q".repeat(9000)}`],
    ];
    for (const [status, path, headers, method] of REFUSED) {
      test(`${method ?? "GET"} ${path.slice(0, 60)} ${JSON.stringify(headers ?? {})} is refused with ${status}`, async () => {
        const reply = await ask(api, path, headers, method);
        assert.equal(reply.status, status);
        assert.deepEqual(Object.keys(reply.json), ["error"]);
        assert.equal(reply.headers.allow, status === 405 ? "GET" : undefined);
      });
    }

    test("without a key there is only /healthz", async () => {
      assert.deepEqual((await ask({ ...api, key: "" }, "/healthz")).json, { ok: true });
      assert.equal((await ask(api, "/api/openapi.json")).json.openapi, "3.1.0");
    });

    test("a second serve on the same home says where the first one is", async () => {
      const { code, out, err } = await machine.run("serve", "--port", "0");
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, new RegExp(`^agent-bridge: .* http://127\\.0\\.0\\.1:${api.port} .*\n$`));
    });

    test("a taken port that was asked for is an error that names the holder", async () => {
      const { code, out, err } = await machine.run("serve", "--home", "other", "--port", String(api.port));
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, new RegExp(`^agent-bridge: port ${api.port} is taken by another agent-bridge.*\n$`));
    });

    test("token --reset shuts out the old cookie at once", async () => {
      const { out } = await machine.run("token", "--reset");
      assert.equal((await ask(api, "/api/state")).status, 403);
      api = { ...api, key: out.trim() };
      assert.equal((await ask(api, "/api/state")).status, 200);
    });

    test("SIGTERM ends the server with streams open, and it has warned of nothing", async () => {
      const streams = await Promise.all([open(api, `${chat}/stream`), open(api, "/api/events")]);
      const drained = streams.map(async (stream) => {
        for await (const _ of stream);
      });
      server.child.kill("SIGTERM");
      const { code, err } = await server.ended;
      await Promise.all(drained);
      // Of those that it refused it says so, and Node has nothing to say.
      const unexpected = err.split("\n").filter((line) => !/^\d\d:\d\d:\d\d warn: .*\b403 \d+ ms\)$/.test(line));
      assert.deepEqual([code, unexpected], [0, [""]]);
      assert.equal(existsSync(join(machine.home, ".agent-bridge/dashboard.json")), false);
    });
  });
}

function texts(data: string | undefined): string[] {
  return JSON.parse(data ?? "{}").items.map(({ text }: { text: string }) => text);
}
