import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Dashboard } from "../src/dashboard/assets.ts";

const app = fileURLToPath(new URL("../src/dashboard/app/", import.meta.url));

/** What each output is served as. */
const TYPES: { readonly [extension: string]: string } = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
};

/** Builds the page in `src/dashboard/app`: its script, the script of the worker that its tabs share, and its style. */
export async function buildDashboard(): Promise<Dashboard> {
  const { outputFiles } = await build({
    entryPoints: { page: `${app}main.ts`, hub: `${app}live/hub-worker.ts`, page_style: `${app}css/style.css` },
    outdir: "/assets",
    write: false,
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2022",
    legalComments: "none",
    minify: true,
    logLevel: "warning",
  });
  const icon = { path: "/assets/icon.svg", type: typeOf("icon.svg"), body: readFileSync(`${app}icon.svg`, "utf8") };
  const files = outputFiles.map(({ path, text }) => ({
    path: path
      .replaceAll("\\", "/")
      .replace(/^.*(?=\/assets\/)/, "")
      .replace("page_style", "page"),
    type: typeOf(path),
    body: text,
  }));
  return { html: readFileSync(`${app}index.html`, "utf8"), files: [...files, icon] };
}

function typeOf(path: string): string {
  const type = TYPES[/\.[a-z]+$/.exec(path)?.[0] ?? ""];
  if (type === undefined) throw new Error(`it is not known what ${path} is to be served as`);
  return type;
}
