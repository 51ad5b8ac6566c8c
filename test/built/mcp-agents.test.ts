import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, test } from "node:test";
import { connected, fill, LONG, startOf } from "./mcp-client.ts";
import { NODES } from "./product.ts";
import { machineWith, served } from "./session-server.ts";

for (const { name, node } of NODES) {
  describe(`the agents of mcp on ${name}`, () => {
    test("agents can be started and prompted only where that is allowed, and end with it", async () => {
      const driven = machineWith(node, { plain: [] });
      try {
        const closed = await connected(startOf(driven, node));
        await assert.rejects(closed.callTool({ name: "agent_start", arguments: { agent: "plain" } }), /Unknown tool/);
        await closed.close();
        const client = await connected(startOf(driven, node, "--allow-agents"));
        const call = async (tool: string, given: Record<string, unknown>) => {
          const result = await client.callTool({ name: tool, arguments: given });
          assert.notEqual(result.isError, true, JSON.stringify(result));
          return result.structuredContent;
        };
        const { id, status } = await call("agent_start", { agent: "plain", cwd: driven.home, name: "front" });
        assert.equal(status, "idle");
        const { reason } = await call("agent_prompt", { session: "front", prompt: "hello", wait: true });
        assert.equal(reason, "completed");
        const { text, complete, nextSeq } = await call("agent_output", { session: "front" });
        assert.match(text, /hello/);
        assert.ok(complete && nextSeq > 1);
        const pid = pidOf(driven.home, id);
        await client.close();
        await gone(pid);
      } finally {
        await driven.remove();
      }
    });

    test("a client that goes while an agent is at work leaves nothing behind, and no word on stderr", async () => {
      const driven = machineWith(node, { plain: [] });
      try {
        const { command, args, env } = startOf(driven, node, "--allow-agents");
        const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
        let out = "";
        let err = "";
        child.stdout.setEncoding("utf8").on("data", (part) => {
          out += part;
        });
        child.stderr.setEncoding("utf8").on("data", (part) => {
          err += part;
        });
        const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
        const answered = async (id: number): Promise<void> => {
          while (!out.includes(`"id":${id},`)) await new Promise((resolve) => setTimeout(resolve, 20));
        };
        const send = (id: number, method: string, params: object): void => {
          child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
        };
        send(1, "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "t", version: "1" },
        });
        send(2, "tools/call", { name: "agent_start", arguments: { agent: "plain", cwd: driven.home, name: "front" } });
        await answered(2);
        const { id } = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "").result.structuredContent;
        const pid = pidOf(driven.home, id);
        send(3, "tools/call", { name: "agent_prompt", arguments: { session: id, prompt: "until-cancel", wait: true } });
        send(4, "tools/call", { name: "agent_output", arguments: { session: id } });
        await answered(4);
        child.stdin.end();
        assert.deepEqual([await ended, err], [0, ""]);
        assert.doesNotMatch(out, /"id":3,/);
        await gone(pid);
      } finally {
        await driven.remove();
      }
    });

    test("a signal, or the end of the input, ends it and its agents also while nobody reads its answers", async () => {
      const driven = machineWith(node, { plain: [] });
      fill(driven);
      try {
        for (const end of ["SIGTERM", "SIGINT", "SIGHUP", "end of the input"] as const) {
          const { command, args, env } = startOf(driven, node, "--allow-agents");
          const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
          const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
          const send = (id: number, method: string, params: object): void => {
            child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
          };
          send(1, "initialize", {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "t", version: "1" },
          });
          send(2, "tools/call", { name: "agent_start", arguments: { agent: "plain", cwd: driven.home } });
          const id = await started(child.stdout);
          for (let n = 3; n < 15; n++) {
            send(n, "tools/call", { name: "read_session", arguments: { session: LONG, limit: 100_000 } });
          }
          const pid = pidOf(driven.home, id);
          // Only the pipe can tell that it is full.
          await new Promise((resolve) => setTimeout(resolve, 700));
          if (end === "end of the input") child.stdin.end();
          else child.kill(end);
          await ended;
          await gone(pid);
          child.stdout.destroy();
        }
      } finally {
        await driven.remove();
      }
    });

    test("with a server agents are driven there, and go on", async () => {
      const driven = machineWith(node, { plain: [] });
      try {
        const { server } = await served(driven);
        const client = await connected(startOf(driven, node, "--allow-agents"));
        const start = { agent: "plain", cwd: driven.home, name: "front", prompt: "hello" };
        const started = await client.callTool({ name: "agent_start", arguments: start });
        assert.equal(started.structuredContent?.name, "front", JSON.stringify(started));
        assert.ok(started.structuredContent.seq >= 1);
        const { structuredContent: peers } = await client.callTool({ name: "peers" });
        assert.deepEqual(
          peers.peers.map((peer: { name: string }) => peer.name),
          ["front"],
        );
        await client.close();
        assert.match((await driven.run("sessions", "ls")).out, /front/);
        server.child.kill("SIGTERM");
        await server.ended;
      } finally {
        await driven.remove();
      }
    });
  });
}

/** The id of the agent's session that the answer 2 tells of; from then on nothing is read. */
function started(stdout: Readable): Promise<string> {
  return new Promise((resolve) => {
    let out = "";
    const take = (part: Buffer): void => {
      out += part;
      const answer = out.split("\n").find((line) => line.includes('"id":2,') && line.endsWith("}"));
      if (answer === undefined) return;
      stdout.off("data", take).pause();
      resolve(JSON.parse(answer).result.structuredContent.id);
    };
    stdout.on("data", take);
  });
}

function pidOf(home: string, id: string): number {
  const { sessions } = JSON.parse(readFileSync(join(home, ".agent-bridge/sessions.json"), "utf8"));
  return sessions.find((session: { id: string }) => session.id === id).child.pid;
}

async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 20));
}
