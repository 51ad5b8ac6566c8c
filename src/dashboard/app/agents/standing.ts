import type { OwnSession, Question } from "../wire.ts";

/** Whether a turn of it runs, or waits for an answer. */
export function isAtWork({ status }: Pick<OwnSession, "status">): boolean {
  return status === "busy" || status === "awaiting-input";
}

/** Whether this program started it, so that it can be driven; what others recorded can only be read. */
export function isOurs({ kind, agent }: Pick<OwnSession, "kind" | "agent">): boolean {
  return kind !== "agent" || agent !== undefined;
}

/** How an agent's questions are answered, in words. */
export const PERMITS: readonly {
  readonly permit: "ask" | "deny" | "allow";
  readonly name: string;
  readonly does: string;
}[] = [
  { permit: "ask", name: "Ask", does: "Its questions wait here until someone answers them." },
  { permit: "deny", name: "Deny", does: "Its questions are answered with no; it can still read." },
  { permit: "allow", name: "Allow", does: "Its questions are answered with yes: it changes and runs what it wants." },
];

/** How it ended, where that was told: `exit code 2`, `ended by SIGTERM`. */
export function exitWords({ exitCode, signal }: Pick<OwnSession, "exitCode" | "signal">): string | undefined {
  if (signal !== undefined) return `ended by ${signal}`;
  return exitCode === undefined ? undefined : `exit code ${exitCode}`;
}

type Option = Question["options"][number];

/** The options of a question, those that allow before those that do not, else in the agent's order. */
export function orderedOptions(options: readonly Option[]): readonly Option[] {
  const isNo = ({ kind }: Option): boolean => kind.startsWith("reject");
  return [...options.filter((option) => !isNo(option)), ...options.filter(isNo)];
}

/** What choosing an option means, which its name may not say. */
export function meaningOf(kind: string): string {
  return MEANINGS[kind] ?? kind;
}

const MEANINGS: { readonly [kind: string]: string } = {
  allow_once: "allows it once",
  allow_always: "allows it always",
  reject_once: "rejects it once",
  reject_always: "rejects it always",
};

/** What a call is given, a field a line; as it stands where it is no whole object. */
export function inputWords(input: string): string {
  const fields = parsed(input);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return input;
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return lines.join("\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A key for each question, which stays its own while others come and go: an agent may use an id twice. */
export function questionKeys(questions: readonly Question[]): readonly string[] {
  const seen = new Map<string, number>();
  return questions.map(({ toolCallId }) => {
    const times = seen.get(toolCallId) ?? 0;
    seen.set(toolCallId, times + 1);
    return `${times} ${toolCallId}`;
  });
}

/** What the kinds of sessions are called. */
export const KIND_NAMES = { agent: "Agent", command: "Command", terminal: "Terminal" } as const;
