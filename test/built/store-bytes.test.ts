import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { AGENTS, type Agent, ownRoot, tell } from "./five-stores.ts";
import { type Api, ask, events, Machine, NODES, open } from "./product.ts";

const TEN = Date.parse("2026-11-30T10:00:00.000Z");
const DEMO = "/home/dev/demo";
/** A session of each agent, and a subagent of it where the agent has such. */
const FAMILIES: { readonly [agent in Agent]: readonly [id: string, child?: string] } = {
  claude: ["00000000-0000-4000-8000-000000000001", "a1f0c2d4e6b80912a"],
  codex: ["019ad3b5-1a00-7000-8000-000000000001", "019ad3b5-1a00-7000-8000-000000000002"],
  daemon: ["ses_1"],
  hermes: ["20261130_1", "20261130_2"],
  opencode: ["ses_1", "ses_2"],
};
const JOB = "codex-job-0001";
/** A session of ours that has ended, whose chat is in Claude Code's own store. */
const OURS = "sess_0badcafe";

/** Every file and folder below `root`: all that a stat tells save when it was read, and the bytes. */
function stateOf(root: string): Record<string, string> {
  const paths = ["", ...readdirSync(root, { recursive: true, encoding: "utf8" }).sort()];
  return Object.fromEntries(paths.map((name) => [name, lineOf(join(root, name))]));
}

function lineOf(path: string): string {
  const { mode, uid, ino, size, mtimeNs, ctimeNs, nlink } = lstatSync(path, { bigint: true });
  // Whenever root opens a database, SQLite sets the owner of its side files anew, which moves their ctime and nothing else.
  const changed = /-(?:wal|shm)$/.test(path) ? "" : ctimeNs;
  const bytes = lstatSync(path).isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
  return [mode, uid, ino, nlink, size, mtimeNs, changed, bytes].join(" ");
}

for (const { name, node } of NODES) {
  describe(`the stores' bytes, on ${name}`, () => {
    const machine = new Machine(node);
    const roots = AGENTS.map((agent) => ownRoot(machine.home, agent));
    const held: DatabaseSync[] = [];

    before(() => {
      for (const agent of AGENTS) {
        const [id, child] = FAMILIES[agent];
        const root = ownRoot(machine.home, agent);
        tell(agent, root, { id, at: TEN, title: agent, cwd: DEMO });
        if (child !== undefined)
          tell(agent, root, { id: child, at: TEN + 1_000, title: "look", cwd: DEMO, parent: id });
      }
      const job = { id: "1", name: JOB, agent: "codex", prompt: "Go.", startedAt: TEN, status: "done" };
      const [sessionId] = FAMILIES.codex;
      mkdirSync(join(machine.home, ".agent-bridge"), { mode: 0o700 });
      const jobs = { version: 2, jobs: [{ ...job, sessionId, workdir: DEMO }] };
      writeFileSync(join(machine.home, ".agent-bridge/jobs.json"), JSON.stringify(jobs));
      const ours = { id: OURS, kind: "agent", agent: "claude", nativeSessionId: FAMILIES.claude[0], cwd: DEMO };
      const sessions = [{ ...ours, status: "ended", startedAt: TEN, endedAt: TEN + 1_000 }];
      const saved = JSON.stringify({ version: 1, sessions, peers: [] });
      writeFileSync(join(machine.home, ".agent-bridge/sessions.json"), saved, { mode: 0o600 });
      // Hermes has its database open, with a log; OpenCode's lies idle.
      const database = new DatabaseSync(join(ownRoot(machine.home, "hermes"), "state.db"));
      database.exec("UPDATE sessions SET title = title || '.'");
      held.push(database);
    });

    after(async () => {
      for (const database of held) database.close();
      await machine.remove();
    });

    async function leavesNoTrace(use: () => Promise<void>): Promise<void> {
      const earlier = roots.map(stateOf);
      await use();
      assert.deepEqual(roots.map(stateOf), earlier);
    }

    test("no route that reads changes, makes or leaves anything in a store", async () => {
      await leavesNoTrace(async () => {
        const server = machine.start(["serve", "--port", "0"]);
        const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
        const api = { port: Number(port), key: (await machine.run("token")).out.trim() };
        const { paths } = (await ask(api, "/api/openapi.json")).json;
        const asked = new Set<string>();
        const read = Object.keys(paths).filter((each) => paths[each].get !== undefined);
        for (const pattern of read) {
          for (const path of pathsOf(pattern)) {
            for (const query of await queriesOf(api, pattern, path)) {
              assert.equal(await statusOf(api, pattern, path + query), 200, path + query);
              asked.add(pattern);
            }
          }
        }
        assert.deepEqual([...asked], read);
        server.child.kill("SIGTERM");
        const { code, err } = await server.ended;
        assert.deepEqual([code, err], [0, ""]);
      });
    });

    test("nor does any command that reads", async () => {
      await leavesNoTrace(async () => {
        const commands = [["ls"], ["ls", "--children", "--json"], ["doctor"], ["doctor", "--json"], ["runs"], ["jobs"]];
        for (const agent of AGENTS) {
          const session = `${agent}/${FAMILIES[agent][0]}`;
          commands.push(["show", session], ["tail", "--json", session]);
        }
        for (const words of commands) {
          const { code, err } = await machine.run(...words);
          assert.deepEqual([words, code, err], [words, 0, ""]);
        }
      });
    });
  });
}

/** Every path of a pattern that leads to something here. */
function pathsOf(pattern: string): string[] {
  const named = pattern.replace("{name}", JOB).replace("{job}", JOB);
  if (named !== pattern) return [named.replace("{child}", FAMILIES.codex[1] ?? "")];
  if (pattern.includes("{session}")) {
    // Records there are only where they were recorded.
    const session = pattern.includes("/events") ? FAMILIES.daemon[0] : OURS;
    return [pattern.replace("{session}", session).replace("{child}", FAMILIES.claude[1] ?? "")];
  }
  return AGENTS.flatMap((agent) => {
    const [id, child] = FAMILIES[agent];
    if (child === undefined && pattern.includes("{child}")) return [];
    return pattern
      .replace("{agent}", agent)
      .replace("{id}", id)
      .replace("{child}", child ?? "");
  }).slice(0, pattern.includes("{") ? undefined : 1);
}

/** The queries with which a path is asked. */
async function queriesOf(api: Api, pattern: string, path: string): Promise<string[]> {
  if (pattern.endsWith("/item")) {
    const chat = pattern.includes("{child}") ? path.replace(/\/item$/, "") : path.replace(/\/item$/, "/chat");
    const [{ ref }] = (await ask(api, chat)).json.items;
    return [`?ref=${encodeURIComponent(ref)}`];
  }
  if (/\/(?:events|output)(?:\/stream)?$/.test(pattern) && pattern !== "/api/events") return ["", "?since=0"];
  if (pattern.endsWith("/stream")) return ["", "?from=tail"];
  if (pattern.endsWith("/chat") || pattern.endsWith("/{child}")) {
    const { prev } = (await ask(api, `${path}?from=tail`)).json;
    assert.equal(prev, null);
    return ["", "?from=tail"];
  }
  if (pattern === "/api/transcripts") return ["", "?children=1&q=e&project=/&state=ended&limit=3"];
  if (pattern === "/api/events") return [`?${AGENTS.map((agent) => `chat=${agent}/${FAMILIES[agent][0]}`).join("&")}`];
  return [""];
}

/** Asks, and of a stream waits for its first page. */
async function statusOf(api: Api, pattern: string, path: string): Promise<number> {
  if (!pattern.endsWith("/stream") && pattern !== "/api/events") return (await ask(api, path)).status;
  const response = await open(api, path);
  const timer = setTimeout(() => response.destroy(new Error(`nothing comes of ${path}`)), 10_000);
  let pages = 0;
  const wanted = pattern === "/api/events" ? AGENTS.length : 1;
  for await (const { event } of events(response)) {
    if (event === undefined || event === "chat") pages++;
    if (pages === wanted) break;
  }
  clearTimeout(timer);
  response.destroy();
  return response.statusCode ?? 0;
}
