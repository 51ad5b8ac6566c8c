import type { ServerResponse } from "node:http";
import type { Message } from "./script.ts";

/** The body of a request; the CLIs are trusted to keep to their protocols. */
// biome-ignore lint/suspicious/noExplicitAny: what is not there shows as a failed run.
export type Body = any;

/** Writes one streamed answer. */
export interface Writer {
  say(text: string): void;
  call(tool: string, input: unknown): void;
  end(): void;
}

/** A model's protocol. */
export interface Dialect {
  messages(body: Body): Message[];
  /** Begins a streamed answer on a response whose head is sent. */
  answer(body: Body, response: ServerResponse): Writer;
  error(message: string): object;
}

let made = 0;

/** An id that no other run of the model has given out. */
export function freshId(prefix: string): string {
  made += 1;
  return `${prefix}_${Date.now().toString(36)}${process.pid.toString(36)}${made.toString(36).padStart(4, "0")}`;
}

/** The text of content that is a string or a list of blocks. */
export function textOf(content: Body): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((block: Body) => block.text ?? "").join("\n");
}

/** Pieces of a text, as a model streams it. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,12}/g) ?? [];
}

/** Sends a server-sent event. */
export function send(response: ServerResponse, data: object, event?: string): void {
  response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
}
