import { constants } from "node:fs";
import { access, lstat, open, readlink, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceWithin } from "../../agents/acp/replace-file.ts";
import { errorCode, Failure } from "../../platform/failure.ts";
import { sameStamp, stampOf } from "../../platform/files.ts";
import { createPrivate } from "../../platform/private-file.ts";

/** More than any settings of a person take: bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Changes the settings of an agent's CLI at `path` (or where the link there leads) to what `change` makes of them (undefined:
 * there are none yet); undefined from it leaves them as they are. Who reads the file finds the old one or the new one,
 * whole; its mode and owner stay.
 * @throws Failure failed: it can't be read or written, or was changed meanwhile · what `change` throws
 */
export async function changeSettings(
  path: string,
  change: (text: string | undefined) => string | undefined,
): Promise<"changed" | "same"> {
  try {
    const real = await realPathOf(path);
    const before = real === undefined ? undefined : stampOf(real);
    const text = real === undefined ? undefined : await textOf(real);
    const changed = change(text);
    if (changed === undefined || changed === text) return "same";
    if (real === undefined) {
      if (!(await createPrivate(path, changed))) throw meanwhile(path);
      return "changed";
    }
    const now = stampOf(real);
    if (before === undefined || now === undefined || !sameStamp(before, now)) throw meanwhile(path);
    await replaceWithin(dirname(real), real, changed);
    return "changed";
  } catch (error) {
    if (error instanceof Failure || error instanceof SyntaxError) throw error;
    const why = errorCode(error) ?? (error instanceof Error ? error.message : "unknown error");
    throw new Failure(
      "failed",
      `${path} can't be changed (${why}): see to its permissions and the space on its disk`,
      error,
    );
  }
}

/** The file itself, or undefined when there is none. @throws Failure failed: a link there leads nowhere */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    const link = await lstat(path).catch(() => undefined);
    if (!link?.isSymbolicLink()) return undefined;
    throw new Failure(
      "failed",
      `${path} is a link to ${await readlink(path)}, which is not there: make it or remove the link`,
    );
  }
}

async function textOf(path: string): Promise<string> {
  await access(path, constants.R_OK | constants.W_OK);
  // Without O_NONBLOCK a pipe of that name would hold up the whole program.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Failure("failed", `${path} is no file: move it away`);
    if (stats.size > MOST_BYTES) throw new Failure("failed", `${path} is over 64 MiB: are these really settings?`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.readFile());
  } catch (error) {
    if (errorCode(error) !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
    throw new Failure("failed", `${path} is no text in UTF-8: see to it first`, error);
  } finally {
    await file.close();
  }
}

function meanwhile(path: string): Failure {
  return new Failure("failed", `${path} was changed at the same moment: try again`);
}
