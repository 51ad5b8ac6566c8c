// Runs test/real: real CLIs against a scripted model, in a network namespace where there is nothing but loopback. The CLIs
// come from the npm registry into a cache outside the tree, once for each set of versions.
//
//   node scripts/real.ts [PART-OF-A-TEST-FILE'S-PATH...]

import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The packages, each at the version that the tests were written against. */
const CLIS = {
  "@agentclientprotocol/claude-agent-acp": "0.101.0",
  "@agentclientprotocol/codex-acp": "2.6.0",
  "@anthropic-ai/claude-code": "2.1.332",
  "@openai/codex": "0.171.0",
  "opencode-ai": "1.18.33",
};

const root = fileURLToPath(new URL("..", import.meta.url));

/** What runs a command with a network of its own, by who asks: root may, others within a user namespace of theirs. */
const APART = process.getuid?.() === 0 ? ["--net"] : ["--user", "--map-root-user", "--net"];
const LOOPBACK_UP = 'ip link set lo up && exec "$@"';

process.exitCode = main(process.argv.slice(2));

function main(wanted: readonly string[]): number {
  if (spawnSync("unshare", [...APART, "sh", "-c", LOOPBACK_UP, "sh", "true"]).status !== 0) {
    console.log("NOT RUN: test/real needs a network namespace with loopback alone, and none can be made here");
    console.log("         (Linux, `unshare` of util-linux and `ip` of iproute2; as root or with user namespaces)");
    return process.env.CI ? 1 : 0;
  }
  const files = globSync("test/real/*.test.ts", { cwd: root })
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
    .sort();
  if (files.length === 0) {
    console.error(`no file of test/real has ${wanted.join(" or ")} in its path`);
    return 2;
  }
  const folder = installed();
  if (folder === undefined) return 1;
  const runner = [process.execPath, "--test", "--test-concurrency=1", ...files];
  const { status } = spawnSync("unshare", [...APART, "sh", "-c", LOOPBACK_UP, "sh", ...runner], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, AGENT_BRIDGE_REAL_CLIS: folder },
  });
  return status ?? 1;
}

/** The folder that the CLIs are in; installs them when they are not there yet. */
function installed(): string | undefined {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "agent-bridge-real");
  // Only what tells one set from another: the names of packages would make it too long for a folder.
  const folder = join(cache, Object.values(CLIS).join("_"));
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const made = mkdtempSync(join(cache, "partial-"));
    const scripts = Object.fromEntries(Object.keys(CLIS).map((name) => [name, true]));
    const manifest = { private: true, dependencies: CLIS, allowScripts: scripts };
    writeFileSync(join(made, "package.json"), JSON.stringify(manifest));
    const words = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    const { status } = spawnSync("npm", words, { cwd: made, stdio: "inherit" });
    if (status === 0 && !existsSync(folder)) renameSync(made, folder);
    else rmSync(made, { recursive: true, force: true });
    if (status !== 0) {
      console.error(`npm could not install ${Object.keys(CLIS).join(", ")}`);
      return undefined;
    }
  }
  for (const [name, version] of Object.entries(CLIS)) console.log(`with ${name} ${version}`);
  return folder;
}
