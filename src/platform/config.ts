import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "./environment.ts";
import { Failure } from "./failure.ts";
import { readPrivate } from "./private-file.ts";
import { notAFolder } from "./private-folder.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "./read.ts";

/** A command that starts an agent. */
export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** What `config.json` sets. */
export interface Config {
  /** The port to serve on: 0 to 65535, 0 for any free one. */
  readonly port?: number;
  readonly agents: ReadonlyMap<string, AgentCommand>;
  /** Folders to read beside each agent's own: absolute paths. */
  readonly stores: ReadonlyMap<string, readonly string[]>;
  /** Keep what the CLIs delete. */
  readonly keep: boolean;
  /** Bytes that may be kept. */
  readonly keepBytes?: number;
}

/** A config, and what in its file means nothing: one line each, naming the key. */
export interface ReadConfig {
  readonly config: Config;
  readonly warnings: readonly string[];
}

const VERSION = 1;

/**
 * Reads `config.json` in our home; a missing one sets nothing. `stores` may hold the names in `agents` alone.
 * @throws Failure failed: it can't be read, is no JSON, holds a wrong type (named by its key), or was written by a
 * newer version.
 */
export function readConfig(environment: Environment, agents: readonly string[]): ReadConfig {
  const path = join(environment.bridgeHome, NAME);
  // Our own file may be named in full: who set its folder in a variable long ago wants to know which one is meant.
  const inFull = (message: string): string => (message.startsWith(NAME) ? path + message.slice(NAME.length) : message);
  try {
    const text = textOf(path);
    if (text === undefined) return { config: EMPTY, warnings: [] };
    const { config, warnings } = parseConfig(text, environment.home, agents);
    return { config, warnings: warnings.map(inFull) };
  } catch (error) {
    throw error instanceof Failure ? new Failure(error.kind, inFull(error.message), error.cause) : error;
  }
}

const NAME = "config.json";
/** More than anyone writes by hand. */
const LIMIT_BYTES = 1024 * 1024;

const EMPTY: Config = { agents: new Map(), stores: new Map(), keep: false };

/** Reads the text of `config.json`: see `readConfig`. A path that begins with `~/` lies in `home`. */
export function parseConfig(text: string, home: string, agents: readonly string[]): ReadConfig {
  const file = asObject(jsonOf(text)) ?? wrong("", "an object");
  const version = file.version === undefined ? VERSION : wholeNumber(file.version, "version", 1);
  if (version > VERSION) {
    throw new Failure(
      "failed",
      `config.json is of version ${version}, which a newer agent-bridge wrote: update this one`,
    );
  }
  const port = optional(file.port, (value) => wholeNumber(value, "port", 0, 65_535));
  const keepBytes = optional(file.keepBytes, (value) => wholeNumber(value, "keepBytes", 0));
  const commands = entriesOf(file.agents, "agents");
  const roots = entriesOf(file.stores, "stores");
  const config: Config = {
    ...(port !== undefined && { port }),
    agents: new Map(commands.map(([name, value]) => [name, agentCommand(value, `agents.${name}`)])),
    stores: new Map(
      roots
        .filter(([name]) => agents.includes(name))
        .map(([name, value]) => [name, folders(value, `stores.${name}`, home)]),
    ),
    keep:
      optional(file.keep, (value) => (typeof value === "boolean" ? value : wrong("keep", "true or false"))) ?? false,
    ...(keepBytes !== undefined && { keepBytes }),
  };
  const strangers = [
    ...unknownKeys(file, ["version", "port", "agents", "stores", "keep", "keepBytes"], ""),
    ...unknownKeys(asObject(file.stores) ?? {}, agents, "stores."),
    ...commands.flatMap(([name, value]) =>
      unknownKeys(asObject(value) ?? {}, ["command", "args", "env"], `agents.${name}.`),
    ),
  ];
  return { config, warnings: strangers.map((key) => `config.json: "${key}" is not known and is ignored`) };
}

function agentCommand(value: unknown, key: string): AgentCommand {
  const fields = asObject(value) ?? wrong(key, "an object");
  const env = entriesOf(fields.env, `${key}.env`);
  return {
    command: asText(fields.command) ?? wrong(`${key}.command`, "a text"),
    args: optional(fields.args, (args) => texts(args, `${key}.args`)) ?? [],
    env: Object.fromEntries(env.map(([name, text]) => [name, asString(text) ?? wrong(`${key}.env.${name}`, "a text")])),
  };
}

function folders(value: unknown, key: string, home: string): readonly string[] {
  return texts(value, key).map((path) => {
    const folder = path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
    return isAbsolute(folder) ? folder : wrong(key, "a list of absolute paths");
  });
}

function texts(value: unknown, key: string): readonly string[] {
  const list = asArray(value) ?? wrong(key, "a list of texts");
  return list.map((text) => asString(text) ?? wrong(key, "a list of texts"));
}

function wholeNumber(value: unknown, key: string, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
  const number = asNumber(value);
  if (number !== undefined && Number.isInteger(number) && number >= least && number <= most) return number;
  const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return wrong(key, `a whole number ${bounds}`);
}

function entriesOf(value: unknown, key: string): [string, unknown][] {
  return value === undefined ? [] : Object.entries(asObject(value) ?? wrong(key, "an object"));
}

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function unknownKeys(fields: JsonObject, known: readonly string[], prefix: string): string[] {
  return Object.keys(fields)
    .filter((key) => !known.includes(key))
    .map((key) => prefix + key);
}

function wrong(key: string, wanted: string): never {
  throw new Failure(
    "failed",
    key === "" ? `config.json must hold ${wanted}` : `config.json: "${key}" must be ${wanted}`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    // Not told in the words of Node, which quote the text: it may hold a secret for an agent.
    throw new Failure("failed", "config.json is not valid JSON", error);
  }
}

function textOf(path: string): string | undefined {
  try {
    return readPrivate(path, LIMIT_BYTES)?.bytes.toString("utf8");
  } catch (error) {
    if (error instanceof Failure) throw error;
    const noFolder = notAFolder(dirname(path), error);
    if (noFolder !== undefined) throw noFolder;
    throw new Failure("failed", "config.json can't be read: check its permissions", error);
  }
}
