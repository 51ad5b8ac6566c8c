import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Api, ask, Machine } from "../built/product.ts";
import { sessionPath } from "./clients.ts";
import type { Agent } from "./tapes.ts";

/** How long the server has to find what a writer begins with. */
const FIND_MS = 20_000;

/** The product, serving what a program writes. */
export interface Served {
  readonly api: Api;
  readonly memory: Memory;
  /** What the program printed, when it has ended well. */
  readonly written: Promise<string>;
  /** Ends the server, which must have nothing to say. */
  end(): Promise<void>;
}

/** A process's resident memory in MB, where the system tells it. */
export interface Memory {
  readonly peak: number;
  readonly last: number;
}

/** Starts a program beside this file with an order for a home of its own, and the built file, until each chat is served. */
export async function serveWritten(
  t: TestContext,
  program: "writer.ts" | "replacer.ts",
  agents: readonly Agent[],
  order: object,
): Promise<Served> {
  const machine = new Machine(process.execPath);
  t.after(() => machine.remove());
  const written = startProgram(t, program, { ...order, home: machine.home });
  const server = machine.start(["serve", "--port", "0"]);
  const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
  const api = { port: Number(port), key: (await machine.run("token")).out.trim() };
  await allFound(api, agents);
  const memory = watchMemory(server.child.pid ?? 0);
  t.after(() => memory.stop());
  return {
    api,
    memory,
    written,
    async end() {
      server.child.kill("SIGTERM");
      const { code, err } = await server.ended;
      assert.deepEqual([code, err], [0, ""]);
    },
  };
}

function startProgram(t: TestContext, program: string, order: object): Promise<string> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ["--no-warnings", path, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    out += part;
  });
  const written = new Promise<string>((resolve, reject) => {
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`the writer ended with ${code}`))));
  });
  // Whoever waits for it is told; nobody may wait for it yet.
  written.catch(() => undefined);
  return written;
}

/** Waits until each chat is served. */
async function allFound(api: Api, agents: readonly Agent[]): Promise<void> {
  const deadline = performance.now() + FIND_MS;
  for (const agent of agents) {
    while ((await ask(api, sessionPath(agent))).status !== 200) {
      assert.ok(performance.now() < deadline, `${agent} is not found`);
      await sleep(50);
    }
  }
}

function watchMemory(pid: number): Memory & { stop(): void } {
  const path = `/proc/${pid}/status`;
  const watched = { peak: 0, last: 0, stop: () => clearInterval(timer) };
  const timer = setInterval(() => {
    const kilobytes = existsSync(path) ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, "utf8"))?.[1] ?? 0) : 0;
    watched.last = Math.round(kilobytes / 1024);
    watched.peak = Math.max(watched.peak, watched.last);
  }, 250);
  return watched;
}
