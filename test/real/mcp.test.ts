import assert from "node:assert/strict";
import { test } from "node:test";
import type { Peer } from "../../src/peers/peer.ts";
import { type Agent, CLAUDE, CODEX, OPENCODE } from "./agents.ts";
import { Stage } from "./stage.ts";
import { soon } from "./waiting.ts";

/** Each CLI, and what it calls a tool of a server. */
const CLIS: readonly (readonly [agent: Agent, named: (tool: string) => string])[] = [
  [CLAUDE, (tool) => `mcp__agent-bridge__${tool}`],
  [CODEX, (tool) => `mcp__agent_bridge.${tool}`],
  [OPENCODE, (tool) => `agent-bridge_${tool}`],
];

for (const [agent, named] of CLIS) {
  test(`${agent.name} starts the server that mcp --install sets up, its model reads sessions with it and joins`, async () => {
    const stage = await Stage.start(agent);
    try {
      const { machine, model } = stage;
      const ended = async (...script: string[]): Promise<void> => {
        const { code, said } = await soon("it ends", stage.cli(agent.start, script.join("\n")).ended);
        assert.equal(code, 0, said);
      };
      await ended("@say The zebra is in the garden.");
      const first = await stage.newRow([]);
      const { code, out, err } = await stage.product("mcp", "--install", agent.name, "--write").ended;
      assert.equal(code, 0, err);
      assert.match(out, new RegExp(`^${machine.home}/.* has it now\n$`));

      const call = (tool: string, given: object): string => `@call ${named(tool)} ${JSON.stringify(given)}`;
      const cli = stage.cli(
        agent.start,
        [
          call("list_sessions", { agent: agent.name }),
          call("read_session", { session: `${agent.name}/${first.id}` }),
          call("join", { name: "reader" }),
          "@hold joined",
          "@say Over.",
        ].join("\n"),
      );
      await soon("the model is asked", model.reached("joined"), () => model.requests.at(-1)?.slice(-3_000));
      const told = model.requests.at(-1) ?? "";
      const peers: readonly Peer[] = (await stage.get("/api/state")).peers;
      assert.match(told, /The zebra is in the garden\./);
      assert.ok(told.includes(first.id));
      const reader = await stage.newRow([first]);
      const { name, sessionId } = peers.find((peer) => peer.sessionId === reader.id) ?? {};
      assert.deepEqual([name, sessionId], ["reader", reader.id]);
      model.release("joined");
      assert.equal((await soon("it ends", cli.ended)).code, 0);
    } finally {
      await stage.end();
    }
  });
}
