import { createHash, timingSafeEqual } from "node:crypto";
import { Failure } from "../platform/failure.ts";
import { KEY_COOKIE } from "../platform/key.ts";

/**
 * Whether one of the cookies named `ab_ui` in the `Cookie` headers is `key`. Cookies of other programs on this machine
 * come along (a browser keeps no ports apart), so there may be several of that name. Takes the same time for every guess.
 */
export function carriesKey(cookieHeaders: readonly string[], key: string): boolean {
  const wanted = digest(key);
  let found = false;
  for (const value of cookieHeaders.flatMap(keyCookies)) {
    if (timingSafeEqual(digest(value), wanted)) found = true;
  }
  return found;
}

/** The answer's header that gives a browser the key for a year. */
export function keyCookieHeader(key: string): string {
  return `${KEY_COOKIE}=${key}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000`;
}

/** What `key` gives. Whatever is wrong with the key file, it lets nobody in. @throws Failure forbidden */
export function usableKey(key: () => string): string {
  try {
    return key();
  } catch (error) {
    throw error instanceof Failure ? new Failure("forbidden", error.message, error) : error;
  }
}

function keyCookies(header: string): string[] {
  return header.split(";").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === KEY_COOKIE ? [value.join("=").trim()] : [];
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
