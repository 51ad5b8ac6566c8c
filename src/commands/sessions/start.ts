import { Bell } from "../../platform/bell.ts";
import { absolute } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { Interrupts } from "../interrupts.ts";
import { printJson } from "../print.ts";
import { inFull } from "../program.ts";
import { serverOf } from "../server-of.ts";
import type { OPTIONS } from "./sessions.ts";
import { shownSession } from "./shown.ts";
import { type StartBody, startSession } from "./start-session.ts";

type Values = OptionValues<typeof OPTIONS>;

/** `sessions start`: starts a session and prints its id. */
export async function start(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  const { terminal } = context;
  const body = { ...whatOf(options, words), cwd: absolute(options.cwd ?? "."), name: options.name };
  const server = await serverOf(context, options.home);
  const end = new AbortController();
  let answer: unknown;
  try {
    const interrupts = new Interrupts(context.interrupts(end.signal), new Bell());
    answer = await startSession(context, server, body, { doing: "Starting the session", interrupts });
  } finally {
    end.abort();
  }
  const { id } = shownSession(answer);
  if (options.json) await printJson(terminal, answer);
  else {
    await terminal.out(`${id}\n`);
    const watch = inFull(context.program, `sessions attach ${id}`, context.environment(options.home));
    await terminal.err(`${watch} watches it\n`);
  }
  return 0;
}

function whatOf({ kind = "agent", model, permit }: Values, words: readonly string[]): Omit<StartBody, "cwd"> {
  if (kind === "agent") {
    const [agent, ...prompt] = words;
    if (agent === undefined) throw new Failure("usage", "sessions start needs the name of an agent, or --kind");
    return { kind, agent, model, permit, prompt: prompt.length === 0 ? undefined : prompt.join(" ") };
  }
  if (words.length === 0) {
    throw new Failure("usage", `sessions start --kind ${kind} needs a program: give it behind --`);
  }
  for (const [name, value] of Object.entries({ model, permit })) {
    if (value !== undefined) throw new Failure("usage", `--${name} is for agents, not for a ${kind}`);
  }
  return { kind, argv: words };
}
