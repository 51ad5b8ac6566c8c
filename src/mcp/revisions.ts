import { asObject, asString, type JsonObject } from "../platform/read.ts";
import { CODES, RpcError } from "./rpc.ts";

/** The revision without a handshake: each request says in `_meta` what it speaks. */
export const STATELESS = "2026-07-28";

/** The revisions that begin with `initialize`, newest first. */
export const HANDSHAKES = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"] as const;
export type Handshake = (typeof HANDSHAKES)[number];

/** The only revision in which several messages may come as one. */
export const WITH_BATCHES: Handshake = "2025-03-26";

const KEY = "io.modelcontextprotocol/";

/** The `_meta` key under which a stateless answer says who gives it. */
export const SERVER_INFO = `${KEY}serverInfo`;

/** The revision to speak with a client that asked for `asked` in its handshake. */
export function handshakeFor(asked: unknown): Handshake {
  return HANDSHAKES.find((revision) => revision === asked) ?? HANDSHAKES[0];
}

/**
 * Whether a request is of the stateless revision.
 * @throws RpcError it names another revision, or says nothing of what its client can do
 */
export function isStateless({ _meta }: JsonObject): boolean {
  const meta = asObject(_meta);
  const asked = meta?.[`${KEY}protocolVersion`];
  if (asked === undefined) return false;
  const requested = asString(asked);
  if (requested === undefined) throw new RpcError(CODES.invalidParams, `_meta: ${KEY}protocolVersion must be a text`);
  if (requested !== STATELESS) {
    throw new RpcError(CODES.revision, "Unsupported protocol version", { supported: [STATELESS], requested });
  }
  if (asObject(meta?.[`${KEY}clientCapabilities`]) === undefined) {
    throw new RpcError(CODES.invalidParams, `_meta: ${KEY}clientCapabilities must be an object`);
  }
  return true;
}
