import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Environment } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import type { Context, ExitCode } from "../command.ts";
import { isUsualHome } from "../own-files.ts";
import { shellWord } from "../program.ts";
import { changeSettings } from "./config-file.ts";
import { jsonOf, strictJsonOf, withJsonValue } from "./json-text.ts";
import { tomlOf, withTomlTable } from "./toml-entry.ts";

/** The CLIs whose settings are known. */
export const CLIS = ["claude", "codex", "opencode"] as const;
export type Cli = (typeof CLIS)[number];

/** The name under which this server stands in settings. */
const NAME = "agent-bridge";

/** What starts this server. */
interface Start {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Variables that say where agents keep their sessions, as they are set now: not every CLI hands its own on. */
  readonly env: { readonly [name: string]: string };
}

/** How a CLI is told of a server. */
interface Settings {
  readonly path: string;
  /** What is to be done by hand, for a person. */
  readonly told: string;
  /** The settings with the server in them; undefined when it is there already. @throws SyntaxError · Failure conflict */
  with(text: string | undefined, force: boolean): string | undefined;
}

/** Prints the settings that make `cli` start this server; with `write` puts them into its settings itself. */
export async function install(
  { terminal, environment, program }: Context,
  cli: Cli,
  {
    home,
    allowsAgents,
    write,
    force,
  }: {
    readonly home: string | undefined;
    readonly allowsAgents: boolean;
    readonly write: boolean;
    readonly force: boolean;
  },
): Promise<ExitCode> {
  const ours = environment(home);
  const words = [
    ...program.words,
    "mcp",
    ...(allowsAgents ? ["--allow-agents"] : []),
    ...(isUsualHome(ours) ? [] : ["--home", ours.bridgeHome]),
  ];
  const settings = SETTINGS[cli](ours, { words, env: placesOf(ours) });
  if (!write) {
    await terminal.out(settings.told);
    return 0;
  }
  const done = await changeSettings(settings.path, (text) => changed(settings, text, force));
  await terminal.out(`${done === "same" ? `${settings.path} has it already` : `${settings.path} has it now`}\n`);
  if (done === "changed") await terminal.err(`${cli} starts it from its next session on.\n`);
  return 0;
}

function changed(settings: Settings, text: string | undefined, force: boolean): string | undefined {
  try {
    return settings.with(text, force);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Failure(
      "failed",
      `${settings.path} can't be read as settings (${error.message}): see to it, or add the entry by hand`,
      error,
    );
  }
}

const PLACES = [
  ...["CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "XDG_DATA_HOME", "OPENCODE_DB", "HERMES_HOME"],
  "AGENTPROTO_HOME",
];

function placesOf(environment: Environment): Start["env"] {
  return Object.fromEntries(
    PLACES.flatMap((name) => {
      const value = environment.variable(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const SETTINGS: { readonly [C in Cli]: (environment: Environment, start: Start) => Settings } = {
  claude(environment, { words: [command = "", ...args], env }) {
    const entry = { type: "stdio", command, args, ...(Object.keys(env).length > 0 && { env }) };
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    // Behind --env the name would be taken for one more variable.
    const words = ["claude", "mcp", "add", NAME, "--scope", "user", ...variables, "--", command, ...args];
    return {
      path: join(environment.variable("CLAUDE_CONFIG_DIR") ?? environment.home, ".claude.json"),
      told: `${words.map(shellWord).join(" ")}\n\nor, for one project, in its .mcp.json:\n\n${json({ mcpServers: { [NAME]: entry } })}`,
      // Claude Code itself reads no comments there.
      with: (text, force) => withEntry(text, { ...JSON_TEXT, read: strictJsonOf }, "mcpServers", entry, force),
    };
  },
  codex(environment, { words: [command = "", ...args], env }) {
    const path = join(environment.variable("CODEX_HOME") ?? join(environment.home, ".codex"), "config.toml");
    const entry = { command, args, ...(Object.keys(env).length > 0 && { env }) };
    const pairs: (readonly [string, unknown])[] = [
      ["command", command],
      ["args", args],
      ...Object.entries(env).map(([name, value]) => [`env.${name}`, value] as const),
    ];
    const lines = [`[mcp_servers.${NAME}]`, ...pairs.map(([key, value]) => `${key} = ${tomlText(value)}`)];
    const toml = {
      empty: "",
      read: tomlOf,
      with: (text: string, path: readonly string[]) => withTomlTable(text, path, lines),
    };
    return {
      path,
      told: `In ${path}:\n\n${lines.join("\n")}\n`,
      with: (text, force) => withEntry(text, toml, "mcp_servers", entry, force),
    };
  },
  opencode(environment, { words, env }) {
    const entry = {
      type: "local",
      command: words,
      enabled: true,
      ...(Object.keys(env).length > 0 && { environment: env }),
    };
    const folder = join(environment.variable("XDG_CONFIG_HOME") ?? join(environment.home, ".config"), "opencode");
    const names = ["opencode.jsonc", "opencode.json"].map((name) => join(folder, name));
    const path = names.find((name) => existsSync(name)) ?? join(folder, "opencode.json");
    return {
      path,
      told: `In ${path}:\n\n${json({ mcp: { [NAME]: entry } })}`,
      with: (text, force) => withEntry(text, JSON_TEXT, "mcp", entry, force),
    };
  },
};

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** How settings are written. Both throw SyntaxError with what is wrong. */
interface Form {
  /** A text that says nothing. */
  readonly empty: string;
  read(text: string): unknown;
  /** The text with `value` under `path`, in the place of what is there. */
  with(text: string, path: readonly [string, string], value: unknown): string;
}

const JSON_TEXT: Form = { empty: "{}\n", read: jsonOf, with: withJsonValue };

function withEntry(
  text: string | undefined,
  form: Form,
  key: string,
  entry: JsonObject,
  force: boolean,
): string | undefined {
  const given = text === undefined || text.trim() === "" ? form.empty : text;
  const before = asObject(form.read(given));
  if (before === undefined) throw new SyntaxError("it is no object");
  const servers = Object.hasOwn(before, key) ? before[key] : {};
  const held = asObject(servers);
  if (held === undefined)
    throw new SyntaxError(`${key} is ${Array.isArray(servers) ? "a list" : "a value"}, no table of servers`);
  const found = Object.hasOwn(held, NAME) ? held[NAME] : undefined;
  if (holds(found, entry)) return undefined;
  if (found !== undefined && !force) throw other();
  const changedText = form.with(given, [key, NAME], entry);
  // What was read and is read again says whether all else is as it was.
  if (!isDeepStrictEqual(readAgain(form, changedText), { ...before, [key]: { ...held, [NAME]: entry } })) {
    const what = found === undefined ? key : `the entry ${NAME}`;
    throw new Failure("conflict", `${what} is written there in a form that can't be changed here: change it by hand`);
  }
  return changedText;
}

function readAgain({ read }: Form, text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether all that `wanted` says is in `found`; what else was set there by hand does no harm. */
function holds(found: unknown, wanted: unknown): boolean {
  const fields = asObject(wanted);
  if (fields === undefined) return isDeepStrictEqual(found, wanted);
  const its = asObject(found);
  return its !== undefined && Object.entries(fields).every(([key, value]) => holds(its[key], value));
}

/** A text or a list of texts in TOML, which knows DEL only as an escape. */
function tomlText(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

function other(): Failure {
  return new Failure("conflict", `another entry ${NAME} is there; --force replaces it`);
}
