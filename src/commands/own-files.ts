import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../platform/config.ts";
import type { Environment } from "../platform/environment.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { keyReader } from "../platform/key.ts";
import { readPrivate } from "../platform/private-file.ts";
import { AGENT_NAMES } from "../transcript/names.ts";
import type { OwnFiles } from "./bridge.ts";

/** More than a key ever takes. */
const KEY_BYTES = 256;

/** What there is of our own files. Never fails, and changes nothing. */
export function ownFiles(environment: Environment): OwnFiles {
  const { bridgeHome } = environment;
  return { home: homeState(bridgeHome), key: keyState(bridgeHome), config: configState(environment) };
}

function homeState(path: string): OwnFiles["home"] {
  try {
    if (!statSync(path).isDirectory()) return { path, found: true, problem: `${path} is not a folder` };
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { path, found: true };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { path, found: false };
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
    const why = error instanceof Failure ? error.message : `the dashboard key can't be read (${errorCode(error)})`;
    return { found: true, problem: why };
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

const OTHERS_CAN_READ =
  "others could read the dashboard key: agent-bridge token closes its file to them, token --reset makes a new key";
