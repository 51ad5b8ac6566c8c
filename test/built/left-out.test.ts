import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { AGENTS, type Agent, ownRoot, tell } from "./five-stores.ts";
import { ask, Machine, NODES } from "./product.ts";

const TEN = Date.parse("2026-11-30T10:00:00.000Z");
const GOOD: { readonly [agent in Agent]: string } = {
  claude: "00000000-0000-4000-8000-000000000001",
  codex: "019ad3b5-1a00-7000-8000-000000000001",
  daemon: "ses_1",
  hermes: "20261130_1",
  opencode: "ses_1",
};

/** What may lie where a session's file or a database is looked for. */
const JUNK: { readonly [kind: string]: (path: string, outside: string) => void } = {
  folder: (path) => void mkdirSync(path),
  garbage: (path) => writeFileSync(path, Buffer.alloc(10_000, "\u0001\u00ff{no record\n")),
  empty: (path) => writeFileSync(path, ""),
  link: (path, outside) => symlinkSync(outside, path),
};
const KINDS = Object.keys(JUNK);

const CLAUDE_ID = "00000000-0000-4000-8000-00000000010";
const CODEX_ID = "019ad3b5-1a00-7000-8000-00000000010";

/** Where a file of its own kind would be looked for, the n-th of an agent. */
function placeOf(home: string, agent: Agent, n: number): string {
  const root = ownRoot(home, agent);
  switch (agent) {
    case "claude":
      return join(root, "projects/-home-dev-demo", `${CLAUDE_ID}${n}.jsonl`);
    case "codex":
      return join(root, "sessions/2026/11/30", `rollout-2026-11-30T09-00-00-${CODEX_ID}${n}.jsonl`);
    case "daemon":
      return join(root, "sessions", `ses_10${n}`, "events.jsonl");
    case "hermes":
      return join(root, "profiles", `p${n}`, "state.db");
    case "opencode":
      return join(root, `opencode-c${n}.db`);
  }
}

const EXPECTED = {
  claude: {
    sessions: 1,
    roots: ["~/.claude/projects", "no ~/nowhere/claude/projects (from config.json)"],
    leftOut: ["1 a link that leads out of the store", "1 not a regular file", "2 no conversation in it"],
  },
  codex: {
    sessions: 1,
    roots: ["~/.codex (state_5.sqlite: not a SQLite database)", "no ~/nowhere/codex (from config.json)"],
    leftOut: [
      "1 a link, which Codex does not follow either",
      "1 named like a rollout and no regular file",
      "2 no readable header",
    ],
  },
  // An empty file is what a database is before its first write: nothing is missing.
  opencode: {
    sessions: 1,
    roots: ["~/.local/share/opencode", "no ~/nowhere/opencode (from config.json)"],
    leftOut: [
      "1 a database without a table of sessions",
      "1 a link that leads out of the store",
      "1 no regular file",
      "1 not a SQLite database",
    ],
  },
  hermes: {
    sessions: 1,
    roots: [
      "~/.hermes/state.db",
      "~/.hermes/profiles/p0/state.db",
      "~/.hermes/profiles/p1/state.db",
      "~/.hermes/profiles/p2/state.db",
      "no ~/.hermes/profiles/p3/state.db (a link that leads out of the store)",
      "~/.hermes/profiles/p4/state.db",
      "no ~/nowhere/hermes/state.db (from config.json)",
    ],
    leftOut: [
      "1 a folder, and no database",
      "1 not a SQLite database",
      "1 not a SQLite database",
      "1 this database holds no sessions of Hermes",
    ],
  },
  daemon: {
    sessions: 1,
    roots: ["~/.agentproto/sessions", "no ~/nowhere/daemon/sessions (from config.json)"],
    leftOut: ["1 no record can be read in it", "1 nothing is recorded yet", "2 no regular file in the store"],
  },
};

for (const { name, node } of NODES) {
  describe(`what lies in a store and is no session, on ${name}`, () => {
    const machine = new Machine(node);

    before(() => {
      const outside = join(machine.home, "outside");
      writeFileSync(outside, '{"type":"user","message":{"role":"user","content":"secret"}}\n');
      for (const agent of AGENTS) {
        tell(agent, ownRoot(machine.home, agent), { id: GOOD[agent], at: TEN, title: agent, cwd: "/home/dev/demo" });
        for (const [index, kind] of KINDS.entries()) {
          const path = placeOf(machine.home, agent, index);
          mkdirSync(dirname(path), { recursive: true });
          JUNK[kind]?.(path, outside);
        }
      }
      for (const agent of ["hermes", "opencode"] as const) {
        const path = placeOf(machine.home, agent, KINDS.length);
        mkdirSync(dirname(path), { recursive: true });
        const database = new DatabaseSync(path);
        database.exec("CREATE TABLE session (x); CREATE TABLE sessions (y); CREATE TABLE messages (z)");
        database.close();
      }
      writeFileSync(join(ownRoot(machine.home, "codex"), "state_5.sqlite"), "no database at all, of some length");
      const stores = Object.fromEntries(AGENTS.map((agent) => [agent, [join("~/nowhere", agent)]]));
      mkdirSync(join(machine.home, ".agent-bridge"), { mode: 0o700 });
      writeFileSync(join(machine.home, ".agent-bridge/config.json"), JSON.stringify({ version: 1, stores }));
    });

    after(() => machine.remove());

    test("doctor names every root, found or missing, and what is left out and why", async () => {
      const { code, out, err } = await machine.run("doctor", "--json");
      assert.deepEqual([code, err], [0, ""]);
      const { stores, problems } = JSON.parse(out.replaceAll(machine.home, "~"));
      assert.deepEqual(problems, []);
      assert.deepEqual(Object.fromEntries(stores.map((store: Report) => [store.agent, inShort(store)])), EXPECTED);
    });

    test("the rest is served, and nothing that lies outside", async () => {
      const server = machine.start(["serve", "--port", "0"]);
      const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
      const api = { port: Number(port), key: (await machine.run("token")).out.trim() };
      const { json } = await ask(api, "/api/transcripts?children=1");
      assert.deepEqual(
        json.transcripts.map((row: { agent: Agent; id: string }) => [row.agent, row.id]),
        AGENTS.map((agent) => [agent, GOOD[agent]]),
      );
      for (const agent of AGENTS) {
        for (let n = 0; n <= KINDS.length; n++) {
          const id = { claude: CLAUDE_ID, codex: CODEX_ID, daemon: "ses_10", hermes: "x", opencode: "x" }[agent] + n;
          const { status, text } = await ask(api, `/api/transcripts/${agent}/${id}/chat`);
          assert.doesNotMatch(text, /secret/);
          // A file without a record in it may yet become a chat.
          assert.ok(
            status === 404 || (status === 200 && JSON.parse(text).items.length === 0),
            `${agent}/${id}: ${status}`,
          );
        }
      }
      server.child.kill("SIGTERM");
      const { code, err } = await server.ended;
      assert.deepEqual([code, err], [0, ""]);
    });
  });
}

interface Report {
  readonly agent: Agent;
  readonly sessions: number;
  readonly roots: readonly { readonly path: string; readonly found: boolean; readonly note?: string }[];
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
}

/** A report as a person reads it. */
function inShort({ sessions, roots, skipped }: Report): { sessions: number; roots: string[]; leftOut: string[] } {
  return {
    sessions,
    roots: roots.map(
      ({ path, found, note }) => `${found ? "" : "no "}${path}${note === undefined ? "" : ` (${note})`}`,
    ),
    leftOut: skipped.map(({ reason, count }) => `${count} ${reason}`).sort(),
  };
}
