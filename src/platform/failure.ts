/** What went wrong, in the field's words. `server/respond` turns a kind into a status code, `commands` into an exit code. */
export type FailureKind =
  | "bad-request"
  | "forbidden"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  | "body-too-large"
  | "url-too-long"
  | "unsupported-media-type"
  | "usage"
  /** A store's file is there and can't be read: locked, damaged, forbidden to us, or of a form that is not known. */
  | "unreadable"
  | "failed";

/**
 * The one way to fail. The message is shown to the user as it stands: one line that says what to do, without paths of
 * a store, stacks or store content. What helps debugging goes into `cause`.
 */
export class Failure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Failure";
    this.kind = kind;
  }
}

/** The errno code of a failed system call (`ENOENT`, …), or undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** What an error says: its message, or the text of what was thrown in its place. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
