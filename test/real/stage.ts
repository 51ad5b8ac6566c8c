import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Api, ask, Machine, type Running } from "../built/product.ts";
import type { Agent } from "./agents.ts";
import { Model } from "./model/model.ts";
import { processesIn } from "./processes.ts";
import { eventually, soon } from "./waiting.ts";

/** How a CLI ended. */
export interface CliEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote, for messages. */
  readonly said: string;
}

/** A CLI that was started. */
export interface Cli {
  readonly ended: Promise<CliEnd>;
  readonly running: () => boolean;
  /** Sends a signal to it and all that it started, as a terminal would. */
  signal(signal: NodeJS.Signals): void;
}

/** A row of the list, as far as the tests look at it. */
export interface Row {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly live?: { readonly pid: number };
}

/** A subagent in its parent's list. */
export interface Child {
  readonly id: string;
  readonly title: string;
  readonly status: string;
}

/** A person's machine on which a CLI, its model and the product run. */
export class Stage {
  readonly agent: Agent;
  readonly model: Model;
  readonly machine: Machine;
  readonly server: Running;
  readonly api: Api;
  readonly #clis: Cli[] = [];

  /** The product serves already; the CLI has never run. */
  static async start(agent: Agent): Promise<Stage> {
    const model = await Model.start();
    const machine = new Machine(process.execPath);
    mkdirSync(join(machine.home, "work"));
    agent.prepare(machine.home, model.url);
    const server = machine.start(["serve", "--port", "0"], around(agent, model));
    const [, port] = await soon("the server listens", server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/));
    const key = (await machine.run("token")).out.trim();
    return new Stage(agent, model, machine, server, { port: Number(port), key });
  }

  private constructor(agent: Agent, model: Model, machine: Machine, server: Running, api: Api) {
    this.agent = agent;
    this.model = model;
    this.machine = machine;
    this.server = server;
    this.api = api;
  }

  /** The folder that the agent works in. */
  get work(): string {
    return join(this.machine.home, "work");
  }

  /** Starts the product as a user of the agent would. */
  product(...words: string[]): Running {
    return this.machine.start(words, around(this.agent, this.model));
  }

  /** Starts the CLI in `~/work` with a prompt. */
  cli(words: readonly string[], prompt: string): Cli {
    const { agent, machine, model, work } = this;
    const env = { HOME: machine.home, ...around(agent, model) };
    const child = spawn(join(commands(), agent.command), words, { cwd: work, detached: true, env });
    child.stdin.on("error", () => {}).end(prompt);
    const cli = followed(child);
    this.#clis.push(cli);
    return cli;
  }

  /** Asks for a path that must be there. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what it must be.
  async get(path: string): Promise<any> {
    const { status, json, text } = await ask(this.api, path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return json;
  }

  async rows(): Promise<Row[]> {
    return (await this.get(`/api/transcripts?agent=${this.agent.name}`)).transcripts;
  }

  async row(id: string): Promise<Row | undefined> {
    return (await this.rows()).find((row) => row.id === id);
  }

  /** The row that is not one of `known`, once there is one. */
  newRow(known: readonly Row[]): Promise<Row> {
    return eventually("the session is in the list", async () =>
      (await this.rows()).find(({ id }) => known.every((row) => row.id !== id)),
    );
  }

  chat(id: string): string {
    return `/api/transcripts/${this.agent.name}/${id}/chat`;
  }

  children(id: string): Promise<Child[]> {
    return this.get(`/api/transcripts/${this.agent.name}/${id}/subagents`).then(({ subagents }) => subagents);
  }

  childChat(id: string, child: string): string {
    return `/api/transcripts/${this.agent.name}/${id}/subagents/${child}`;
  }

  /** Ends the CLIs that still run; names every process that was left. */
  async endClis(): Promise<readonly string[]> {
    for (const cli of this.#clis.filter(({ running }) => running())) cli.signal("SIGKILL");
    await Promise.all(this.#clis.map(({ ended }) => ended));
    const left = processesIn(this.machine.home).filter(({ pid }) => pid !== this.server.child.pid);
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    return left.map(({ command }) => command);
  }

  async end(): Promise<void> {
    await this.endClis();
    await this.model.close();
    await this.machine.remove();
  }
}

/** The folder of the CLIs' commands. */
function commands(): string {
  const folder = process.env.AGENT_BRIDGE_REAL_CLIS;
  if (folder === undefined) throw new Error("these tests are started by `npm run test:real`");
  return join(folder, "node_modules/.bin");
}

/** The variables of someone who uses the agent with the model. */
function around(agent: Agent, model: Model): { readonly [name: string]: string | undefined } {
  return {
    // Some of the commands are scripts for whatever Node is found first.
    PATH: [dirname(process.execPath), commands(), process.env.PATH].join(delimiter),
    LANG: "C.UTF-8",
    ...agent.variables(model.url),
  };
}

function followed(child: ChildProcess): Cli {
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (part: string) => {
      said = (said + part).slice(-4_000);
    });
  }
  const ended = new Promise<CliEnd>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve({ code, signal, said }));
  });
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    ended,
    running,
    signal: (signal) => {
      if (child.pid !== undefined && running()) process.kill(-child.pid, signal);
    },
  };
}
