import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FAKE_AGENT } from "../support/fake-agent.ts";
import { type Api, Machine, type Running } from "./product.ts";

/** What a machine's agent is set to, by its name. */
export type AgentSettings = { readonly [name: string]: readonly string[] };

/** A machine whose agents are scripted. */
export function machineWith(node: string, agents: AgentSettings): Machine {
  const machine = new Machine(node);
  const home = join(machine.home, ".agent-bridge");
  mkdirSync(home, { mode: 0o700 });
  const commands = Object.entries(agents).map(([name, settings]) => [
    name,
    { command: process.execPath, args: [FAKE_AGENT, ...settings] },
  ]);
  writeFileSync(join(home, "config.json"), JSON.stringify({ version: 1, agents: Object.fromEntries(commands) }));
  return machine;
}

/** Starts the server, and comes back when it serves. */
export async function served(machine: Machine): Promise<{ readonly server: Running; readonly api: Api }> {
  const server = machine.start(["serve", "--port", "0"]);
  const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
  const key = readFileSync(join(machine.home, ".agent-bridge/dashboard-key"), "utf8").trim();
  return { server, api: { port: Number(port), key } };
}

/** An answer to what was sent. */
export interface Sent {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what it must be.
  readonly body: any;
}

/** Sends `body` as JSON. @throws Error when there is no server that answers */
export async function post({ port, key }: Api, path: string, body: object = {}): Promise<Sent> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { cookie: `ab_ui=${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}
