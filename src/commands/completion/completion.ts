import { Failure } from "../../platform/failure.ts";
import { letHeapGrow } from "../../platform/heap.ts";
import { clip } from "../../transcript/clip.ts";
import { printableLine } from "../../transcript/printable.ts";
import { flag } from "../arguments.ts";
import { type Command, type Context, command, type ExitCode, first } from "../command.ts";
import { PROGRAM } from "../program.ts";
import { type Candidate, type Expected, expectedWord } from "./expected.ts";
import { offered } from "./offered.ts";
import { completionScript, FILES, FOLDERS, SHELLS } from "./scripts.ts";

/** `completion`: has a shell complete the words of the `commands`. */
export function completion(commands: () => readonly Command[]): Command {
  return command({
    name: "completion",
    summary: "have bash, zsh or fish complete commands and ids",
    operands: { shown: SHELLS.join("|"), least: 1, most: Number.POSITIVE_INFINITY, completes: first(SHELLS) },
    options: { words: flag("instead, what may stand in place of the last of WORDS: what the shell asks") },
    notes: [
      'The name of the program is agent-bridge, or that of its file where the shell finds it by name. Called as node agent-bridge.mjs it needs a function of that name first: agent-bridge() { node /path/to/agent-bridge.mjs "$@"; }',
    ],
    examples: [
      ["completion bash >> ~/.bashrc", "for every bash from now on"],
      ["completion zsh > ~/.zfunc/_agent-bridge", "for zsh, in a folder of $fpath"],
      ["completion fish > ~/.config/fish/completions/agent-bridge.fish", "for fish"],
    ],
    async run(context, { options, operands }) {
      if (options.words) return tellWords(context, commands(), operands);
      const [asked, ...more] = operands;
      const shell = SHELLS.find((each) => each === asked);
      if (shell === undefined || more.length > 0) {
        throw new Failure("usage", `completion takes one of ${SHELLS.join(", ")}, not "${operands.join(" ")}"`);
      }
      const { name, call } = context.program;
      await context.terminal.out(completionScript(shell, name.includes(" ") ? PROGRAM : name, call));
      return 0;
    },
  });
}

/** Prints what may stand in place of the last of `words`, one a line, with what it is behind a tab. */
async function tellWords(context: Context, commands: readonly Command[], words: readonly string[]): Promise<ExitCode> {
  letHeapGrow();
  const expected = expectedWord(commands, words);
  const { before, typed, completes } = expected;
  if (completes === "file" || completes === "folder") {
    await context.terminal.out(`${completes === "file" ? FILES : FOLDERS}\n`);
    return 0;
  }
  const all = [
    ...expected.words.filter(({ value }) => value.startsWith(typed)),
    ...(await offeredNow(context, expected)),
  ];
  const plain = all.filter(({ value }) => PLAIN.test(value));
  const first = new Map([...plain].reverse().map((each) => [each.value, each]));
  const lines = plain.filter((each) => first.get(each.value) === each).map((each) => lineOf(each, before));
  await context.terminal.out(lines.join(""));
  return 0;
}

/** At the press of a key nobody wants to read what is wrong; the command itself tells. */
async function offeredNow(context: Context, { completes, typed, home }: Expected): Promise<readonly Candidate[]> {
  if (typeof completes !== "string" || completes === "file" || completes === "folder") return [];
  try {
    const environment = context.environment(home?.replace(/^~(?=\/|$)/, () => context.environment().home));
    const all = await offered(context, environment, completes, typed);
    return all.filter(({ value }) => !MEANS_ELSE.test(value));
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** What every shell takes as it stands: a name with a blank or a quote in it is not offered. */
const PLAIN = /^[\p{L}\p{N}_@%+=,./-]+$/u;
/** What begins so would be read as an option or, by zsh, as the path of a program. */
const MEANS_ELSE = /^[-=]/;
/** Characters of what stands beside a word. */
const ABOUT_CHARACTERS = 60;

function lineOf({ value, about }: Candidate, before: string): string {
  return `${before}${value}\t${clip(printableLine(about), ABOUT_CHARACTERS).text}\n`;
}
