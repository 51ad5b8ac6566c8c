import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The request header that asks a server to prove which one it is, and the answer's header that does. */
export const CHALLENGE_HEADER = "agent-bridge-challenge";
export const PROOF_HEADER = "agent-bridge-proof";

const CHALLENGE = /^[0-9a-f]{32}$/;

/** A new challenge: 32 hex digits. */
export function newChallenge(): string {
  return randomBytes(16).toString("hex");
}

/**
 * What only the server of `bootNonce` can answer to `challenge`; it gives nothing of the nonce away. Undefined for a
 * challenge that is none of ours.
 */
export function proofOf(bootNonce: string, challenge: string | undefined): string | undefined {
  if (challenge === undefined || !CHALLENGE.test(challenge)) return undefined;
  return createHmac("sha256", bootNonce).update(`boot ${challenge}`).digest("hex");
}

/** Whether `proof` is what the server of `bootNonce` answers to `challenge`. */
export function isProof(proof: string, bootNonce: string, challenge: string): boolean {
  const wanted = Buffer.from(proofOf(bootNonce, challenge) ?? "");
  const given = Buffer.from(proof);
  return given.length > 0 && given.length === wanted.length && timingSafeEqual(given, wanted);
}
