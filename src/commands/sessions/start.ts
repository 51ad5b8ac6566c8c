import { callServer } from "../../client/api.ts";
import { absolute } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import type { OptionValues } from "../arguments.ts";
import type { Context, ExitCode } from "../command.ts";
import { printJson } from "../print.ts";
import { withProgress } from "../progress.ts";
import { serverOf } from "../server-of.ts";
import type { OPTIONS } from "./sessions.ts";
import { shownSession } from "./shown.ts";

type Values = OptionValues<typeof OPTIONS>;

/** `sessions start`: starts a session and prints its id. */
export async function start(context: Context, options: Values, words: readonly string[]): Promise<ExitCode> {
  const { terminal } = context;
  const body = { ...whatOf(options, words), cwd: absolute(options.cwd ?? "."), name: options.name };
  const server = await serverOf(context, options.home);
  // An agent that is started for the first time may take minutes.
  const terms = { patienceMs: Number.POSITIVE_INFINITY };
  const answer = await withProgress(terminal, "Starting the session", () =>
    callServer(server, "POST", "/api/sessions", body, terms),
  );
  const { id } = shownSession(answer);
  if (options.json) await printJson(terminal, answer);
  else {
    await terminal.out(`${id}\n`);
    await terminal.err(context.program.said(`agent-bridge sessions attach ${id} watches it\n`));
  }
  return 0;
}

function whatOf({ kind = "agent", model, permit }: Values, words: readonly string[]): object {
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
