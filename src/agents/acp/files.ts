import { isUtf8 } from "node:buffer";
import { statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { errorCode, Failure } from "../../platform/failure.ts";
import { isWithin, withFile } from "../../platform/files.ts";
import { asNumber, asString, type JsonObject } from "../../platform/read.ts";
import { CODES, outside, Refusal } from "./refusal.ts";
import { replaceWithin } from "./replace-file.ts";

/** A longer file is not read: bytes. */
const READ_LIMIT = 8 * 1024 * 1024;

/** The files that an agent reads and writes through us: those in one folder, by their real paths. */
export class AgentFiles {
  readonly #realRoot: string;

  /** `realRoot`: the real path of the folder, as it is when the session begins. What takes its place later is no way out. */
  constructor(realRoot: string) {
    this.#realRoot = realRoot;
  }

  /** Answers `fs/read_text_file`. @throws Refusal */
  async read(params: JsonObject): Promise<{ readonly content: string }> {
    const path = await this.#pathOf(params);
    const [line, limit] = [wholeNumber(params, "line"), wholeNumber(params, "limit")];
    const bytes = await this.#bytesOf(path);
    if (!isUtf8(bytes)) throw new Refusal(CODES.invalidParams, "The file is no text in UTF-8");
    const text = bytes.toString();
    return { content: line === undefined && limit === undefined ? text : linesOf(text, line ?? 1, limit) };
  }

  /** Answers `fs/write_text_file`: the file is the old one or the new one, whole. @throws Refusal */
  async write(params: JsonObject): Promise<object> {
    const content = asString(params.content);
    if (content === undefined) throw new Refusal(CODES.invalidParams, "content must be a text");
    const path = await this.#pathOf(params);
    try {
      await replaceWithin(this.#realRoot, path, content);
    } catch (error) {
      throw error instanceof Refusal ? error : refusalOf(error, "written");
    }
    return {};
  }

  async #bytesOf(path: string): Promise<Buffer> {
    try {
      return await withFile(this.#realRoot, path, (file) => {
        if (file.size > READ_LIMIT) throw new Refusal(CODES.invalidParams, "The file is over 8 MiB");
        const bytes = Buffer.allocUnsafe(file.size);
        return bytes.subarray(0, file.read(bytes, 0));
      });
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
        throw new Refusal(CODES.invalidParams, "This is a folder, not a file", error);
      }
      throw refusalOf(error instanceof Failure ? (error.cause ?? error) : error, "read");
    }
  }

  /** The real path that is asked for, which may have no file yet. What is done with it must check again what it finds. */
  async #pathOf({ path }: JsonObject): Promise<string> {
    if (typeof path !== "string" || !isAbsolute(path) || path.includes("\0")) {
      throw new Refusal(CODES.invalidParams, "path must be an absolute path");
    }
    const real = await realPathOf(path);
    if (!isWithin(this.#realRoot, real)) throw outside();
    return real;
  }
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path).catch(async (error) => {
      if (errorCode(error) !== "ENOENT") throw error;
      return join(await realpath(dirname(path)), basename(path));
    });
  } catch (error) {
    throw refusalOf(error, "found");
  }
}

function refusalOf(error: unknown, done: string): Refusal {
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return new Refusal(CODES.notFound, "Resource not found", error);
  return new Refusal(CODES.internal, `The file can't be ${done} (${code ?? "it is no regular file"})`, error);
}

function wholeNumber(params: JsonObject, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  const number = asNumber(value);
  if (number === undefined || !Number.isInteger(number) || number < 0) {
    throw new Refusal(CODES.invalidParams, `${name} must be a whole number`);
  }
  return number;
}

/** `limit` lines of `text` (all without it) from the line `first` on, counted from 1, with their line ends. */
function linesOf(text: string, first: number, limit: number | undefined): string {
  const start = afterLines(text, 0, Math.max(0, first - 1));
  return text.slice(start, limit === undefined ? text.length : afterLines(text, start, limit));
}

/** Where in `text` the line begins that stands `count` lines behind the place `from`. */
function afterLines(text: string, from: number, count: number): number {
  let place = from;
  for (let passed = 0; passed < count; passed++) {
    const end = text.indexOf("\n", place);
    if (end < 0) return text.length;
    place = end + 1;
  }
  return place;
}
