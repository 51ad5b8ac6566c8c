import { basename } from "node:path";
import type { ListedProcess } from "../platform/ancestors.ts";
import type { AgentName } from "../transcript/names.ts";

/**
 * Which of the `ancestors` of this process (its parent first) is the agent's own for certain: the one that the agent says it
 * is (`told`), else the nearest that was started as the agent's program.
 */
export function certainProcess(
  ancestors: readonly ListedProcess[],
  agent: AgentName,
  told: number | undefined,
): ListedProcess | undefined {
  return ancestors.find(({ pid }) => pid === told) ?? ancestors.find(({ words }) => isProgramOf(agent, words));
}

/** Which of them is most likely an agent's: the nearest that is no shell and no helper that runs another program, else the furthest. */
export function likelyProcess(ancestors: readonly ListedProcess[]): ListedProcess | undefined {
  return ancestors.find(({ words }) => !isPassing(words)) ?? ancestors.at(-1);
}

/** Programs that run scripts: what they are is said by the first word that is no option. */
const INTERPRETERS = new Set(["node", "bun", "deno", "python", "python3"]);

/** Shells, and programs that start another and wait for it. */
const PASSING = new Set(
  "sh bash zsh dash fish ksh csh tcsh ash nu pwsh env timeout nice nohup setsid stdbuf sudo doas script time xargs npm npx bwrap".split(
    " ",
  ),
);

function isPassing(words: readonly string[]): boolean {
  return PASSING.has(programName(words[0] ?? ""));
}

/** Whether a process was started as the agent's program: by its name, or as a script in a package of that name. */
export function isProgramOf(agent: AgentName, words: readonly string[]): boolean {
  const [program = "", ...rest] = words;
  if (programName(program) === agent) return true;
  if (!INTERPRETERS.has(programName(program))) return false;
  const script = rest.find((word) => !word.startsWith("-")) ?? "";
  const name = `${agent}(?:[-.](?:code|cli|agent))?`;
  const isNamed = new RegExp(`^${name}(?:\\.[cm]?js|\\.py)?$`).test(basename(script));
  return (
    isNamed ||
    new RegExp(`[\\\\/](?:node_modules|site-packages)[\\\\/](?:@[^\\\\/]+[\\\\/])?${name}[\\\\/]`).test(script)
  );
}

/** The name of a program without its folder, the `-` of a login shell and `.exe`. */
function programName(word: string): string {
  return basename(word)
    .replace(/^-/, "")
    .replace(/\.exe$/, "");
}
