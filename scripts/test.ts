// Runs the tests on the Node that runs this script: all of them, or those whose path holds one of the arguments.

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Suites that need more than the checkout; `.ci/run` calls them by name. */
const SLOW = ["real", "fuzz", "browser", "built"];

const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv.slice(2);
const files = globSync("test/**/*.test.ts", { cwd: root })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) =>
    wanted.length === 0
      ? !SLOW.some((suite) => file.startsWith(`test/${suite}/`))
      : wanted.some((part) => file.includes(part)),
  )
  .sort();
if (files.length === 0) {
  console.error(`no test file has ${wanted.join(" or ")} in its path`);
  process.exit(2);
}
const { status } = spawnSync(process.execPath, ["--test", ...files], { cwd: root, stdio: "inherit" });
process.exit(status ?? 1);
