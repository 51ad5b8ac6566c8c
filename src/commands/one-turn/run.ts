import type { Sessions } from "../../agents/sessions.ts";
import { Bell } from "../../platform/bell.ts";
import { absolute } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { printableLine } from "../../transcript/printable.ts";
import { flag } from "../arguments.ts";
import { type Context, command, first, home, json } from "../command.ts";
import { allInput } from "../input.ts";
import { Interrupts, unlessInterrupted } from "../interrupts.ts";
import { withProgress } from "../progress.ts";
import { OutputClosed } from "../reader-waits.ts";
import { STARTING } from "../starting.ts";
import { Happenings } from "./happenings.ts";
import { followTurn } from "./turn.ts";

/** `run`: an agent, one prompt, and what it does until that is done; in this process, with or without a server. */
export const runAgent = command({
  name: "run",
  summary: "have an agent do one thing, here, without a server",
  operands: { shown: "AGENT -- PROMPT...", least: 1, most: Number.POSITIVE_INFINITY, completes: first("agent") },
  options: {
    ...STARTING,
    permit: {
      ...STARTING.permit,
      help: "how the agent's questions for permission are answered (on a terminal ask, else deny)",
    },
    quiet: flag("print the agent's reply alone", "q"),
    json: { ...json, help: "print what happens as JSON, one event a line" },
    home,
  },
  notes: [
    "AGENT is claude, codex, opencode, hermes, gemini, mastra-agent or an agent of config.json. Without PROMPT it is read from standard input.",
    "Ctrl-C cancels the turn, a second one ends the agent. The exit code is 0 when the turn was completed, 2 when the command can't be carried out as it was typed, else 1.",
    "The session is recorded and stands in the lists of sessions, runs and jobs, as those of the server do.",
  ],
  examples: [
    ['run claude -- "Which tests are slow?"', "ask about this folder, and watch the answer"],
    ['run codex --permit allow -q -- "Fix it" > answer.txt', "let it work, and keep what it says"],
  ],
  async run(context, { options, operands: [agent = "", ...words] }) {
    const { quiet, home: given, ...rest } = options;
    if (quiet && options.json) throw new Failure("usage", "--quiet and --json can't stand together");
    const { name, model, permit = context.input.isTerminal ? "ask" : "deny" } = rest;
    const prompt = await promptOf(context, words);
    const cwd = absolute(rest.cwd ?? ".");
    const end = new AbortController();
    const bell = new Bell();
    // From before anything is started: whoever ends us now must leave nothing of it behind.
    const interrupts = new Interrupts(context.interrupts(end.signal), bell);
    const happenings = new Happenings();
    try {
      const sessions = await context.bridge.drive(context.environment(given), (event) => happenings.add(event));
      try {
        const start = sessions.start({
          ...{ kind: "agent", agent, cwd, permit },
          ...(name !== undefined && { name }),
          ...(model !== undefined && { model }),
        });
        const started = await withProgress(context.terminal, `Starting ${printableLine(agent)}`, () =>
          unlessInterrupted(interrupts, start),
        );
        if (started === undefined) throw new Failure("failed", `${agent} was ended before it was up`);
        const shape = options.json ? "json" : quiet ? "reply" : "all";
        const { id } = started;
        const asks = permit === "ask";
        return await followTurn(context, { sessions, id, prompt, happenings, interrupts, bell, shape, asks });
      } catch (error) {
        if (!(error instanceof OutputClosed) || interrupts.take() === undefined) throw error;
        // It was interrupted while nobody read what it prints. That was all for this; the agent is still ended in good order.
        while (interrupts.take() !== undefined);
        return 1;
      } finally {
        await withProgress(context.terminal, "Ending the agent", () => ended(sessions, interrupts, bell));
      }
    } finally {
      end.abort();
    }
  },
});

/** Ends what runs. An interrupt that comes meanwhile leaves what is still to be written. */
async function ended(sessions: Sessions, interrupts: Interrupts, bell: Bell): Promise<void> {
  const [over, leave] = [new AbortController(), new AbortController()];
  const closing = sessions.close(leave.signal).finally(() => over.abort());
  while (!over.signal.aborted) {
    if (interrupts.take() !== undefined) leave.abort();
    else await bell.listen(over.signal);
  }
  await closing;
}

async function promptOf({ input }: Context, words: readonly string[]): Promise<string> {
  if (words.length > 0) return words.join(" ");
  if (input.isTerminal) throw new Failure("usage", "run needs a prompt: give it behind --, or on standard input");
  return allInput(input);
}
