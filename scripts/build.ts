// Builds the product: everything below src in one file, dist/agent-bridge.mjs.

import { chmodSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildDashboard } from "./dashboard.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = `${root}dist/agent-bridge.mjs`;
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

const { dashboard, bytes, packedBytes } = await buildDashboard();
mkdirSync(`${root}dist`, { recursive: true });
await build({
  entryPoints: [`${root}src/main.ts`],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  // An old Node must get as far as the version check, so nothing newer than it can parse may stand in the file.
  target: "es2020",
  // Private members are the exception: as weak maps they cost 27 KB and time on every access, and every
  // Node since 14.6 knows them.
  supported: {
    "class-field": true,
    "class-private-accessor": true,
    "class-private-brand-check": true,
    "class-private-field": true,
    "class-private-method": true,
    "class-static-field": true,
    "class-private-static-field": true,
    "class-private-static-method": true,
  },
  define: { __VERSION__: JSON.stringify(version), __DASHBOARD__: JSON.stringify(dashboard) },
  banner: { js: "#!/usr/bin/env node" },
  legalComments: "none",
  minify: true,
  logLevel: "warning",
});
chmodSync(outfile, 0o755);
const kilobytes = (size: number): string => `${(size / 1024).toFixed(0)} KB`;
const page = `the page ${kilobytes(bytes)}, ${kilobytes(packedBytes)} on the wire`;
console.log(`dist/agent-bridge.mjs ${version}, ${kilobytes(statSync(outfile).size)}; ${page}`);
