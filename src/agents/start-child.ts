import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import type { Child, ChildCommand, Exit } from "./child.ts";
import { ChildPipe } from "./child-pipe.ts";
import { MARK } from "./child-variables.ts";
import { freshIdentity } from "./process-table.ts";
import { type Ending, endStarted } from "./process-tree.ts";
import { checkCommand, startFailure } from "./start-failure.ts";

/** How a child is marked and ended. */
export interface ChildKeeping {
  /** By what all that it starts is known; the session's id. */
  readonly mark: string;
  readonly polite?: Ending["polite"];
  readonly rootLast?: boolean;
  /** The terminal that it holds, once that is known. */
  readonly terminal?: () => number | undefined;
  readonly table: Ending["table"];
}

/**
 * Starts a program by pipes, in a session and process group of its own: Ctrl-C in our terminal reaches it through us alone.
 * When we are killed, its standard input ends. Whatever becomes of it, `end` is to be called: it ends what the program has
 * left behind, and closes what nobody reads.
 * @throws Failure bad-request: the program or the folder is not there or not allowed, or the words are too long · failed
 */
export async function startChild(what: ChildCommand, keeping: ChildKeeping): Promise<Child> {
  checkCommand(what);
  try {
    const started = await spawned(what, keeping.mark);
    return new RunningChild(started, keeping);
  } catch (error) {
    throw startFailure(error, what);
  }
}

type Spawned = ChildProcessByStdio<Writable, Socket, Socket>;

function spawned({ command, args, cwd, env }: ChildCommand, mark: string): Promise<Spawned> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...env, [MARK]: mark },
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    // Stays: an error that nobody listens to would end us.
    child.on("error", reject);
    child.once("spawn", () => resolve(child as unknown as Spawned));
  });
}

class RunningChild implements Child {
  readonly identity: ProcessIdentity;
  readonly stdout: ChildPipe;
  readonly stderr: ChildPipe;
  readonly exited: Promise<Exit>;
  readonly #stdin: Writable;
  readonly #keeping: ChildKeeping;
  #exit: Exit | undefined;

  constructor(child: Spawned, keeping: ChildKeeping) {
    const pid = child.pid ?? 0;
    this.identity = freshIdentity(pid);
    this.#keeping = keeping;
    this.#stdin = child.stdin;
    // Whoever no longer reads, or is gone, need not be told anything.
    child.stdin.on("error", () => {});
    this.stdout = new ChildPipe(child.stdout);
    this.stderr = new ChildPipe(child.stderr);
    this.exited = new Promise((resolve) => {
      child.once("exit", async (code, signal) => {
        this.#exit = { code, signal };
        await Promise.all([this.stdout.drained(), this.stderr.drained()]);
        resolve(this.#exit);
      });
    });
  }

  write(bytes: Uint8Array | string): Promise<void> {
    if (!this.#stdin.writable) return Promise.resolve();
    // Called as well, with an error, when the child ends first.
    return new Promise((resolve) => this.#stdin.write(bytes, () => resolve()));
  }

  closeInput(): void {
    this.#stdin.end();
  }

  async end(graceMs: number): Promise<Exit> {
    this.closeInput();
    // Where its start is not known, its number may be another's by now.
    if (this.#exit === undefined || this.identity.start !== undefined) await this.#endAll(graceMs);
    this.stdout.closeUnread();
    this.stderr.closeUnread();
    await Promise.race([this.exited, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    return this.#exit ?? { code: null, signal: null };
  }

  #endAll(graceMs: number): Promise<void> {
    const { mark, polite, rootLast, terminal: terminalOf, table } = this.#keeping;
    const terminal = terminalOf?.();
    return endStarted(
      { root: this.identity, mark, ...(terminal !== undefined && { terminal }) },
      { graceMs, ...(polite && { polite }), ...(rootLast && { rootLast }), table },
    );
  }
}

/** How long to wait for a reader that is slow, and for a child that the system does not let be killed: ms. */
const LAST_WORDS_MS = 2_000;
