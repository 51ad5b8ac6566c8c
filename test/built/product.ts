import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The built file. */
export const PRODUCT = join(root, "dist/agent-bridge.mjs");

/** The oldest Node that the product runs on, and the newest: the one that runs the tests. */
export const NODES: readonly { readonly name: string; readonly node: string }[] = [
  { name: "the oldest Node", node: join(root, "node_modules/node-oldest/bin/node") },
  { name: "the newest Node", node: process.execPath },
];

/** How a process ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A process of the product. */
export interface Running {
  readonly child: ChildProcess;
  /** Comes back with the first match in what it has written to stdout so far, or once it has. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/** A person's home folder on a machine of their own. */
export class Machine {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-built-")));
  readonly #node: string;
  readonly #running = new Set<ChildProcess>();
  /** The last record of each transcript. */
  readonly #tips = new Map<string, string>();

  constructor(node: string) {
    this.#node = node;
  }

  /** Starts the product. */
  start(words: readonly string[], variables: NodeJS.ProcessEnv = {}): Running {
    const child = spawn(this.#node, [PRODUCT, ...words], {
      cwd: this.home,
      env: { PATH: process.env.PATH, HOME: this.home, USERPROFILE: this.home, TZ: "UTC", ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    return followed(child);
  }

  /** Runs the product to its end. */
  run(...words: string[]): Promise<Ended> {
    return this.start(words).ended;
  }

  /** Ends what still runs, and removes the home. */
  async remove(): Promise<void> {
    const running = [...this.#running].filter((child) => child.exitCode === null && child.signalCode === null);
    for (const child of running) child.kill("SIGKILL");
    await Promise.all(running.map((child) => new Promise((resolve) => child.once("exit", resolve))));
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Where Claude Code keeps the session `id` of the folder `~/work`. */
  transcript(id: string): string {
    const folder = join(this.home, ".claude/projects", join(this.home, "work").replace(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    return join(folder, `${id}.jsonl`);
  }

  /** Adds `lines`, each message the child of the one before it, to the transcript of a session or of a subagent of it. */
  append(id: string, lines: readonly object[], agentId?: string): void {
    const main = this.transcript(id);
    const side = join(main.slice(0, -".jsonl".length), "subagents");
    if (agentId !== undefined) mkdirSync(side, { recursive: true });
    const file = agentId === undefined ? main : join(side, `agent-${agentId}.jsonl`);
    for (const line of lines) {
      const uuid = randomUUID();
      const link = { parentUuid: this.#tips.get(file) ?? null, uuid };
      appendFileSync(file, `${JSON.stringify("message" in line ? { ...link, ...line } : line)}\n`);
      if ("message" in line) this.#tips.set(file, uuid);
    }
  }
}

function followed(child: ChildProcess): Running {
  let out = "";
  let err = "";
  const waiting = new Set<() => void>();
  const take = (stream: "out" | "err") => (part: string) => {
    if (stream === "out") out += part;
    else err += part;
    for (const look of waiting) look();
  };
  child.stdout?.setEncoding("utf8").on("data", take("out"));
  child.stderr?.setEncoding("utf8").on("data", take("err"));
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, out, err }));
  });
  return {
    child,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(out);
          if (match === null) return;
          waiting.delete(look);
          resolve(match);
        };
        waiting.add(look);
        look();
        void ended.then((end) => reject(new Error(`ended before it printed ${pattern}: ${JSON.stringify(end)}`)));
      }),
  };
}

/** A served API, asked with its key. */
export interface Api {
  readonly port: number;
  readonly key: string;
}

/** An answer. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what it must be.
  readonly json: any;
}

/** Asks for `path`; `headers` go with (and before) the key's cookie. */
export async function ask(
  api: Api,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  body?: object,
): Promise<Reply> {
  const response = await open(api, path, headers, method, body);
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part;
  const isJson = (response.headers["content-type"] ?? "").startsWith("application/json");
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** Sends `body` to `path`. */
export function post(api: Api, path: string, body: object = {}): Promise<Reply> {
  return ask(api, path, { "Content-Type": "application/json" }, "POST", body);
}

/** The events of a stream, as they come. */
export async function* events(
  response: IncomingMessage,
): AsyncGenerator<{ event?: string; id?: string; data: string }> {
  let text = "";
  for await (const part of response.setEncoding("utf8")) {
    text += part;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = text
        .slice(0, end)
        .split("\n")
        .map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
      text = text.slice(end + 2);
      const field = (name: string): string[] =>
        fields.filter(([, key]) => key === name).map(([, , value = ""]) => value);
      const [event] = field("event");
      const [id] = field("id");
      const data = field("data");
      if (data.length > 0) yield { ...(event && { event }), ...(id && { id }), data: data.join("\n") };
    }
  }
}

/** Opens `path`, whose answer's body is still to be read. */
export function open(
  { port, key }: Api,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  body?: object,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path,
      method,
      agent: false,
      headers: { Cookie: `ab_ui=${key}`, ...headers },
    };
    request(options, resolve)
      .on("error", reject)
      .end(body && JSON.stringify(body));
  });
}
