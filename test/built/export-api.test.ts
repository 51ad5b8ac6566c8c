import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { finishedLog, put } from "../runs/home.ts";
import { until } from "../support/until.ts";
import { AGENTS, type Agent, ownRoot, tell } from "./five-stores.ts";
import { assistant, CHILD, SESSION, user, writeHistory } from "./history.ts";
import { type Api, ask, type Machine, NODES, open, type Reply, type Running } from "./product.ts";
import { machineWith, post, served } from "./session-server.ts";

const AT = Date.parse("2026-11-30T10:00:00.000Z");
const IDS: { readonly [agent in Agent]: string } = {
  claude: "00000000-0000-4000-8000-000000000001",
  codex: "019ad3b5-1a00-7000-8000-000000000001",
  daemon: "ses_1",
  hermes: "20261130_1",
  opencode: "ses_1",
};
/** The session of the agent that is started here, in that agent's own store. */
const NATIVE = "00000000-0000-4000-8000-000000000009";
const LARGE = "00000000-0000-4000-8000-00000000000f";
const LIVE = "00000000-0000-4000-8000-00000000000e";

const FORMATS = {
  markdown: ["text/markdown; charset=utf-8", "md"],
  json: ["application/json; charset=utf-8", "json"],
  html: ["text/html; charset=utf-8", "html"],
} as const;

const said = ({ json }: Reply): string[] =>
  json.messages.map(({ role, text }: { role: string; text: string }) => `${role}: ${text?.trim()}`);

/** Files of exports that the server has open, by their paths, which are gone. */
function openFiles({ child }: Running, home: string): string[] {
  const folder = `/proc/${child.pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      const path = readlinkSync(join(folder, name));
      return path.startsWith(join(home, ".agent-bridge/cache")) ? [path] : [];
    } catch {
      return [];
    }
  });
}

for (const { name, node } of NODES) {
  describe(`exports over HTTP, on ${name}`, () => {
    let machine: Machine;
    let server: Running;
    let api: Api;
    let own: string;
    let terminal: string;

    before(async () => {
      machine = machineWith(node, { claude: [`session ${NATIVE}`], plain: [] });
      for (const agent of AGENTS) {
        tell(agent, ownRoot(machine.home, agent), {
          id: IDS[agent],
          at: AT,
          title: `${agent} 1`,
          cwd: "/home/dev/demo",
        });
      }
      writeHistory(machine);
      const home = join(machine.home, ".agent-bridge");
      put(home, "runs/of-claude.log", finishedLog("Do."), AT);
      put(home, "runs/of-claude.json", { agent: "claude", session: SESSION }, AT);
      put(home, "runs/of-nobody.log", finishedLog("Do."), AT);
      ({ server, api } = await served(machine));
      const cwd = machine.home;
      const started = await Promise.all([
        post(api, "/api/sessions", { kind: "agent", agent: "claude", cwd, name: "shop" }),
        post(api, "/api/sessions", { kind: "terminal", argv: ["cat"], cwd }),
      ]);
      [own, terminal] = started.map(({ body }) => body.id) as [string, string];
      const prompted = await post(api, `/api/sessions/${own}/prompt`, { prompt: "say Recorded.", wait: true });
      assert.equal(prompted.status, 200);
    });

    after(() => machine.remove());

    for (const agent of AGENTS) {
      test(`a session of ${agent} is a document of every format, with its own type, name and length`, async () => {
        const path = `/api/transcripts/${agent}/${IDS[agent]}/export`;
        for (const [format, [type, extension]] of Object.entries(FORMATS)) {
          const { status, headers, text } = await ask(api, `${path}?format=${format}`);
          assert.deepEqual([status, headers["content-type"]], [200, type], format);
          assert.equal(headers["content-length"], String(Buffer.byteLength(text)), format);
          const name = `${agent}-${IDS[agent]}.${extension}`;
          const disposition = `attachment; filename="${name}"; filename*=UTF-8''${name}`;
          assert.deepEqual([headers["content-disposition"], headers["cache-control"]], [disposition, "no-store"]);
          assert.deepEqual([headers["x-content-type-options"], headers.etag], ["nosniff", undefined]);
          assert.ok(text.includes(`${agent} 1`) && text.includes("Done."), format);
        }
        assert.equal((await ask(api, path)).text, (await ask(api, `${path}?format=markdown`)).text);
        const { json } = await ask(api, `${path}?format=json`);
        const source = agent === "daemon" ? "daemon" : "native";
        assert.deepEqual([json.meta.agent, json.meta.sessionId, json.meta.source], [agent, IDS[agent], source]);
      });

      test(`what a session of ${agent} shows, its export in JSON says, in the same words`, async () => {
        const path = `/api/transcripts/${agent}/${IDS[agent]}`;
        const { items } = (await ask(api, `${path}/chat`)).json;
        const shown = items.map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text.trim()}`);
        const reply = await ask(api, `${path}/export?format=json`);
        assert.deepEqual(said(reply), shown);
        assert.equal(reply.json.meta.messageCount, shown.length);
      });
    }

    test("a document in HTML runs nothing, loads nothing and is framed by nobody", async () => {
      const { headers } = await ask(api, `/api/transcripts/claude/${SESSION}/export?format=html`);
      const policy = String(headers["content-security-policy"]);
      for (const rule of ["default-src 'none'", "sandbox"]) assert.ok(policy.includes(rule), policy);
      assert.doesNotMatch(policy, /script-src|unsafe-eval|https?:/);
    });

    test("a chat is exported whole where a page cuts it, with its subagent when that is asked for, and by itself", async () => {
      const path = `/api/transcripts/claude/${SESSION}`;
      const { json } = await ask(api, `${path}/export?format=json`);
      assert.ok(json.messages.some(({ text = "" }) => text.endsWith("x".repeat(20_000))));
      const subagentOf = ({ messages }: { messages: { subagent?: { messages?: object[] } }[] }) =>
        messages.find(({ subagent }) => subagent !== undefined)?.subagent;
      assert.equal(subagentOf(json)?.messages, undefined);
      const whole = (await ask(api, `${path}/export?format=json&subagents=1`)).json;
      const child = await ask(api, `${path}/subagents/${CHILD}/export?format=json`);
      assert.deepEqual(said(child), ["user: Look.", "assistant: Seen."]);
      assert.deepEqual(subagentOf(whole)?.messages, child.json.messages);
      assert.deepEqual([child.json.meta.child, child.json.meta.source], [CHILD, "native"]);
      const cut = (await ask(api, `${path}/export?format=json&maxToolChars=4`)).json;
      assert.ok(cut.messages.some((message: { cut?: true }) => message.cut));
    });

    test("a run and its subagent are exported by the run's name", async () => {
      const exported = await ask(api, "/api/runs/of-claude/export?format=json");
      const { json } = await ask(api, `/api/transcripts/claude/${SESSION}/export?format=json`);
      assert.deepEqual(exported.json, json);
      const child = await ask(api, `/api/runs/of-claude/subagents/${CHILD}/export?format=json`);
      assert.deepEqual(said(child), ["user: Look.", "assistant: Seen."]);
    });

    test("a session of ours is exported from the recording until its agent's own store has it", async () => {
      const recorded = ["user: say Recorded.", "assistant: Recorded."];
      for (const path of [`/api/sessions/${own}/export`, "/api/sessions/shop/export"]) {
        const auto = await ask(api, `${path}?format=json`);
        assert.deepEqual([auto.json.meta.agent, auto.json.meta.source], ["claude", "daemon"]);
        assert.deepEqual(said(auto), recorded);
        const missing = await ask(api, `${path}?source=native`);
        assert.deepEqual([missing.status, missing.json], [404, { error: "its transcript is not there" }]);
      }
      const told = { id: NATIVE, at: AT, title: "its own", cwd: machine.home };
      tell("claude", ownRoot(machine.home, "claude"), told);
      for (const path of [`/api/sessions/${own}`, "/api/sessions/shop", `/api/transcripts/claude/${NATIVE}`]) {
        for (const [source, texts] of [
          ["auto", ["user: its own", "assistant: Done."]],
          ["native", ["user: its own", "assistant: Done."]],
          ["daemon", recorded],
        ] as const) {
          assert.deepEqual(said(await ask(api, `${path}/export?format=json&source=${source}`)), texts, path);
        }
      }
    });

    test("what can't be exported is told in JSON, in the order of the API's checks", async () => {
      for (const [path, status, headers] of [
        [`/api/sessions/${terminal}/export`, 404],
        [`/api/sessions/${terminal}/export?source=daemon`, 404],
        ["/api/sessions/nobody/export", 404],
        [`/api/transcripts/claude/${SESSION}/export?source=daemon`, 404],
        [`/api/transcripts/daemon/${IDS.daemon}/export?source=native`, 404],
        [`/api/transcripts/claude/${SESSION}/subagents/none/export`, 404],
        ["/api/runs/of-nobody/export", 409],
        ["/api/runs/nothing/export", 404],
        ["/api/sessions/nobody/export?format=pdf", 400],
        ["/api/sessions/nobody/export?sources=native", 400],
        ["/api/sessions/nobody/export?format=pdf", 403, { Cookie: "ab_ui=wrong" }],
        ["/api/sessions/nobody/export", 403, { "Sec-Fetch-Site": "cross-site" }],
      ] as const) {
        const reply = await ask(api, path, headers);
        assert.deepEqual([reply.status, Object.keys(reply.json)], [status, ["error"]], path);
        assert.equal(reply.headers["content-disposition"], undefined);
      }
      const { status, headers } = await ask(api, "/api/sessions/nobody/export", {}, "PUT");
      assert.deepEqual([status, headers.allow], [405, "GET"]);
    });

    test("a chat that is being written is exported as it is: whole, with each line once", async () => {
      let lines = 0;
      const write = (count: number): void => {
        machine.append(
          LIVE,
          Array.from({ length: count }, () => user(lines, `line ${lines++}`)),
        );
      };
      write(100);
      let isOver = false;
      const writing = (async () => {
        while (!isOver) {
          write(10);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })();
      const before = lines;
      for (let i = 0; i < 5; i++) {
        const texts = said(await ask(api, `/api/transcripts/claude/${LIVE}/export?format=json`));
        assert.deepEqual(
          texts,
          texts.map((_, n) => `user: line ${n}`),
        );
        assert.ok(texts.length >= before);
      }
      isOver = true;
      await writing;
    });

    test("of an export whose client goes in the middle, nothing is left; others are answered meanwhile", async (t) => {
      const text = "z".repeat(400_000);
      const lines = Array.from({ length: 100 }, (_, n) => assistant(n, [{ type: "text", text: `${n} ${text}` }]));
      machine.append(LARGE, lines);
      const path = `/api/transcripts/claude/${LARGE}/export?format=json`;
      const opening = Promise.all([open(api, path), open(api, path)]) as Promise<[IncomingMessage, IncomingMessage]>;
      let isOpen = false;
      opening.then(
        () => {
          isOpen = true;
        },
        () => {},
      );
      let answered = 0;
      for (; !isOpen; answered++) assert.equal((await ask(api, "/healthz")).status, 200);
      assert.ok(answered >= 10, `${answered} answers while two exports were made`);
      const slow = await opening;
      for (const response of slow) response.on("error", () => {}).pause();
      assert.ok(openFiles(server, machine.home).length === slow.length || process.platform !== "linux");
      slow[0].destroy();
      let bytes = 0;
      for await (const chunk of slow[1]) bytes += chunk.length;
      assert.equal(slow[1].headers["content-length"], String(bytes));
      if (process.platform !== "linux") t.diagnostic("open files are looked at on Linux only");
      else await until(async () => openFiles(server, machine.home).length === 0);
      const cache = join(machine.home, ".agent-bridge/cache");
      assert.deepEqual(existsSync(cache) ? readdirSync(cache) : [], []);
    });

    test("a server that is told to end waits neither for an export that is made nor for who takes one slowly", async () => {
      const path = `/api/transcripts/claude/${LARGE}/export?format=json`;
      const response = await open(api, path);
      const made = assert.rejects(open(api, path), { code: "ECONNRESET" });
      const cut = new Promise((resolve) => response.on("error", resolve));
      response.pause();
      server.child.kill("SIGTERM");
      assert.deepEqual((await server.ended).code, 0);
      response.resume();
      await Promise.all([cut, made]);
    });
  });
}
