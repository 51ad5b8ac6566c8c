import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "./client.ts";
import { NotMeasurable } from "./measure.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BARE = here("bare-server.mjs");
const PROBE = here("loop-probe.mjs");
const BUILT = here("../../dist/agent-bridge.mjs");

/** How late an event loop ran, ms. */
export interface LoopDelay {
  readonly p999: number;
  readonly max: number;
  readonly samples: number;
}

/** A program that was started to be measured. */
export class Child {
  readonly process: ChildProcess;
  #output = "";

  private constructor(child: ChildProcess) {
    this.process = child;
    const keep = (part: Buffer): void => {
      this.#output += part.toString();
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    // However the run ends, nothing that it started is left behind.
    const kill = (): boolean => child.kill("SIGKILL");
    process.on("exit", kill);
    child.on("exit", () => process.off("exit", kill));
  }

  /** The built file's `serve`, with `home` as the home folder and its own files in `bridgeHome`. */
  static product(home: string, bridgeHome: string, options: { port?: number; probe?: boolean } = {}): Child {
    if (!existsSync(BUILT)) throw new NotMeasurable("dist/agent-bridge.mjs is not built");
    const args = [BUILT, "serve", "--port", String(options.port ?? 0), "--home", bridgeHome];
    return Child.#start(args, home, options.probe);
  }

  /** The bare `node:http` server. */
  static bare(port = 0): Child {
    return Child.#start([BARE, String(port)], "/");
  }

  /** A process that does nothing, with the probe in it. */
  static idle(): Child {
    return Child.#start(["-e", "setInterval(() => {}, 1e8)"], "/", true);
  }

  /** A script of this folder, with the probe in it. */
  static script(name: string, args: readonly string[]): Child {
    return Child.#start([here(name), ...args], "/", true);
  }

  static #start(args: string[], home: string, probe = false): Child {
    const probed = probe ? ["--import", PROBE, ...args] : args;
    const channel = probe ? ["ipc" as const] : [];
    const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home, NO_COLOR: "1" };
    return new Child(spawn(process.execPath, probed, { env, stdio: ["ignore", "pipe", "pipe", ...channel] }));
  }

  /** The port it prints once it listens. @throws NotMeasurable when it ends before, or says nothing for 60 s */
  async port(): Promise<number> {
    const port = await this.says(/^(\d+)$|https?:\/\/(?:127\.0\.0\.1|localhost):(\d+)/m);
    return Number(port[1] ?? port[2]);
  }

  /** Waits until it has printed this. @throws NotMeasurable when it ends before, or says nothing for 60 s */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const giveUp = AbortSignal.timeout(60_000);
    for (;;) {
      const match = pattern.exec(this.#output);
      if (match !== null) return match;
      if (this.#ended() || giveUp.aborted) throw new NotMeasurable(`did not say what it should: ${this.said()}`);
      await Promise.race([
        once(this.process.stdout ?? this.process, "data", { signal: giveUp }),
        once(this.process, "exit", { signal: giveUp }),
      ]).catch(() => {});
    }
  }

  /** The end of what it has printed. */
  said(): string {
    return this.#output.trim().slice(-300);
  }

  /** How late its event loop ran since this was last asked. */
  async loopDelay(): Promise<LoopDelay> {
    const answer = once(this.process, "message");
    this.process.send("loop-delay");
    const [delay] = await answer;
    return delay;
  }

  /** A line of `/proc/<pid>/status` in MB: `VmRSS` now, `VmHWM` the peak. @throws NotMeasurable where there is no /proc */
  memory(name: "VmRSS" | "VmHWM"): number {
    const file = `/proc/${this.process.pid}/status`;
    if (!existsSync(file)) throw new NotMeasurable("memory is read from /proc, which this system does not have");
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(file, "utf8"))?.[1];
    return (Number(kilobytes) * 1024) / 1e6;
  }

  /** Ends it, and waits for that; after 5 s it is killed. */
  async close(): Promise<void> {
    if (this.#ended()) return;
    const exit = once(this.process, "exit");
    this.process.kill("SIGTERM");
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 5_000);
    await exit;
    clearTimeout(timer);
  }

  #ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }
}

/** Runs the bare reading and parsing of a file to its end. */
export function runBareParse(file: string): Promise<void> {
  return toItsEnd([BARE, "parse", file], "/");
}

/** Runs a command of the built file to its end, over `home`; what it prints is dropped. @throws NotMeasurable when it fails */
export function runCommand(home: string, words: readonly string[]): Promise<void> {
  if (!existsSync(BUILT)) throw new NotMeasurable("dist/agent-bridge.mjs is not built");
  return toItsEnd([BUILT, ...words], home);
}

async function toItsEnd(args: readonly string[], home: string): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home, NO_COLOR: "1" };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "ignore"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new NotMeasurable(`${args.slice(1).join(" ")} ended with ${code}`);
}

/** A server that runs, and a client of it. */
export interface Running {
  readonly child: Child;
  readonly port: number;
  readonly client: Client;
  close(): Promise<void>;
}

/** Starts the product over `home` and waits until it answers. */
export async function runProduct(
  home: string,
  bridgeHome: string,
  options: { probe?: boolean } = {},
): Promise<Running> {
  const child = Child.product(home, bridgeHome, options);
  return running(child, () => ({ cookie: cookieIn(bridgeHome) }));
}

/** Starts the bare server and waits until it answers. */
export async function runBare(): Promise<Running> {
  return running(Child.bare(), () => ({}));
}

/** The cookie that opens the API of a server whose own files are in `bridgeHome`. */
export function cookieIn(bridgeHome: string): string {
  return `ab_ui=${readFileSync(join(bridgeHome, "dashboard-key"), "utf8").trim()}`;
}

async function running(child: Child, headers: () => Record<string, string>): Promise<Running> {
  try {
    const port = await child.port();
    const client = new Client(port, headers(), 4);
    await client.body("/healthz");
    const close = async (): Promise<void> => {
      client.close();
      await child.close();
    };
    return { child, port, client, close };
  } catch (error) {
    await child.close();
    throw error;
  }
}
