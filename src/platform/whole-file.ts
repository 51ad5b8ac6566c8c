import { randomBytes } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "./failure.ts";
import { NO_LINKS, syncFolder } from "./private-file.ts";

/**
 * Writes a file of the user's at `path`, 0600, so that it is there whole or not at all, also after a crash. What is there
 * already stays, unless `replace` is set: then the name passes to the new file at once (a link by that name is replaced itself,
 * what it leads to stays). Of several that write at once without `replace`, one does.
 * @throws the system's error, EEXIST when something is there · the signal's reason; nothing is left in the folder then
 */
export async function writeWhole(
  path: string,
  data: AsyncIterable<Uint8Array>,
  { replace, signal }: { readonly replace: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const temporary = join(dirname(path), `.agent-bridge-${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(data, { signal });
      await file.sync();
    } finally {
      await file.close();
    }
    signal.throwIfAborted();
    await (replace ? rename(temporary, path) : putWhereNothingIs(temporary, path));
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
}

async function putWhereNothingIs(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? "")) throw error;
    // The name is taken first, with an empty file that is ours, and that one is replaced.
    await (await open(path, "wx", 0o600)).close();
    await rename(temporary, path).catch(async (reason: unknown) => {
      await rm(path, { force: true });
      throw reason;
    });
  }
}
