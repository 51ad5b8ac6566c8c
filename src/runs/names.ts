import { type EpochMs, epochMsOf } from "../platform/clock.ts";

/** How a run's or a job's status is told. */
export type RunStatus = "running" | "done" | "failed" | "interrupted";

/** What a file in `runs/` or `runs/archive/` is, by its name. */
export interface RunFileName {
  /** The public name of the run: the file's name without its ending, however it was archived. */
  readonly name: string;
  readonly kind: "log" | "metadata";
  /** The first number of the suffix that an archived file got, where it has one. */
  readonly number?: number;
}

/** What the name of a run says. */
export interface NamedRun {
  /** From the UTC stamp at its start. */
  readonly startedAt?: EpochMs;
  /** Both only where the name is `<stamp>-<agent>-<8 hex>`. */
  readonly agent?: string;
  readonly id?: string;
}

/** The public name of a run, as that of everything, has so many characters at most. */
const NAME_LENGTH = 128;

/**
 * The run that a file belongs to; undefined for any other file. In the archive a suffix may stand behind the ending,
 * `X.log-<ms>-<uuid>`, as older versions wrote it to log and metadata independently. Hidden files are none of ours.
 */
export function runFileOf(fileName: string, archived: boolean): RunFileName | undefined {
  if (!/^[\w-][\w.-]*$/.test(fileName)) return undefined;
  const plain = /^(.+)\.(log|json)$/.exec(fileName);
  const suffixed = plain === null && archived ? /^(.+)\.(log|json)-((\d{1,15})?.*)$/.exec(fileName) : null;
  const [, name = "", ending, , number] = plain ?? suffixed ?? [];
  if (name === "" || name.length > NAME_LENGTH) return undefined;
  return { name, kind: kindOf(ending), ...(number !== undefined && { number: Number(number) }) };
}

/** Whether a file that belongs to no run looks as if it should: someone may miss it. Unfinished files of writers don't. */
export function isMissedRunFile(fileName: string): boolean {
  return /\.(?:log|json)(?:-.*)?$/s.test(fileName);
}

/** What the name of a run says of it. */
export function namedRun(name: string): NamedRun {
  const [stamp, year, month, day, hour, minute, second] =
    /^(\d{4})-(\d\d)-(\d\d)-(\d\d)-(\d\d)-(\d\d)(?![^-])/.exec(name) ?? [];
  if (stamp === undefined) return {};
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const startedAt = epochMsOf(Date.parse(text));
  // A day or an hour that there is not (13th month, 31st of April) is no stamp.
  if (startedAt === undefined || new Date(startedAt).toISOString() !== text) return {};
  const [, agent, id] = /^-(.+)-([0-9a-f]{8})$/.exec(name.slice(stamp.length)) ?? [];
  return { startedAt, ...(agent !== undefined && id !== undefined && { agent, id }) };
}

/** The name of the log of a run that begins at `at`. */
export function runName(at: EpochMs, agent: string, id: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace(/[T:]/g, "-")}-${agent}-${id}`;
}

/** An agent by the name that routes use: `claude-code`, as ACP has it, is `claude`. */
export function publicAgent(agent: string): string {
  return agent === "claude-code" ? "claude" : agent;
}

/** Every name that the agent of this name has in the names of logs. */
export function namesOfAgent(agent: string): readonly string[] {
  return publicAgent(agent) === "claude" ? ["claude", "claude-code"] : [agent];
}

function kindOf(ending: string | undefined): RunFileName["kind"] {
  return ending === "log" ? "log" : "metadata";
}
