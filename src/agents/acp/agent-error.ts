import { Failure } from "../../platform/failure.ts";
import { asNumber, asObject, asText, type JsonObject } from "../../platform/read.ts";
import { clip } from "../../transcript/clip.ts";
import { printableLine } from "../../transcript/printable.ts";

/** What an agent answered instead of doing what it was asked: the cause of the Failure that the user sees. */
export class AgentError extends Error {
  readonly code: number | undefined;
  /** Whether the agent wants its user to log in first. */
  readonly asksForLogin: boolean;

  constructor(message: string, code: number | undefined) {
    super(message);
    this.name = "AgentError";
    this.code = code;
    this.asksForLogin = code === AUTH_REQUIRED && (message === "" || LOGIN.test(message));
  }
}

/** ACP's own code; other programs use the same one for any error of theirs. */
const AUTH_REQUIRED = -32000;
const LOGIN = /auth|log ?in|sign ?in|credential|api.?key/i;

/** More of an agent's words is not shown: characters. */
const MOST_WORDS = 300;

/** `text` as an agent said it, in one printable line of at most 300 characters. */
export function agentWords(text: string): string {
  // A message may be as long as a line; what is taken out of it must not make that slow.
  return clip(printableLine(text.slice(0, 10 * MOST_WORDS)), MOST_WORDS).text;
}

/** The error of a JSON-RPC answer, whatever it is. */
export function agentErrorOf(value: unknown): AgentError {
  const fields = asObject(value);
  const message = asText(fields?.message) ?? asText(value) ?? "an error without a message";
  const more = fields === undefined ? undefined : details(fields);
  const said = more === undefined || message.includes(more) ? message : `${message}: ${more}`;
  return new AgentError(agentWords(said), asNumber(fields?.code));
}

/** "Internal error" alone tells nobody anything: agents put what happened into `data`. */
function details({ data }: JsonObject): string | undefined {
  const fields = asObject(data);
  return asText(data) ?? asText(fields?.details) ?? asText(fields?.message) ?? asText(fields?.error);
}

/** The failure that `error` is for the user. `logins`: how one logs in, in the agent's words, where it says that. */
export function agentFailure(error: AgentError, logins: readonly string[]): Failure {
  if (!error.asksForLogin) return new Failure("failed", `the agent answered: ${error.message}`, error);
  const ways =
    logins.length === 0 ? "use the agent's own command for that" : `its ways: ${agentWords(logins.join("; "))}`;
  return new Failure("failed", `the agent wants you to log in first (${error.message}); ${ways}`, error);
}
