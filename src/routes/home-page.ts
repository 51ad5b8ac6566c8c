import { htmlText } from "../transcript/html-text.ts";

/** Where the pages' style is served. */
export const STYLE_PATH = "/assets/style.css";

/** The words that run a command of this program, on the home that the server serves. */
export interface CommandWords {
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

/** What stands at `/` where the program runs from its source: the dashboard is made when it is built. */
export function unbuiltPage(): string {
  return page(
    "agent-bridge",
    `<p>This server runs from its source, and its page is made when it is built: <code>npm start</code> builds and serves
it. The API is here all the same: <a href="/api/openapi.json">its description</a>.</p>`,
  );
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
`;
