import { callServer, pathOf, type ServerAddress } from "../../client/api.ts";
import { Failure } from "../../platform/failure.ts";
import type { Input } from "../input.ts";

/** Ctrl-]: no program of today waits for it. */
const DETACH = 0x1d;

/** A terminal session that is typed into. */
export interface Typing {
  readonly server: ServerAddress;
  readonly id: string;
  readonly input: Input;
}

/**
 * Sends what is typed to the session as it is, and the size of the terminal as it changes, until Ctrl-] is typed, nothing
 * more comes, the session has ended or the signal aborts.
 * @throws Failure of the server's refusal
 */
export async function typeInto({ server, id, input }: Typing, signal: AbortSignal): Promise<"detached" | "over"> {
  const left = new AbortController();
  const both = AbortSignal.any([signal, left.signal]);
  const send = (body: object): Promise<boolean> => sent(server, id, body, both);
  const untype = input.raw();
  try {
    const sizes = followSize(input, send, both);
    const typed = await followKeys(input, send, both);
    left.abort();
    await sizes;
    return typed;
  } finally {
    left.abort();
    untype();
  }
}

async function followKeys(
  input: Input,
  send: (body: object) => Promise<boolean>,
  signal: AbortSignal,
): Promise<"detached" | "over"> {
  const decoder = new TextDecoder();
  for await (const keys of input.parts(signal)) {
    const end = keys.indexOf(DETACH);
    const text = decoder.decode(end < 0 ? keys : keys.subarray(0, end), { stream: true });
    if (text !== "" && !(await send({ text }))) return "over";
    if (end >= 0) return "detached";
  }
  return "over";
}

async function followSize(input: Input, send: (body: object) => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const tell = async (): Promise<void> => {
    const size = input.size();
    if (size !== undefined) await send(size);
  };
  try {
    await tell();
    for await (const _ of input.resized(signal)) await tell();
  } catch (error) {
    // A size that can't be set spoils no session; what is typed tells whether the server is there.
    if (!(error instanceof Failure)) throw error;
  }
}

/** Whether the session took it; not when it has ended, or nobody waits any more. */
async function sent(server: ServerAddress, id: string, body: object, signal: AbortSignal): Promise<boolean> {
  try {
    await callServer(server, "POST", pathOf("", "api", "sessions", id, "input"), body, { signal });
    return true;
  } catch (error) {
    if (signal.aborted || (error instanceof Failure && error.kind === "conflict")) return false;
    throw error;
  }
}
