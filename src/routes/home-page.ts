import type { Route } from "../server/route.ts";
import { htmlText } from "../transcript/html-text.ts";

/** Where the pages' style is served. */
export const STYLE_PATH = "/assets/style.css";

/** The words that run a command of this program, on the home that the server serves. */
export interface CommandWords {
  /** From any folder, to be pasted as they stand: for who has the key. */
  inFull(command: string): string;
  /** For who has not: no path stands in them. */
  withoutPaths(command: string): string;
}

/** Why somebody is shown the way in: no key, a code that is used or old, or such a code in a browser that is in already. */
export type SignInReason = "no-key" | "used" | "used-but-in";

const REASONS: { readonly [K in SignInReason]: { readonly title: string; readonly text: string } } = {
  "no-key": { title: "This is agent-bridge", text: "It shows its pages to the person who runs it only." },
  used: { title: "This link no longer works", text: "A link works once, within ten minutes, until the server ends." },
  "used-but-in": {
    title: "This link no longer works",
    text: 'It need not: this browser is let in already. <a href="/">Go on</a>',
  },
};

/** The page that says how to get in. `origin` is the server's address as the browser has it. */
export function signInPage(reason: SignInReason, origin: string, { withoutPaths }: CommandWords): string {
  const { title, text } = REASONS[reason];
  return page(
    title,
    `<p>${text}</p>
<h2>In a browser</h2>
<p>Open the link that was printed where it was started, or make a fresh one:</p>
<pre>${htmlText(withoutPaths("link"))}</pre>
<h2>With curl</h2>
<pre>curl -b ab_ui=$(${htmlText(withoutPaths("token"))}) ${htmlText(origin)}/api/state</pre>`,
  );
}

/** The first page: what is served here and how to ask for it. `origin` is the server's address as the browser has it. */
export function homePage(about: {
  readonly routes: readonly Route[];
  readonly version: string;
  readonly origin: string;
  readonly words: CommandWords;
}): string {
  const origin = htmlText(about.origin);
  const token = htmlText(about.words.inFull("token"));
  return page(
    "agent-bridge",
    `<p>Your coding agents' sessions on this machine, read from where they keep them. Nothing there is changed, and
nothing leaves this machine. For now the data is served as JSON and as live streams; there is no dashboard yet.</p>
<h2>With curl</h2>
<pre>curl -b ab_ui=$(${token}) ${origin}/api/state</pre>
<pre>curl -b ab_ui=$(${token}) '${origin}/api/transcripts?limit=10'</pre>
<p>A chat is read page by page: pass <code>next</code> back as <code>from</code>, also when <code>items</code> is empty.
A path that ends in <code>/stream</code>, and <code>/api/events</code>, stay open and send what is new (use
<code>curl -N</code>).</p>
<h2>In another browser</h2>
<pre>${htmlText(about.words.inFull("link"))}</pre>
<h2>Routes</h2>
<table>
<thead><tr><th>Path</th><th>What it is</th></tr></thead>
<tbody>
${about.routes.map(routeRow).join("\n")}
</tbody>
</table>
<footer>agent-bridge ${htmlText(about.version)} · <a href="/api/openapi.json">description of the API</a></footer>`,
  );
}

function routeRow({ method, pattern, summary }: Route): string {
  // A long path is broken before a slash, and nowhere else.
  const path = `<code>${htmlText(pattern).replaceAll(/(?<=.)\//g, "<wbr>/")}</code>`;
  const linked = method === "GET" && !pattern.includes(":") ? `<a href="${htmlText(pattern)}">${path}</a>` : path;
  return `<tr><td>${method === "GET" ? "" : `${method} `}${linked}</td><td>${htmlText(summary)}</td></tr>`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(title)}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main>
<h1>${htmlText(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

/** The pages' style. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: light-dark(#1d2430, #d9dee7);
  --quiet: light-dark(#5b6675, #94a0b0);
  --ground: light-dark(#fbfaf8, #14171c);
  --raised: light-dark(#f0eeea, #1d2229);
  --line: light-dark(#e0dcd5, #2c333d);
  --accent: light-dark(#0b6e6e, #5cc8c0);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  color: var(--text);
  background: var(--ground);
  font: 16px/1.6 system-ui, sans-serif;
}
main { max-width: 54rem; margin: 0 auto; padding: 4rem 1.5rem; }
h1 { margin: 0 0 .5rem; font-size: 1.75rem; letter-spacing: -.02em; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1rem; }
p { margin: .5rem 0; }
a { color: var(--accent); text-underline-offset: .2em; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: .875rem/1.6 ui-monospace, Menlo, Consolas, monospace; }
pre {
  margin: .75rem 0;
  padding: .75rem 1rem;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  background: var(--raised);
  border: 1px solid var(--line);
  border-radius: .5rem;
}
table { width: 100%; border-collapse: collapse; }
th, td { padding: .45rem .75rem .45rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-size: .875rem; font-weight: 500; }
td code { overflow-wrap: break-word; }
footer { margin-top: 2.5rem; color: var(--quiet); font-size: .875rem; }
`;
