import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { startOf } from "./mcp-client.ts";
import { Machine, NODES } from "./product.ts";

for (const { name, node } of NODES) {
  describe(`what mcp reads and writes on ${name}`, () => {
    const machine = new Machine(node);
    after(() => machine.remove());

    test("it ends with its input, with a signal, and when nobody reads its output; stderr stays empty", async () => {
      const talk = (): { child: ChildProcess; out: () => string; err: () => string; ended: Promise<number | null> } => {
        const { command, args, env } = startOf(machine, node);
        const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
        let out = "";
        let err = "";
        child.stdout.setEncoding("utf8").on("data", (part) => {
          out += part;
        });
        child.stderr.setEncoding("utf8").on("data", (part) => {
          err += part;
        });
        child.stdin.on("error", () => {});
        const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
        return { child, out: () => out, err: () => err, ended };
      };
      const ping = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
      const piped = talk();
      piped.child.stdin?.end(ping.trim());
      assert.deepEqual(
        [await piped.ended, piped.out(), piped.err()],
        [0, '{"jsonrpc":"2.0","id":1,"result":{}}\n', ""],
      );

      const told = talk();
      told.child.stdin?.write(ping);
      await new Promise((resolve) => told.child.stdout?.once("data", resolve));
      told.child.kill("SIGTERM");
      assert.deepEqual([await told.ended, told.err()], [0, ""]);

      const unread = talk();
      unread.child.stdin?.write(ping);
      await new Promise((resolve) => unread.child.stdout?.once("data", resolve));
      unread.child.stdout?.destroy();
      unread.child.stdin?.write(ping);
      assert.deepEqual([await unread.ended, unread.err()], [0, ""]);
    });

    test("whatever comes in, cut anywhere, it answers in whole lines of JSON and goes on", async () => {
      const { command, args, env } = startOf(machine, node);
      const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (part) => {
        out += part;
      });
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      const good = (id: number): Buffer => Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`);
      const line = fc.oneof(
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.concat([bytes, Buffer.from("\n")])),
        fc.json().map((text) => Buffer.from(`${text}\n`)),
        fc
          .record({
            jsonrpc: fc.constant("2.0"),
            id: fc.jsonValue(),
            method: fc.constantFrom("ping", "tools/list", "initialize", "x"),
            params: fc.jsonValue(),
          })
          .map((message) => Buffer.from(`${JSON.stringify(message)}\n`)),
        fc.constant(Buffer.concat([Buffer.alloc(8 * 1024 * 1024 + 1, 0x61), Buffer.from("\n")])),
      );
      const seed = Date.now();
      const lines = fc.sample(line, { numRuns: 200, seed });
      const bytes = Buffer.concat([...lines.flatMap((each, index) => [each, good(1_000_000 + index)])]);
      const cuts = fc.sample(fc.integer({ min: 0, max: bytes.length }), { numRuns: 50, seed }).sort((a, b) => a - b);
      for (const [index, cut] of [...cuts, bytes.length].entries()) {
        const part = bytes.subarray(cuts[index - 1] ?? 0, cut);
        await new Promise((resolve) => child.stdin.write(part, resolve));
      }
      child.stdin.end();
      assert.equal(await ended, 0, `seed ${seed}`);
      const answers = out
        .trimEnd()
        .split("\n")
        .map((each) => JSON.parse(each));
      const answered = new Set(answers.map(({ id }) => id));
      for (const index of lines.keys()) assert.ok(answered.has(1_000_000 + index), `seed ${seed}, line ${index}`);
    });
  });
}
