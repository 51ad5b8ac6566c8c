import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../platform/environment.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { keyReader } from "../platform/key.ts";
import { readPrivate } from "../platform/private-file.ts";
import type { OwnFiles } from "./bridge.ts";

/** More than a key ever takes. */
const KEY_BYTES = 256;

/** What there is of our own files. Never fails, and changes nothing. */
export async function ownFiles({ bridgeHome }: Environment): Promise<OwnFiles> {
  return { home: homeState(bridgeHome), key: keyState(bridgeHome), config: { found: false, warnings: [] } };
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

const OTHERS_CAN_READ =
  "others could read the dashboard key: agent-bridge token closes its file to them, token --reset makes a new key";
