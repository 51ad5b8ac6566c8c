import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type {
  AcpConnection,
  AcpHandlers,
  AcpOpening,
  AcpStreams,
  PermissionAnswer,
  PermissionRequest,
} from "../../src/agents/acp/connection.ts";
import { openAcp } from "../../src/agents/acp/open.ts";
import type { SessionEvent } from "../../src/agents/event.ts";
import type { JsonObject } from "../../src/platform/read.ts";
import { systemTimer } from "../../src/platform/timer.ts";

/** The scripted agent, to be run by Node; its directives stand at its top. */
export const FAKE_AGENT = fileURLToPath(new URL("fake-agent.mjs", import.meta.url));

/** How a test listens to an agent. */
export interface Listening extends Partial<AcpOpening> {
  readonly happened?: AcpHandlers["happened"];
  readonly permission?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
}

/** What an agent has told so far. */
export class Heard implements AcpHandlers {
  readonly events: SessionEvent[] = [];
  readonly notes: string[] = [];
  readonly questions: PermissionRequest[] = [];
  readonly #listening: Listening;

  constructor(listening: Listening) {
    this.#listening = listening;
  }

  happened(event: SessionEvent): void | Promise<void> {
    this.events.push(event);
    return this.#listening.happened?.(event);
  }

  permission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    this.questions.push(request);
    return this.#listening.permission?.(request, signal) ?? Promise.resolve("cancelled");
  }

  passedOver(what: string): void {
    this.notes.push(what);
  }

  /** All that was said, as one text. */
  get text(): string {
    return this.events.map((event) => (event.kind === "text-delta" ? event.text : "")).join("");
  }
}

/** An agent that a test started: ended when its scope is left. */
export class StartedAgent implements AsyncDisposable {
  readonly heard: Heard;
  readonly child: ChildProcess;
  readonly cwd: string;
  readonly streams: AcpStreams;
  readonly #exited: Promise<unknown>;

  constructor(heard: Heard, command: readonly string[], env: { readonly [name: string]: string } = {}) {
    this.heard = heard;
    this.cwd = mkdtempSync(join(tmpdir(), "agent-"));
    const child = spawn(process.execPath, command, {
      cwd: this.cwd,
      env: { ...env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.child = child;
    this.#exited = once(child, "close");
    child.stdin.on("error", () => {});
    this.streams = {
      input: child.stdout,
      write: (line) => new Promise((resolve) => child.stdin.write(line, () => resolve())),
    };
  }

  /** What it was sent so far, as the setting `log NAME` keeps it. */
  wasSent(name: string): JsonObject[] {
    try {
      const lines = readFileSync(join(this.cwd, name), "utf8").split("\n");
      return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    } catch {
      return [];
    }
  }

  /** Speaks with it. */
  async open(opening: Partial<AcpOpening> = {}): Promise<AcpConnection> {
    const whole = { cwd: this.cwd, version: "0.0.0", patienceMs: 60_000, ...opening };
    return await openAcp(this.streams, this.heard, whole, { timer: systemTimer });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    this.child.stdout?.resume();
    await this.#exited;
    rmSync(this.cwd, { recursive: true, force: true });
  }
}

/** Starts the scripted agent with these settings. */
export function startFakeAgent(settings: readonly string[] = [], listening: Listening = {}): StartedAgent {
  return new StartedAgent(new Heard(listening), [FAKE_AGENT, ...settings]);
}
