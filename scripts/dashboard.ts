import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Dashboard } from "../src/dashboard/assets.ts";

const app = fileURLToPath(new URL("../src/dashboard/app/", import.meta.url));

/** What each output is served as. */
const TYPES: { readonly [extension: string]: string } = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
};

/** The page as it was built, and how large it is as it stands and as it goes over the wire. */
export interface BuiltDashboard {
  readonly dashboard: Dashboard;
  readonly bytes: number;
  readonly packedBytes: number;
}

/** Builds the page in `src/dashboard/app`: its script, the script of the worker that its tabs share, and its style. */
export async function buildDashboard(): Promise<BuiltDashboard> {
  const { outputFiles } = await build({
    entryPoints: {
      page: `${app}main.ts`,
      theme: `${app}shell/theme-first.ts`,
      hub: `${app}live/hub-worker.ts`,
      page_style: `${app}css/style.css`,
    },
    outdir: "/assets",
    write: false,
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    minify: true,
    logLevel: "warning",
  });
  const built = outputFiles.map(({ path, text }) => ({
    path: path
      .replaceAll("\\", "/")
      .replace(/^.*(?=\/assets\/)/, "")
      .replace("page_style", "page"),
    text,
  }));
  const files = [...built, { path: "/assets/icon.svg", text: readFileSync(`${app}icon.svg`, "utf8") }];
  const html = readFileSync(`${app}index.html`, "utf8");
  const texts = [html, ...files.map(({ text }) => text)];
  return {
    dashboard: { html, files: files.map(({ path, text }) => ({ path, type: typeOf(path), body: packed(text) })) },
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    packedBytes: texts.reduce((sum, text) => sum + gzip(text).length, 0),
  };
}

function packed(text: string): { gzip: string } {
  return { gzip: gzip(text).toString("base64") };
}

function gzip(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

function typeOf(path: string): string {
  const type = TYPES[/\.[a-z]+$/.exec(path)?.[0] ?? ""];
  if (type === undefined) throw new Error(`it is not known what ${path} is to be served as`);
  return type;
}
