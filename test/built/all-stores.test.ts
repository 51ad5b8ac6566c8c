import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { AGENTS, type Agent, ownRoot, type Told, tell } from "./five-stores.ts";
import { type Api, ask, Machine, NODES } from "./product.ts";

const TEN = Date.parse("2026-11-30T10:00:00.000Z");
const DEMO = "/home/dev/demo";
const OTHER = "/home/dev/other";

/** The n-th session id of an agent, in the form of its ids. */
function idOf(agent: Agent, n: number): string {
  return {
    claude: `00000000-0000-4000-8000-00000000000${n}`,
    codex: `019ad3b5-1a00-7000-8000-00000000000${n}`,
    daemon: `ses_${n}`,
    hermes: `20261130_${n}`,
    opencode: `ses_${n}`,
  }[agent];
}

/** Agents that keep a subagent's chat as a session of its own. */
const WITH_CHILDREN: readonly Agent[] = ["codex", "hermes", "opencode"];

/** A session of every agent by number: 1 and 2 were written at the same time, 3 later, 4 is a subagent of 3. */
function sessions(agent: Agent): readonly Told[] {
  const one = (n: number, at: number, cwd = DEMO): Told => ({ id: idOf(agent, n), at, title: `${agent} ${n}`, cwd });
  const child = { ...one(4, TEN + 2_000), parent: idOf(agent, 3) };
  return [one(1, TEN), one(2, TEN, OTHER), one(3, TEN + 1_000), ...(WITH_CHILDREN.includes(agent) ? [child] : [])];
}

/** What lists hold, each with its time. Of session 1, which lies in both homes, the copy that was gone on with is told. */
const NEWEST_FIRST = [
  ...AGENTS.map((agent) => `${agent} 3 +1000`),
  ...AGENTS.map((agent) => `${agent} copy +500`),
  ...AGENTS.flatMap((agent) => [`${agent} 2 +0`, `${agent} 5 +0`]),
];

/** The folder of an agent in a second home. */
function secondRoot(home: string, agent: Agent): string {
  return join(home, "container", agent);
}

interface Row {
  readonly agent: Agent;
  readonly id: string;
  readonly title: string;
  readonly updatedAt: number;
  readonly parent?: string;
}

for (const { name, node } of NODES) {
  describe(`a home with every agent's sessions, on ${name}`, () => {
    const machine = new Machine(node);
    let api: Api;

    before(async () => {
      for (const agent of AGENTS) {
        for (const told of sessions(agent)) tell(agent, ownRoot(machine.home, agent), told);
        const second = secondRoot(machine.home, agent);
        tell(agent, second, { id: idOf(agent, 5), at: TEN, title: `${agent} 5`, cwd: DEMO });
        // A copy that was gone on with in the other home.
        tell(agent, second, { id: idOf(agent, 1), at: TEN + 500, title: `${agent} copy`, cwd: DEMO });
      }
      const stores = Object.fromEntries(AGENTS.map((agent) => [agent, [secondRoot("~", agent)]]));
      mkdirSync(join(machine.home, ".agent-bridge"), { mode: 0o700 });
      writeFileSync(join(machine.home, ".agent-bridge/config.json"), JSON.stringify({ version: 1, stores }));
      const server = machine.start(["serve", "--port", "0"]);
      const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
      api = { port: Number(port), key: (await machine.run("token")).out.trim() };
    });

    after(() => machine.remove());

    async function walk(query: string, limit: number): Promise<{ rows: Row[]; totals: Set<number> }> {
      const rows: Row[] = [];
      const totals = new Set<number>();
      for (let before: string | null = "", pages = 0; before !== null && pages < 100; pages++) {
        const page = before === "" ? "" : `&before=${encodeURIComponent(before)}`;
        const { status, json } = await ask(api, `/api/transcripts?limit=${limit}${query}${page}`);
        assert.equal(status, 200);
        rows.push(...json.transcripts);
        totals.add(json.total);
        before = json.next;
      }
      return { rows, totals };
    }

    const told = (rows: readonly Row[]): string[] => rows.map(({ title, updatedAt }) => `${title} +${updatedAt - TEN}`);

    test("one list holds them all, newest first, and of two copies of a session the newer one", async () => {
      const { rows, totals } = await walk("", 500);
      assert.deepEqual(told(rows), NEWEST_FIRST);
      assert.deepEqual([...totals], [20]);
    });

    test("pages of any size hold the same rows, also where a page ends among those of one time", async () => {
      for (const limit of [1, 2, 3, 7, 19, 20]) {
        const { rows, totals } = await walk("", limit);
        assert.deepEqual([told(rows), [...totals]], [NEWEST_FIRST, [20]]);
      }
      const { rows } = await walk(`&before=${TEN + 500}`, 500);
      assert.deepEqual(
        told(rows),
        NEWEST_FIRST.filter((row) => row.endsWith("+0")),
      );
    });

    test("filters hold on every page", async () => {
      const children = await walk("&children=1", 2);
      assert.deepEqual(
        children.rows.slice(0, 3).map(({ agent, id, parent }) => [agent, id, parent]),
        WITH_CHILDREN.map((agent) => [agent, idOf(agent, 4), idOf(agent, 3)]),
      );
      assert.deepEqual([told(children.rows.slice(3)), [...children.totals]], [NEWEST_FIRST, [23]]);
      for (const agent of AGENTS) {
        const { rows, totals } = await walk(`&agent=${agent}`, 3);
        assert.deepEqual(
          told(rows),
          NEWEST_FIRST.filter((row) => row.startsWith(`${agent} `)),
        );
        assert.deepEqual([...totals], [4]);
      }
      const other = await walk(`&project=${encodeURIComponent(OTHER)}`, 2);
      assert.deepEqual(
        told(other.rows),
        AGENTS.map((agent) => `${agent} 2 +0`),
      );
      const copies = await walk("&q=COPY", 2);
      assert.deepEqual(
        told(copies.rows),
        NEWEST_FIRST.filter((row) => row.includes(" copy ")),
      );
      assert.deepEqual((await walk("&state=live", 2)).rows, []);
      assert.deepEqual((await walk("&state=ended", 4)).rows.length, 20);
    });

    test("every row leads to its chat, and to the subagents in it", async () => {
      for (const { agent, id, title, parent } of (await walk("&children=1", 500)).rows) {
        const path = `/api/transcripts/${agent}/${id}`;
        const { status, json } = await ask(api, `${path}/chat`);
        const [first] = json.items;
        assert.deepEqual([status, parent === undefined && first?.text], [200, parent === undefined && title]);
        const { subagents } = (await ask(api, `${path}/subagents`)).json;
        const expected = WITH_CHILDREN.includes(agent) && id === idOf(agent, 3) ? [idOf(agent, 4)] : [];
        assert.deepEqual(
          subagents.map((child: { id: string }) => child.id),
          expected,
        );
      }
    });
  });
}
