import type { LoginCheck } from "../platform/login-code.ts";
import type { Asset } from "../server/asset.ts";
import { keyCookieHeader, usableKey } from "../server/cookie.ts";
import { type Answer, type Route, route } from "../server/route.ts";
import { type CommandWords, STYLE, STYLE_PATH, signInPage, unbuiltPage } from "./home-page.ts";

/** What the first page needs. */
export interface HomeOptions {
  /** The dashboard key as it is now. @throws Failure when it can't be read */
  readonly key: () => string;
  readonly bootNonce: string;
  readonly checkLogin: LoginCheck;
  /** The HTML of the dashboard; undefined (or empty) where nothing built it. */
  readonly dashboard: string | undefined;
  readonly words: CommandWords;
}

/** The files of the pages that show the way in. */
export const SIGN_IN_ASSETS: readonly Asset[] = [{ path: STYLE_PATH, type: "text/css; charset=utf-8", body: STYLE }];

/**
 * `GET /`: the dashboard, for who has the key; how to get in, for who has not. `?t=<code>` lets a browser in: the
 * key goes into its cookie, and the address that it ends at holds no secret.
 */
export function homeRoute(options: HomeOptions): Route {
  return route({
    method: "GET",
    pattern: "/",
    summary: "The page in the browser, and the way in",
    query: {
      t: {
        description: "A login code: works once, within ten minutes",
        schema: { type: "string" },
        read: ([code = ""]) => code,
      },
    },
    answer: { type: "string" },
    media: "text/html",
    others: {
      302: { description: "With a code that works: the browser is let in, and goes on to `/`." },
      403: { description: "How to get in; a refusal before that is an error in JSON.", media: "text/html" },
    },
    access: "open",
    handle: async ({ query, withKey, origin = "" }) => {
      if (query.t !== undefined) return signIn(options, query.t, { withKey: withKey === true, origin });
      if (withKey) return html(200, options.dashboard || unbuiltPage());
      return html(403, signInPage("no-key", origin, options.words));
    },
  });
}

function signIn(
  { key, bootNonce, checkLogin, words }: HomeOptions,
  code: string,
  { withKey, origin }: { readonly withKey: boolean; readonly origin: string },
): Answer {
  const secret = { key: usableKey(key), bootNonce };
  if (!checkLogin(code, secret)) return html(403, signInPage(withKey ? "used-but-in" : "used", origin, words));
  return {
    kind: "text",
    status: 302,
    type: "text/html; charset=utf-8",
    body: "",
    headers: { Location: "/", "Set-Cookie": keyCookieHeader(secret.key) },
  };
}

function html(status: 200 | 403, body: string): Answer {
  return { kind: "text", status, type: "text/html; charset=utf-8", body };
}
