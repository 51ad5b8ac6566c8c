/** A line of the server's log. Never a query, a key or content. */
export interface ServerLogRecord {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly msg: string;
  /** The pattern of the route, not the path that was asked. */
  readonly route?: string;
  readonly status?: number;
  /** Milliseconds until the answer was written. */
  readonly ms?: number;
}

/** Where the server's log lines go. */
export type ServerLog = (record: ServerLogRecord) => void;

/**
 * What the log may hold of an unforeseen error: its name, its code and where it was thrown. Its message is left out, since
 * a parser's quotes what it read.
 */
export function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return `threw a ${typeof error}`;
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : "";
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return [`${error.name}${code}`, ...frames.slice(0, 4).map((frame) => frame.trim())].join(" ");
}
