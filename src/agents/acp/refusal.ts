/** A refusal of what the agent asked of us: what its JSON-RPC answer says. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "Refusal";
    this.code = code;
  }
}

/** JSON-RPC's and ACP's codes, as far as we answer with them. */
export const CODES = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notFound: -32002,
  cancelled: -32800,
} as const;

/** That a path leads out of the session's folder. */
export function outside(): Refusal {
  return new Refusal(CODES.invalidParams, "Only files in the session's folder can be read and written");
}
