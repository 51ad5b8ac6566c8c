import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { checkPrompt } from "../agents/prompt.ts";
import type { SessionKind, StartSession } from "../agents/sessions.ts";
import { Failure } from "../platform/failure.ts";
import { asArray } from "../platform/read.ts";
import { anyText, type BodyField, type BodyOf, line, required, wellFormed, whole, word, yesOrNo } from "./body.ts";

/** Characters of a path: what the longest of today's systems allow. */
const PATH_MOST = 4_096;
/** Words of a command line. */
const WORDS_MOST = 1_000;
const NAME_MOST = 128;

/** What a session is driven through. */
export const KINDS: readonly SessionKind[] = ["agent", "command", "terminal"];

const KIND = word("What is started; `agent` when absent.", KINDS);

const AGENT = line("`claude`, `codex`, `opencode`, `hermes`, `gemini`, … or a name in `config.json`.", 128);

const FOLDER: BodyField<string> = {
  schema: { type: "string", maxLength: PATH_MOST, description: "The absolute path of a folder that is there." },
  read(value, key) {
    const path = wellFormed(value, key);
    if (!isAbsolute(path) || path.length > PATH_MOST || path.includes("\0")) {
      throw new Failure("bad-request", `${key} must be the absolute path of a folder`);
    }
    return path;
  },
};

const NAME: BodyField<string> = {
  schema: {
    type: "string",
    minLength: 1,
    maxLength: NAME_MOST,
    pattern: "^[^/\\p{Cc}]+$",
    description: "What it is called besides its id; free among the live sessions.",
  },
  read(value, key) {
    const name = wellFormed(value, key);
    if (name.trim() === "" || name.length > NAME_MOST || /[/\p{Cc}]/u.test(name)) {
      throw new Failure("bad-request", `${key} must be 1 to ${NAME_MOST} characters without / and control characters`);
    }
    // Clients take these out of a path before they send it.
    if (name === "." || name === "..") throw new Failure("bad-request", `${key} can't be . or ..`);
    return name;
  },
};

const PROMPT: BodyField<string> = {
  schema: { type: "string", minLength: 1, description: "At most 512 KiB of UTF-8." },
  read(value, key) {
    const text = wellFormed(value, key);
    checkPrompt(text);
    return text;
  },
};

const ARGV: BodyField<readonly string[]> = {
  schema: {
    type: "array",
    items: { type: "string" },
    minItems: 1,
    maxItems: WORDS_MOST,
    description: "The program of a command or terminal session, and its arguments.",
  },
  read(value, key) {
    const words = asArray(value);
    if (words === undefined || words.length === 0 || words.length > WORDS_MOST) {
      throw new Failure("bad-request", `${key} must be a list of 1 to ${WORDS_MOST} texts`);
    }
    const texts = words.map((each) => wellFormed(each, `each of ${key}`));
    if (texts.some((text) => text.includes("\0")))
      throw new Failure("bad-request", `${key} can't hold a NUL character`);
    if (texts[0] === "") throw new Failure("bad-request", `${key} must begin with a program`);
    return texts;
  },
};

const COLUMNS = whole("Columns of a terminal.", 1, 1_000);
const ROWS = whole("Rows of a terminal.", 1, 1_000);

/** The body that starts a session. */
export const START_FIELDS = {
  kind: KIND,
  agent: AGENT,
  cwd: required(FOLDER),
  prompt: { ...PROMPT, schema: { ...PROMPT.schema, description: "Sent to the agent once it is up; at most 512 KiB." } },
  name: NAME,
  model: line("The model that the agent is to use, by its own name for it.", 256),
  argv: ARGV,
  permit: word("How the agent's questions for permission are answered; `deny` when absent.", ["ask", "deny", "allow"]),
  columns: COLUMNS,
  rows: ROWS,
};

/** The body of a prompt. */
export const PROMPT_FIELDS = {
  prompt: required(PROMPT),
  interrupt: yesOrNo("A turn that runs is cancelled first."),
  wait: yesOrNo("The answer comes when the turn has ended, or waits for an answer."),
};

/** The body of what is typed into a session. */
export const INPUT_FIELDS = {
  text: anyText("What is typed."),
  end: yesOrNo("Its standard input is over; of a terminal: the end-of-file character."),
  columns: COLUMNS,
  rows: ROWS,
};

/** The body of an answer to a question for permission. */
export const ANSWER_FIELDS = {
  // Agents choose these; what they may hold is held to nothing but the size of a body.
  toolCallId: required(anyText("Which question: of a session's `permissions`.")),
  optionId: required(anyText("Which of its options.")),
};

/** What only one kind of session has. */
const OWN_KEYS: { readonly [K in SessionKind]: readonly (keyof typeof START_FIELDS)[] } = {
  agent: ["agent", "prompt", "model", "permit"],
  command: ["argv"],
  terminal: ["argv", "columns", "rows"],
};

/**
 * What a body asks to be started, and the first prompt.
 * @throws Failure bad-request: something is missing, belongs to another kind of session, or there is no such folder
 */
export async function startOf(
  body: BodyOf<typeof START_FIELDS>,
): Promise<{ readonly what: StartSession; readonly prompt: string | undefined }> {
  const { kind = "agent", prompt, ...rest } = body;
  for (const key of new Set(Object.values(OWN_KEYS).flat())) {
    if (body[key] !== undefined && !OWN_KEYS[kind].includes(key)) {
      throw new Failure("bad-request", `${key} is not for sessions of the kind ${kind}`);
    }
  }
  if (kind === "agent" && body.agent === undefined) {
    throw new Failure(
      "bad-request",
      'the key "agent" is missing: give the agent to start, or another kind with its argv',
    );
  }
  if (kind !== "agent" && body.argv === undefined) {
    throw new Failure("bad-request", `the key "argv" is missing: give the program to start in the ${kind} session`);
  }
  checkSize(body);
  const found = await stat(rest.cwd).catch(() => undefined);
  if (!found?.isDirectory()) throw new Failure("bad-request", "cwd is no folder that is there: give one that is");
  return { what: { kind, ...rest }, prompt };
}

/** @throws Failure bad-request: a size is given by half */
export function checkSize({ columns, rows }: { readonly columns?: number; readonly rows?: number }): void {
  if ((columns === undefined) !== (rows === undefined)) {
    throw new Failure("bad-request", "columns and rows stand together");
  }
}
