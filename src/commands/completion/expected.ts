import type { Completes, Flag, Options, Valued } from "../arguments.ts";
import type { Command } from "../command.ts";

/** A word that may stand on a command line, and what it is. */
export interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** What may stand where a word is being typed. */
export interface Expected {
  /** What is typed of it. */
  readonly typed: string;
  /** What stands before that in the same word, as the shell sees it: `--format=`. */
  readonly before: string;
  /** Words of which one may stand there. */
  readonly words: readonly Candidate[];
  /** What else may. */
  readonly completes?: Completes;
  /** The folder of our own files, where the words before give one. */
  readonly home?: string;
}

/**
 * What may stand in the place of the last of `given`, the words behind the program's name: as the options and operands of the
 * commands say. A shell may have made words of their own of a `=` and what follows it.
 */
export function expectedWord(commands: readonly Command[], given: readonly string[]): Expected {
  const { words, isSplit } = joined(given);
  const [name, ...rest] = words;
  const typed = words.at(-1) ?? "";
  const names = [...commands.map(({ name, summary }) => ({ value: name, about: summary })), HELP];
  if (name === undefined || words.length === 1) return { typed, before: "", words: names };
  if (name === HELP.value) return { typed, before: "", words: words.length === 2 ? names : [] };
  const command = commands.find((each) => each.name === name);
  return command === undefined ? { typed, before: "", words: [] } : wordOf(command, rest, isSplit);
}

const HELP: Candidate = { value: "help", about: "the list of commands, or the help of one" };

function wordOf({ options, operands, verbs }: Command, words: readonly string[], isSplit: boolean): Expected {
  const typed = words.at(-1) ?? "";
  const before = read(options, words.slice(0, -1));
  const home = before.given.get("home");
  const facts = home === undefined ? {} : { home };
  const as = (typed: string, before: string, completes: Completes | undefined): Expected => ({
    ...facts,
    typed,
    before,
    words: typeof completes === "object" ? completes.map((value) => ({ value, about: "" })) : [],
    ...(typeof completes === "string" && { completes }),
  });
  if (before.isOver) return as(typed, "", undefined);
  if (before.open !== undefined) return as(typed, "", before.open.completes);
  const [, option = "", value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (value !== undefined) return as(value, isSplit ? "" : `${option}=`, valued(options[option.slice(2)])?.completes);
  if (!typed.startsWith("-")) return as(typed, "", operands.completes?.(before.operands));
  const taken = verbs?.[before.operands[0] ?? ""];
  const mayStand = (name: string): boolean =>
    !before.given.has(name) && (taken === undefined || name === "home" || taken.includes(name));
  const rest = Object.entries(options).filter(([name]) => mayStand(name));
  const shown = rest.map(([name, { help }]) => ({ value: `--${name}`, about: help.replace(/^[a-z, ]+: /, "") }));
  return { ...as(typed, "", undefined), words: [...shown, { value: "--help", about: "print the help" }] };
}

/** The words before the one that is typed. */
interface ReadWords {
  readonly given: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
  /** The option whose value is to follow. */
  readonly open?: Valued<unknown>;
  /** `--` stands among them: what follows is another program's, or a text. */
  readonly isOver: boolean;
}

/** As `parseArguments` reads them, of a line that is not finished yet: nothing in it is wrong. */
function read(options: Options, words: readonly string[]): ReadWords {
  const given = new Map<string, string>();
  const operands: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "--") return { given, operands, isOver: true };
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const [written = "", inline] = word.startsWith("--") ? word.split(/=(.*)/s) : shortOf(options, word);
    const [name, option] = Object.entries(options).find(([name]) => `--${name}` === written) ?? [written];
    const isOpen = valued(option) !== undefined && inline === undefined;
    if (isOpen && i === words.length - 1)
      return { given, operands, open: valued(option) as Valued<unknown>, isOver: false };
    given.set(name, inline ?? (isOpen ? (words[++i] ?? "") : ""));
  }
  return { given, operands, isOver: false };
}

/** The last of joined short options by its long name, and what follows it at once (`-fn5`). */
function shortOf(options: Options, word: string): readonly [written: string, inline?: string] {
  const of = (letter: string) => Object.entries(options).find(([, { short }]) => short === letter);
  for (let at = 1; at < word.length; at++) {
    const [name = "", option] = of(word.charAt(at)) ?? [];
    const rest = word.slice(at + 1);
    if (valued(option) !== undefined) return rest === "" ? [`--${name}`] : [`--${name}`, rest];
    if (rest === "") return [`--${name}`];
  }
  return [word];
}

function valued(option: Flag | Valued<unknown> | undefined): Valued<unknown> | undefined {
  return option?.kind === "value" ? option : undefined;
}

/** `--format`, `=` and `ma` as the one word that they are; whether the last was split so. */
function joined(given: readonly string[]): { readonly words: readonly string[]; readonly isSplit: boolean } {
  const words: string[] = [];
  let isSplit = false;
  for (let i = 0; i < given.length; i++) {
    const last = words.at(-1) ?? "";
    if (given[i] !== "=" || !/^--[^=]+$/.test(last)) {
      words.push(given[i] ?? "");
      continue;
    }
    words[words.length - 1] = `${last}=${given[++i] ?? ""}`;
    isSplit = i >= given.length - 1;
  }
  return { words, isSplit };
}
