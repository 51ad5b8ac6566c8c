import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../platform/config.ts";
import type { Environment } from "../platform/environment.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { keyReader } from "../platform/key.ts";
import { NotAFile, readPrivate } from "../platform/private-file.ts";
import { homePrivacy } from "../platform/private-folder.ts";
import { AGENT_NAMES } from "../transcript/names.ts";
import type { OwnFiles } from "./bridge.ts";

/** More than a key ever takes. */
const KEY_BYTES = 256;

/** What there is of our own files. Never fails, and changes nothing. */
export function ownFiles(environment: Environment): OwnFiles {
  const { bridgeHome } = environment;
  return { home: homeState(environment), key: keyState(bridgeHome), config: configState(environment) };
}

/** Whether our own folder is where it lies when nothing else is said. */
export function isUsualHome({ home, bridgeHome }: Environment): boolean {
  return bridgeHome === join(home, ".agent-bridge");
}

/** That others may look into our own folder at `path`, which was named by the user. */
export function openHome(path: string): string {
  return `others can look into ${path}: chmod 700 closes it; better give agent-bridge a folder of its own if it has other uses`;
}

function homeState(environment: Environment): OwnFiles["home"] {
  const path = environment.bridgeHome;
  try {
    if (!statSync(path).isDirectory()) return { path, found: true, problem: NO_FOLDER(path) };
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    if (homePrivacy(path) === "private") return { path, found: true };
    return { path, found: true, warning: isUsualHome(environment) ? CLOSED_BY_THE_NEXT(path) : openHome(path) };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { path, found: false };
    if (errorCode(error) === "ENOTDIR") return { path, found: false, problem: NO_FOLDER(path) };
    return { path, found: true, problem: `${path} can't be used (${errorCode(error)}): see to its permissions` };
  }
}

function keyState(folder: string): OwnFiles["key"] {
  try {
    const file = readPrivate(join(folder, "dashboard-key"), KEY_BYTES);
    if (file === undefined) return { found: false };
    keyReader(folder)();
    return { found: true, ...(file.tooOpen && { problem: OTHERS_CAN_READ }) };
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return { found: false };
    if (error instanceof Failure) return { found: !(error instanceof NotAFile), problem: error.message };
    return { found: true, problem: `the dashboard key can't be read (${errorCode(error)}): see to its permissions` };
  }
}

function configState(environment: Environment): OwnFiles["config"] {
  const found = existsSync(join(environment.bridgeHome, "config.json"));
  try {
    const { config, warnings } = readConfig(environment, AGENT_NAMES);
    return { found, ...(config.port !== undefined && { port: config.port }), warnings };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { found, warnings: [], problem: error.message };
  }
}

const CLOSED_BY_THE_NEXT = (path: string): string => `others can look into ${path}: serve and token close it to them`;

const NO_FOLDER = (path: string): string =>
  `${path} is a file, or lies below one: give a folder with --home or AGENT_BRIDGE_HOME`;

const OTHERS_CAN_READ =
  "others could read the dashboard key: agent-bridge token closes its file to them, token --reset makes a new key";
