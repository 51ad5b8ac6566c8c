import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { leftOf } from "../support/driving.ts";
import { until } from "../support/until.ts";
import { ask, NODES } from "./product.ts";
import { machineWith, post, served } from "./session-server.ts";

for (const { name, node } of NODES) {
  test(`a server on ${name} that is told to end does so within 5 s, well, and leaves none of its sessions' processes`, async (t) => {
    const stubborn = ["ignore-term", "ignore-eof", "ignore-cancel"];
    const machine = machineWith(node, { plain: [], stubborn });
    t.after(() => machine.remove());
    const { server, api } = await served(machine);
    const cwd = machine.home;
    const bodies = [
      { kind: "agent", agent: "plain", cwd, prompt: "say x\nflood 1000000" },
      { kind: "agent", agent: "plain", cwd, prompt: "ask rm", permit: "ask" },
      { kind: "agent", agent: "plain", cwd },
      { kind: "agent", agent: "stubborn", cwd, prompt: "say x\ngrandchild detached holding stubborn\nhang" },
      { kind: "agent", agent: "stubborn", cwd, prompt: "say x\ndeaf\nhang" },
      { kind: "command", argv: ["sh", "-c", "trap '' TERM; echo x; sleep 1000 & sleep 1000"], cwd },
      { kind: "terminal", argv: ["sh", "-c", "trap '' TERM HUP; echo x; sleep 1000 & sleep 1000"], cwd },
    ];
    const started = await Promise.all(bodies.map((body) => post(api, "/api/sessions", body)));
    for (const { status, body } of started) assert.equal(status, 201, JSON.stringify(body));
    const ids: string[] = started.map(({ body }) => body.id);
    await until(async () => {
      const { sessions } = (await ask(api, "/api/sessions")).json;
      const states = new Map(sessions.map((each: { id: string; status: string }) => [each.id, each.status]));
      return states.get(ids[1]) === "awaiting-input" && [0, 3, 4].every((i) => states.get(ids[i]) === "busy");
    });
    for (const i of [5, 6]) {
      await until(async () => /x/.test((await ask(api, `/api/sessions/${ids[i]}/output`)).json.text));
    }
    assert.ok((await leftOf(ids)).length > ids.length, "all of them run");
    const start = performance.now();
    server.child.kill("SIGTERM");
    const { code, err } = await server.ended;
    const ms = Math.round(performance.now() - start);
    t.diagnostic(`ended within ${ms} ms`);
    assert.deepEqual([code, err], [0, ""]);
    assert.ok(ms < 5_000, `${ms} ms`);
    assert.deepEqual(await leftOf(ids), []);
    const { sessions } = JSON.parse(readFileSync(join(machine.home, ".agent-bridge/sessions.json"), "utf8"));
    for (const session of sessions) assert.deepEqual([session.status, session.owner], ["ended", undefined], session.id);
    const turnEnds = ids.slice(0, 5).map((id) => {
      const file = join(machine.home, ".agentproto/sessions", id, "events.jsonl");
      const found = /"kind":"turn-end".*"reason":"([a-z-]+)"/.exec(safeText(file));
      return found?.[1];
    });
    assert.deepEqual(turnEnds, ["aborted", "awaiting-input", undefined, "aborted", "aborted"]);
  });
}

function safeText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
