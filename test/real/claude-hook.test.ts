import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Peer } from "../../src/peers/peer.ts";
import { CLAUDE } from "./agents.ts";
import { Stage } from "./stage.ts";
import { eventually, soon } from "./waiting.ts";

test("with the settings that hook claude prints, every session of Claude Code joins and leaves by itself", async () => {
  const stage = await Stage.start(CLAUDE);
  try {
    const { machine, model } = stage;
    mkdirSync(join(machine.home, ".claude"));
    writeFileSync(join(machine.home, ".claude/settings.json"), (await machine.run("hook", "claude", "--print")).out);
    const saved = async (): Promise<Peer[]> => (await stage.get("/api/state")).peers;
    const cli = stage.cli(
      CLAUDE.start,
      ["@say Here.", CLAUDE.shell("echo one"), "@hold here", "@say Over."].join("\n"),
    );
    await soon("the model is asked", model.reached("here"));
    const row = await stage.newRow([]);
    const [peer, ...others] = await saved();
    assert.deepEqual([peer?.name, peer?.agent, peer?.sessionId, others], ["claude-work", "claude", row.id, []]);
    // One that only its store proves could not leave.
    const left = await machine.run("leave", "claude-work");
    assert.deepEqual([left.code, left.err], [0, "claude-work has left\n"]);
    model.release("here");
    const { code, said } = await soon("it ends", cli.ended);
    assert.equal(code, 0, said);
    await eventually("nobody is live", async () => ((await saved()).length === 0 ? true : undefined));
  } finally {
    await stage.end();
  }
});
