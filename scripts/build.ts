// Builds the product: everything below src in one file, dist/agent-bridge.mjs.

import { chmodSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = `${root}dist/agent-bridge.mjs`;
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

mkdirSync(`${root}dist`, { recursive: true });
await build({
  entryPoints: [`${root}src/main.ts`],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  // An old Node must get as far as the version check, so nothing newer than it can parse may stand in the file.
  target: "es2020",
  define: { __VERSION__: JSON.stringify(version) },
  banner: { js: "#!/usr/bin/env node" },
  charset: "utf8",
  legalComments: "none",
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "warning",
});
chmodSync(outfile, 0o755);
console.log(`dist/agent-bridge.mjs ${version}, ${(statSync(outfile).size / 1024).toFixed(0)} KB`);
