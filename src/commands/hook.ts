import { callServer, pathOf, type ServerAddress } from "../client/api.ts";
import type { Environment } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { asObject, asText, parseJson } from "../platform/read.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import { printableLine } from "../transcript/printable.ts";
import { flag } from "./arguments.ts";
import { callingTools, sessionCalled } from "./calling-session.ts";
import { type Context, command, type ExitCode, first, home } from "./command.ts";
import { allInput } from "./input.ts";
import { joinBody } from "./join.ts";
import { nameOf } from "./leave.ts";
import { inFull } from "./program.ts";
import { runningServer } from "./server-of.ts";

/** `hook`: what an agent's hooks run. */
export const hook = command({
  name: "hook",
  summary: "have every session of Claude Code join and leave by itself",
  operands: { shown: "claude", least: 1, most: 1, completes: first(["claude"]) },
  options: { print: flag("print the settings, whatever stdin is"), home },
  notes: [
    "On a terminal it prints what belongs into Claude Code's settings.json; there Claude Code runs it with a hook's JSON on stdin: SessionStart joins, SessionEnd leaves.",
    "As a hook it prints nothing on stdout. When no server runs it does nothing; what fails never stops Claude Code.",
  ],
  examples: [["hook claude", "print the settings"]],
  async run(context, { options, operands: [agent] }) {
    if (agent !== "claude") throw new Failure("usage", `hook takes claude, not "${printableLine(agent ?? "")}"`);
    const ours = context.environment(options.home);
    if (options.print || context.input.isTerminal) {
      await context.terminal.out(settings(inFull(context.program, "hook claude", ours)));
      return 0;
    }
    return asHook(context, ours, options.home);
  },
});

/** What belongs into `settings.json`, so that `words` are run at the start and the end of each session. */
function settings(words: string): string {
  const hooks = [{ hooks: [{ type: "command", command: words }] }];
  return `${JSON.stringify({ hooks: { SessionStart: hooks, SessionEnd: hooks } }, undefined, 2)}\n`;
}

/** Claude Code has written it before it waits. */
const PATIENCE_MS = 5_000;

/** Claude Code takes exit code 2 for a refusal, so whatever goes wrong is 1. */
async function asHook(context: Context, environment: Environment, given: string | undefined): Promise<ExitCode> {
  try {
    const event = eventOf(await allInput(context.input, PATIENCE_MS));
    const server = await runningServer(context, given);
    if (server !== undefined) await told(context, environment, server, event);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await context.terminal.err(`agent-bridge: ${printableLine(context.program.said(error.message))}\n`);
    return 1;
  }
}

interface HookEvent {
  readonly name: string;
  readonly session: SessionId;
  readonly cwd: string | undefined;
  /** Of SessionEnd. */
  readonly reason: string | undefined;
}

/** @throws Failure failed: it is no hook's JSON */
function eventOf(text: string): HookEvent {
  const fields = objectIn(text);
  const name = asText(fields?.hook_event_name);
  const session = sessionIdOf(fields?.session_id);
  if (name === undefined || session === undefined) {
    throw new Failure("failed", "what came on stdin is not the JSON that Claude Code gives to a hook");
  }
  return { name, session, cwd: asText(fields?.cwd), reason: asText(fields?.reason) };
}

function objectIn(text: string): ReturnType<typeof asObject> {
  try {
    return asObject(parseJson(text));
  } catch {
    return undefined;
  }
}

/** Reasons for which a session ends while its process goes on with another, which then joins in its place. */
const GOES_ON = ["clear", "resume"];

async function told(
  context: Context,
  environment: Environment,
  server: ServerAddress,
  { name, session, cwd, reason = "" }: HookEvent,
): Promise<void> {
  if (name === "SessionStart") {
    const called = await sessionCalled(await callingTools(context, environment, "hook"), "claude", session, cwd);
    await callServer(server, "POST", "/api/peers", joinBody(called, undefined));
  } else if (name === "SessionEnd" && !GOES_ON.includes(reason)) {
    const peer = await nameOf(server, { agent: "claude", sessionId: session, pid: -1 });
    if (peer !== undefined) await callServer(server, "DELETE", pathOf("", "api", "peers", peer)).catch(unlessNotJoined);
  }
}

/** One that did not join has nothing to leave. */
function unlessNotJoined(error: unknown): void {
  if (!(error instanceof Failure) || (error.kind !== "conflict" && error.kind !== "not-found")) throw error;
}
