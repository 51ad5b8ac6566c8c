import { Failure } from "../../platform/failure.ts";
import { RUN_LIMIT, RUN_LIMIT_MOST } from "../../runs/page.ts";
import { type Completes, choice, flag, text, wholeNumber } from "../arguments.ts";
import { command, home, json } from "../command.ts";
import { EVENTS_OPTIONS, printEvents } from "../events.ts";
import { EXPORT_OPTIONS, exportAsked } from "../export.ts";
import { STARTING } from "../starting.ts";
import { forVerb, namesOf, refuseOtherOptions, type Verbs } from "../verbs.ts";
import { attach } from "./attach.ts";
import { answer, cancel, input, prompt, restart, stop } from "./drive.ts";
import { list } from "./list.ts";
import { start } from "./start.ts";
import { sessionWord } from "./words.ts";

/** The options of all words behind `sessions`. */
export const OPTIONS = {
  kind: choice("ls: only of this kind; start: start a command or terminal", ["agent", "command", "terminal"]),
  live: flag("ls: only sessions that go on"),
  limit: wholeNumber("N", `ls: at most so many (${RUN_LIMIT})`, [1, RUN_LIMIT_MOST]),
  cwd: { ...STARTING.cwd, help: `start: ${STARTING.cwd.help}` },
  name: { ...STARTING.name, help: `start: ${STARTING.name.help}` },
  model: { ...STARTING.model, help: `start: ${STARTING.model.help}` },
  permit: { ...STARTING.permit, help: `start: ${STARTING.permit.help}` },
  interrupt: flag("prompt: cancel the turn that runs first"),
  wait: flag("prompt: wait until the turn has ended"),
  end: flag("input: nothing more will come"),
  ...forVerb("events", EVENTS_OPTIONS),
  ...forVerb("export", EXPORT_OPTIONS),
  attach: { ...text("ID", "as sessions attach ID"), completes: "own session" } as const,
  json: { ...json, help: "print JSON, as the API does; events: one record a line; export: as --format json" },
  home,
};

const VERBS: Verbs<typeof OPTIONS> = {
  ls: ["kind", "live", "limit", "json"],
  start: ["kind", "cwd", "name", "model", "permit", "json"],
  prompt: ["interrupt", "wait", "json"],
  attach: ["attach"],
  stop: ["json"],
  restart: ["json"],
  cancel: ["json"],
  input: ["end", "json"],
  answer: ["json"],
  events: namesOf(EVENTS_OPTIONS),
  export: namesOf(EXPORT_OPTIONS),
};

/** What may stand behind the words `before`. */
function wordBehind([verb, ...more]: readonly string[]): Completes | undefined {
  if (verb === undefined) return Object.keys(VERBS);
  if (more.length > 0 || verb === "ls") return undefined;
  if (verb === "start") return "agent";
  if (verb === "events") return "recording";
  return verb === "export" ? "session" : "own session";
}

/** `sessions`: agents, commands and terminals that the server runs. */
export const sessions = command({
  name: "sessions",
  summary: "start, prompt, watch and stop sessions of the server",
  operands: {
    shown: "[WHAT] [ID] [-- TEXT]",
    least: 0,
    most: Number.POSITIVE_INFINITY,
    completes: wordBehind,
  },
  options: OPTIONS,
  verbs: VERBS,
  notes: [
    "WHAT is ls (when nothing is said), start, prompt, attach, stop, restart, cancel, input, answer, events or export; ID " +
      "is a session's id or name. events and export are the same as the commands of these names.",
    "All but ls, events and export needs a server (agent-bridge serve), which runs the sessions: they go on when a terminal that " +
      "watches them is closed, and end with the server.",
    "start AGENT [-- PROMPT] starts claude, codex, opencode, hermes, gemini, mastra-agent or an agent of config.json; start --kind " +
      "command|terminal -- PROGRAM ARGUMENTS starts any program. prompt and input take their text from standard input " +
      "when none is given; to a text that is given, input adds the end of the line.",
    "answer ID CALL OPTION answers a question for permission; attach shows them with what can be answered. Attached to a " +
      "terminal, all that is typed goes to it, and Ctrl-] leaves it.",
  ],
  examples: [
    ["sessions start claude --name shop -- Fix the tests", "start an agent at work"],
    ["sessions attach shop", "watch it; Ctrl-C leaves it at work"],
    ["sessions prompt shop --wait -- Now commit", "go on, and wait for the end of the turn"],
    ["sessions start --kind terminal --name top -- top", "a program on a terminal of its own"],
  ],
  async run(context, { options, operands: [verb, ...words] }) {
    if (options.attach !== undefined) {
      if (verb !== undefined) throw new Failure("usage", "--attach stands without another word");
      refuseOtherOptions("sessions", VERBS, "attach", options);
      return attach(context, options, [options.attach]);
    }
    refuseOtherOptions("sessions", VERBS, verb ?? "ls", options);
    switch (verb) {
      case undefined:
      case "ls":
        return list(context, options, words);
      case "start":
        return start(context, options, words);
      case "prompt":
        return prompt(context, options, words);
      case "attach":
        return attach(context, options, words);
      case "stop":
        return stop(context, options, words);
      case "restart":
        return restart(context, options, words);
      case "cancel":
        return cancel(context, options, words);
      case "input":
        return input(context, options, words);
      case "answer":
        return answer(context, options, words);
      case "events":
        return printEvents(context, options, sessionWord(verb, words));
      case "export":
        return exportAsked(context, options, sessionWord(verb, words));
      default:
        throw new Failure("usage", `sessions does not know "${verb}"; it takes ${Object.keys(VERBS).join(", ")}`);
    }
  },
});
