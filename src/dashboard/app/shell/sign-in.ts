import { Refused, Unreachable } from "../api.ts";

/**
 * Has this browser let in by a fresh link, from whatever address it is for (a tunnel's is another one than the server
 * knows): its code alone counts. The page stays as it is. @throws Refused when it is no link, or works no more; Unreachable
 */
export async function signInWith(link: string): Promise<void> {
  const code = codeIn(link);
  if (code === undefined) throw new Refused(400, "this is no such link: it ends in ?t= and a code");
  let response: Response;
  try {
    response = await fetch(`/?t=${encodeURIComponent(code)}`, { redirect: "manual", cache: "no-store" });
  } catch {
    throw new Unreachable();
  }
  // What lets somebody in is a redirection, which a page is told nothing more of.
  if (response.type !== "opaqueredirect")
    throw new Refused(response.status, `this link works no more${elsewhere(link)}: make another one`);
}

/** Whose the link may be, where it is for another address than the page. */
function elsewhere(link: string): string {
  const host = URL.parse(link)?.host ?? location.host;
  return host === location.host
    ? ""
    : `, or is another server’s (it is for ${host}, this page is from ${location.host})`;
}

/** The code in a link of `agent-bridge link`. */
export function codeIn(link: string): string | undefined {
  return /[?&]t=([\w.~-]+)/.exec(link)?.[1];
}
