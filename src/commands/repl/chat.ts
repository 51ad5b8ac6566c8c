import { callServer, pathOf, type ServerAddress } from "../../client/api.ts";
import { Bell } from "../../platform/bell.ts";
import { absolute } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { printableLine } from "../../transcript/printable.ts";
import { type OptionValues, text } from "../arguments.ts";
import { type Context, command, type ExitCode, first, home, json } from "../command.ts";
import { Interrupts } from "../interrupts.ts";
import { inFull } from "../program.ts";
import { withProgress } from "../progress.ts";
import { serverOf } from "../server-of.ts";
import { isDrivenElsewhere } from "../sessions/elsewhere.ts";
import { callerOf } from "../sessions/questions.ts";
import { goesOn, type ShownSession, shownSession } from "../sessions/shown.ts";
import { startSession } from "../sessions/start-session.ts";
import { STARTING } from "../starting.ts";
import { Conversation, type Talked } from "./conversation.ts";

const OPTIONS = {
  ...STARTING,
  permit: {
    ...STARTING.permit,
    help: "how the agent's questions for permission are answered (on a terminal ask, else deny)",
  },
  session: {
    ...text("ID", "go on with this live session of the server, and leave it at work"),
    completes: "own session",
  } as const,
  json: { ...json, help: "print the records of the turns as JSON, one a line" },
  home,
};

type Values = OptionValues<typeof OPTIONS>;

/** `chat`: prompts typed here, the agent's turns printed as they come. */
export const chat = command({
  name: "chat",
  summary: "talk with an agent in this terminal",
  operands: { shown: "[AGENT]", least: 0, most: 1, completes: first("agent") },
  options: OPTIONS,
  notes: [
    "AGENT is claude, codex, opencode, hermes, gemini, mastra-agent or an agent of config.json; it runs in a session of the server " +
      "(agent-bridge serve), which ends with the chat. Each line is a prompt.",
    "/exit or the end of the input ends the chat. Ctrl-C cancels the turn that runs; at an empty prompt, typed twice, it " +
      "ends the chat. Questions for permission are asked here.",
    "From a pipe each line is a prompt too, and the exit code is 0 when the last turn was completed, else 1.",
  ],
  examples: [
    ["chat claude", "talk with Claude Code about this folder"],
    ["chat --session shop", "go on with a session that is at work"],
    ["chat codex < prompts.txt", "several turns, one after the other"],
  ],
  async run(context, { options, operands: [agent] }) {
    const end = new AbortController();
    const bell = new Bell();
    try {
      // From before a session is started: whoever ends the chat now must not leave it behind.
      return await chatted(context, options, agent, {
        interrupts: new Interrupts(context.interrupts(end.signal), bell),
        bell,
      });
    } finally {
      end.abort();
    }
  },
});

async function chatted(
  context: Context,
  options: Values,
  agent: string | undefined,
  ends: Pick<Talked, "interrupts" | "bell">,
): Promise<ExitCode> {
  const server = await serverOf(context, options.home);
  const session = await sessionFor(context, server, options, agent, ends.interrupts);
  const started = options.session === undefined;
  await welcome(context, session, started);
  const caller = callerOf(context, options.home);
  const talked = { server, id: session.id, asJson: options.json, isAtWork: !started, caller, ...ends };
  let code: ExitCode;
  try {
    code = await new Conversation(context, talked).run();
  } catch (error) {
    // Why the chat failed is what is told; its session most likely has gone the same way.
    if (started) await stop(context, server, session).catch(() => {});
    throw error;
  }
  await leave(context, server, session, started);
  return code;
}

async function sessionFor(
  context: Context,
  server: ServerAddress,
  options: Values,
  agent: string | undefined,
  interrupts: Interrupts,
): Promise<ShownSession> {
  if (options.session !== undefined) return liveSession(context, server, options, options.session, agent);
  if (agent === undefined) throw new Failure("usage", "chat needs the name of an agent, or --session");
  const { name, model, permit = context.input.isTerminal ? "ask" : "deny" } = options;
  const body = { agent, cwd: absolute(options.cwd ?? "."), name, model, permit };
  const doing = `Starting ${printableLine(agent)}`;
  return shownSession(await startSession(context, server, body, { doing, interrupts }));
}

async function liveSession(
  context: Context,
  server: ServerAddress,
  { home: ours, cwd, name, model, permit }: Values,
  asked: string,
  agent: string | undefined,
): Promise<ShownSession> {
  const [given] = Object.entries({ cwd, name, model, permit }).find(([, value]) => value !== undefined) ?? [];
  if (given !== undefined) throw new Failure("usage", `--${given} is for a session that is started, not for --session`);
  if (agent !== undefined) throw new Failure("usage", `--session names the session: chat does not take "${agent}"`);
  const session = shownSession(await callServer(server, "GET", pathOf("", "api", "sessions", asked)));
  if (session.kind !== "agent") throw new Failure("usage", `a ${printableLine(session.kind)} can't be talked with`);
  if (!goesOn(session))
    throw new Failure("conflict", "this session has ended: agent-bridge sessions restart goes on from it");
  if (await isDrivenElsewhere(context, ours, session)) {
    const see = inFull(context.program, `sessions attach ${session.id}`, context.environment(ours));
    throw new Failure("conflict", `another process drives this session, so it can only be read here: ${see}`);
  }
  return session;
}

async function welcome(
  { terminal, input }: Context,
  { id, name, agent }: ShownSession,
  started: boolean,
): Promise<void> {
  if (!input.isTerminal) return;
  const who = printableLine(name ?? agent ?? id);
  await terminal.err(`${who} (${printableLine(id)})${started ? "" : ", at work in the server"}; /exit leaves it.\n`);
}

/** A session that was started here ends here. @throws Failure: it can't be ended */
async function leave(context: Context, server: ServerAddress, session: ShownSession, started: boolean): Promise<void> {
  const { terminal, input } = context;
  if (started) await stop(context, server, session);
  else if (input.isTerminal) await terminal.err(`${printableLine(session.name ?? session.id)} goes on.\n`);
}

function stop({ terminal }: Context, server: ServerAddress, { id }: ShownSession): Promise<unknown> {
  return withProgress(terminal, "Ending the agent", () =>
    callServer(server, "DELETE", pathOf("", "api", "sessions", id)),
  );
}
