// Runs the project's tasks on whatever Node the machine has (18 or newer): installs what is missing, then hands every
// task to the Node that the lock file pins. Plain JavaScript, since that older Node can't strip types.
//
//   node scripts/bootstrap.mjs TASK... [-- ARG...]      the arguments go to the last task

import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const windows = process.platform === "win32";
const pinnedNode = join(modules, "node", "bin", windows ? "node.exe" : "node");

/** Each task as the commands it runs, on the pinned Node; made once everything is installed. */
const TASKS = {
  build: () => [["scripts/build.ts"]],
  serve: () => [["dist/agent-bridge.mjs", "serve"]],
  types: () => [".", "src/dashboard/app"].map((project) => [packageBin("typescript", "tsc"), "-p", project]),
  lint: () => [[packageBin("@biomejs/biome", "biome"), "check", "--error-on-warnings", "."]],
  format: () => [[packageBin("@biomejs/biome", "biome"), "check", "--write", "."]],
  unused: () => [[packageBin("knip", "knip")]],
  test: () => [["scripts/test.ts"]],
  real: () => [["scripts/real.ts"]],
  bench: () => [["scripts/bench.ts"]],
  screenshots: () => [["scripts/screenshots.ts"]],
};

const words = process.argv.slice(2);
const divider = words.includes("--") ? words.indexOf("--") : words.length;
const tasks = words.slice(0, divider);
const rest = words.slice(divider + 1);
const unknown = tasks.find((task) => !Object.hasOwn(TASKS, task));
if (tasks.length === 0 || unknown !== undefined) {
  if (unknown !== undefined) console.error(`there is no task "${unknown}"`);
  console.error(`usage: node scripts/bootstrap.mjs ${Object.keys(TASKS).join("|")} ... [-- ARG...]`);
  process.exit(2);
}

let code = installed() ? 0 : await install();
for (const [index, task] of tasks.entries()) {
  for (const command of TASKS[task]()) {
    if (code === 0) code = await run(pinnedNode, [...command, ...(index === tasks.length - 1 ? rest : [])]);
  }
}
process.exitCode = code;

/** Installs what the lock file names; the exit code. */
async function install() {
  const failed = await run(npm(), ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { shell: windows });
  if (failed !== 0 || existsSync(pinnedNode)) return failed;
  console.error("npm installed no Node.js: it needs install scripts (npm config get ignore-scripts must say false)");
  return 1;
}

/** Whether what the lock file names is installed: npm writes its own copy of the lock when it is done. */
function installed() {
  const mark = join(modules, ".package-lock.json");
  if (!existsSync(mark) || !existsSync(pinnedNode)) return false;
  return statSync(mark).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs || sameVersions(mark);
}

/** A checkout can touch the lock file without changing it, so the versions decide. */
function sameVersions(mark) {
  const packagesOf = (file) => Object.entries(JSON.parse(readFileSync(file, "utf8")).packages ?? {});
  const present = new Map(packagesOf(mark).map(([name, entry]) => [name, entry.version]));
  return packagesOf(join(root, "package-lock.json")).every(
    ([name, entry]) => name === "" || entry.optional === true || present.get(name) === entry.version,
  );
}

function npm() {
  return windows ? "npm.cmd" : "npm";
}

/** The script behind a package's command, so that the pinned Node runs it and not the machine's. */
function packageBin(name, command) {
  const { bin } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
  return join(modules, name, typeof bin === "string" ? bin : bin[command]);
}

/**
 * Runs a command to its end, and gives its exit code. Signals go on to it and never end this script first: with Ctrl-C
 * the command gets its signal from the terminal already, and once more from here, which it must stand anyway.
 */
function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    const pass = (signal) => child.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, pass);
    const end = (exitCode) => {
      for (const signal of signals) process.off(signal, pass);
      resolve(exitCode);
    };
    child.on("error", (error) => {
      console.error(`${command}: ${error.message}`);
      end(1);
    });
    child.on("exit", (exitCode, signal) => end(exitCode ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
