import { closest } from "../platform/closest.ts";
import { Failure } from "../platform/failure.ts";

/**
 * What a word may be, for shells that complete it: one of these words, a path, the name of an agent, of something of which a
 * list is kept, or the id or name of a session (that can be shown, that was recorded, or that is ours to drive).
 */
export type Completes =
  | readonly string[]
  | "file"
  | "folder"
  | "agent"
  | "session"
  | "recording"
  | "own session"
  | "run"
  | "job"
  | "peer";

/** An option that is there or not. */
export interface Flag {
  readonly kind: "flag";
  readonly help: string;
  /** One letter, for `-f`. */
  readonly short?: string;
}

/** An option with a value, `--port 4777` or `--port=4777`. */
export interface Valued<T> {
  readonly kind: "value";
  readonly help: string;
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly placeholder: string;
  readonly completes?: Completes;
  /** Makes the value of its text. @throws Failure usage, with `option` (as it was written) in the message. */
  read(text: string, option: string): T;
}

/** The options of a command, by their long name. */
export type Options = { readonly [name: string]: Flag | Valued<unknown> };

/** What was given for each option: a flag as true or false, a value or undefined. */
export type OptionValues<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Valued<infer T> ? T | undefined : boolean;
};

/** A read command line. */
export interface Given<O extends Options = Options> {
  readonly options: OptionValues<O>;
  /** The words that belong to no option, in order. */
  readonly operands: readonly string[];
}

/** An option without a value. */
export function flag(help: string, short?: string): Flag {
  return { kind: "flag", help, ...(short !== undefined && { short }) };
}

/** An option whose value is any text that is not empty. */
export function text(placeholder: string, help: string, short?: string): Valued<string> {
  return {
    kind: "value",
    placeholder,
    help,
    ...(short !== undefined && { short }),
    read(given, option) {
      if (given === "") throw new Failure("usage", `${option} needs a value (${placeholder})`);
      return given;
    },
  };
}

/** An option whose value is a whole number from `least` to `most`. */
export function wholeNumber(
  placeholder: string,
  help: string,
  [least, most]: readonly [number, number],
  short?: string,
): Valued<number> {
  return {
    kind: "value",
    placeholder,
    help,
    ...(short !== undefined && { short }),
    read(given, option) {
      const number = Number(given);
      if (/^\d{1,16}$/.test(given) && number >= least && number <= most) return number;
      throw new Failure("usage", `${option} takes a whole number from ${least} to ${most}, not "${given}"`);
    },
  };
}

/** An option whose value is one of `words`. */
export function choice<W extends string>(help: string, words: readonly W[]): Valued<W> {
  return {
    kind: "value",
    placeholder: words.join("|"),
    help,
    completes: words,
    read(given, option) {
      const word = words.find((each) => each === given);
      if (word === undefined) throw new Failure("usage", `${option} takes one of ${words.join(", ")}, not "${given}"`);
      return word;
    },
  };
}

/**
 * Reads the words after a command's name. Options and operands may be mixed; behind `--` all words are operands.
 * Short options may be joined, and the value of the last may follow it at once (`-n5`, `-fn5`).
 * @throws Failure usage: an unknown option (with the one that was probably meant), one given twice, a value missing or
 * too much.
 */
export function parseArguments<O extends Options>(options: O, given: readonly string[]): Given<O> {
  const values = new Map<string, unknown>();
  const operands: string[] = [];
  const words = [...given];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "--") {
      operands.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const rest = behindFlag(options, word);
    if (rest !== undefined) words.splice(i + 1, 0, rest);
    const [written, inline] = rest === undefined ? split(options, word) : [word.slice(0, 2), undefined];
    const [name, option] = optionOf(options, written);
    if (values.has(name)) throw new Failure("usage", `--${name} stands more than once`);
    if (option.kind === "flag") {
      if (inline !== undefined) throw new Failure("usage", `${written} takes no value`);
      values.set(name, true);
      continue;
    }
    const next = inline ?? words[++i];
    if (next === undefined || (inline === undefined && next.startsWith("--"))) {
      throw new Failure("usage", `${written} needs a value (${option.placeholder})`);
    }
    values.set(name, option.read(next, written));
  }
  const entries = Object.keys(options).map((name) => [name, values.get(name) ?? absent(options[name])]);
  return { options: Object.fromEntries(entries), operands };
}

/** What is joined to the short flag that `word` begins with, as a word of its own; undefined when there is nothing. */
function behindFlag(options: Options, word: string): string | undefined {
  const flags = Object.values(options).filter(({ kind }) => kind === "flag");
  const isJoined = /^-[A-Za-z]{2}/.test(word) && flags.some(({ short }) => short === word.slice(1, 2));
  return isJoined ? `-${word.slice(2)}` : undefined;
}

/** An option as it was written, and the value that stands in the same word. */
function split(options: Options, word: string): readonly [written: string, inline: string | undefined] {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  if (equals >= 0) return [word.slice(0, equals), word.slice(equals + 1)];
  const letter = word.slice(1, 2);
  const takesValue = Object.values(options).some(({ kind, short }) => kind === "value" && short === letter);
  return takesValue && word.length > 2 ? [`-${letter}`, word.slice(2)] : [word, undefined];
}

function absent(option: Flag | Valued<unknown> | undefined): false | undefined {
  return option?.kind === "flag" ? false : undefined;
}

function optionOf<O extends Options>(options: O, written: string): [string, Flag | Valued<unknown>] {
  const found = Object.entries(options).find(
    ([name, { short }]) => written === `--${name}` || (short !== undefined && written === `-${short}`),
  );
  if (found !== undefined) return found;
  const meant = closest(
    written,
    Object.keys(options).map((name) => `--${name}`),
  );
  throw new Failure("usage", `unknown option ${written}${meant === undefined ? "" : `; did you mean ${meant}?`}`);
}
