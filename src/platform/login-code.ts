import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Clock, type EpochMs, epochMsOf } from "./clock.ts";

/** How long a login code works, in ms. */
export const LOGIN_CODE_MS = 10 * 60 * 1000;

const FORM = /^(\d{1,16})-([0-9a-f]{16})-([A-Za-z0-9_-]{43})$/;

/** What a code is made under: whoever knows both can make one, so `link` needs no route to the server. */
export interface LoginSecret {
  /** The dashboard key. */
  readonly key: string;
  /** Drawn anew by each start of the server, so that no code outlives it. */
  readonly bootNonce: string;
}

/** A code that lets one browser in, once, within ten minutes; fit for a URL. */
export function makeLoginCode(secret: LoginSecret, clock: Clock): string {
  const expiry = clock.now() + LOGIN_CODE_MS;
  const nonce = randomBytes(8).toString("hex");
  return `${expiry}-${nonce}-${signature(secret, expiry, nonce).toString("base64url")}`;
}

/** The link that lets a browser in. `url` is the server's, without a path. */
export function loginLink(url: string, code: string): string {
  return `${url}/?t=${code}`;
}

/** Takes login codes; whether the code given was good. A good one is used up by that. */
export type LoginCheck = (code: string, secret: LoginSecret) => boolean;

/** A check that remembers which codes were used until they would have expired. */
export function makeLoginCheck(clock: Clock): LoginCheck {
  const used = new Map<string, EpochMs>();
  return (code, secret) => {
    const now = clock.now();
    for (const [nonce, expiry] of used) if (expiry <= now) used.delete(nonce);
    const [, digits, nonce = "", given = ""] = FORM.exec(code) ?? [];
    const expiry = epochMsOf(Number(digits));
    if (expiry === undefined || expiry <= now) return false;
    if (!timingSafeEqual(Buffer.from(given, "base64url"), signature(secret, expiry, nonce))) return false;
    if (used.has(nonce)) return false;
    used.set(nonce, expiry);
    return true;
  };
}

function signature({ key, bootNonce }: LoginSecret, expiry: number, nonce: string): Buffer {
  return createHmac("sha256", key).update(`login ${bootNonce} ${expiry} ${nonce}`).digest();
}
