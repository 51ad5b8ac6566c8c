import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { respondText } from "../../../src/server/respond.ts";
import { startChromium } from "./chromium.ts";
import { Seen } from "./seen.ts";

/** What the page gives its tests: each function of `content`, and where to put what it makes. */
const SCRIPT = `
import { ansiText } from "./styled.ts";
import { diffView } from "./diff-view.ts";
import { editsOf } from "./edits.ts";
import { markdown } from "./markdown.ts";
import { plain } from "./plain.ts";
import { toolDetail } from "./tool-detail.ts";
const app = { note: (text) => notes.push(text) };
const notes = [];
const show = (...made) => document.querySelector("main").append(...made);
Object.assign(window, { ansiText, diffView, editsOf, markdown, plain, toolDetail, app, notes, show });
`;

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Content</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/page.css"></head>
<body><main class="content-page"><h1>Content</h1><h2>Pieces</h2></main><script type="module" src="/page.js"></script></body></html>`;

/** A page under the product's policy with the product's style, on which tests put what `content` makes. */
export function contentPages(): (t: TestContext, options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser;
  let server: Server;
  before(async () => {
    server = await serve();
    browser = await startChromium();
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });
  return async (t, options = {}) => {
    const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const seen = await Seen.of(context, url);
    t.after(async () => {
      await context.close();
      seen.check();
    });
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForFunction("window.show !== undefined");
    return page;
  };
}

async function serve(): Promise<Server> {
  const contents = { contents: SCRIPT, resolveDir: `${APP}content/` };
  const [style, script] = await Promise.all([
    bundled({ entryPoints: [`${APP}css/style.css`] }),
    bundled({ stdin: contents }),
  ]);
  const server = createServer((request, response) => {
    if (request.url === "/page.js") {
      respondText(response, 200, "text/javascript; charset=utf-8", script);
    } else if (request.url === "/page.css") respondText(response, 200, "text/css; charset=utf-8", style);
    else if (request.url === "/") respondText(response, 200, "text/html; charset=utf-8", HTML);
    else respondText(response, 200, "image/svg+xml; charset=utf-8", "<svg xmlns='http://www.w3.org/2000/svg'/>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const APP = fileURLToPath(new URL("../../../src/dashboard/app/", import.meta.url));

async function bundled(what: Pick<BuildOptions, "entryPoints" | "stdin">): Promise<string> {
  const { outputFiles } = await build({
    ...what,
    outdir: "/",
    write: false,
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  return outputFiles.map(({ text }) => text).join("");
}
