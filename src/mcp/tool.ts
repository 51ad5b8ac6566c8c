import { Failure } from "../platform/failure.ts";
import type { JsonSchema } from "../server/route.ts";
import { printableLine } from "../transcript/printable.ts";
import type { Host } from "./host.ts";
import { type ArgumentsOf, checkArguments, type InputSchema } from "./schema.ts";
import { framed, QuotingFailure } from "./untrusted.ts";

/** What a tool is called with besides its arguments. */
export interface Call {
  readonly host: Host;
  /** Aborts when the call is cancelled or the server ends. */
  readonly signal: AbortSignal;
  /** Aborts, besides, when the client will send nothing more: nobody is left to wait for. */
  readonly leaving: AbortSignal;
}

/** What a tool answers. */
export interface Told {
  /** For a model to read. */
  readonly text: string;
  /** The same for a program; fits the tool's `output`. */
  readonly structured: { readonly [field: string]: unknown };
}

/** What a client may expect a tool to do. */
export interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The hints of a tool that only reads. */
export const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

interface Definition<P extends InputSchema["properties"], R extends keyof P & string> {
  readonly name: string;
  /** For a person, in a list of tools. */
  readonly title: string;
  /** For a model: when to call it, and what comes back. */
  readonly description: string;
  readonly input: P;
  readonly required: readonly R[];
  /** The schema of `structured`. */
  readonly output: JsonSchema;
  readonly hints: Hints;
  /** @throws Failure in words for the model */
  run(given: ArgumentsOf<P, R>, call: Call): Promise<Told>;
}

/** A tool of the server. */
export interface Tool {
  readonly name: string;
  /** As `tools/list` shows it. */
  readonly listed: object;
  /** The result of `tools/call`. Failures are told in it. @throws what is no Failure · the signal's reason */
  call(given: unknown, call: Call): Promise<object>;
}

/** Keeps a tool's arguments typed inside it. */
export function tool<const P extends InputSchema["properties"], const R extends keyof P & string = never>(
  definition: Definition<P, R>,
): Tool {
  const { name, title, description, input, required, output, hints } = definition;
  const inputSchema: InputSchema = { type: "object", properties: input, required, additionalProperties: false };
  return {
    name,
    listed: { name, title, description, inputSchema, outputSchema: output, annotations: { title, ...hints } },
    async call(given, call) {
      try {
        const values = checkArguments(inputSchema, given) as ArgumentsOf<P, R>;
        const { text, structured } = await definition.run(values, call);
        return { content: [{ type: "text", text }], structuredContent: structured };
      } catch (error) {
        call.signal.throwIfAborted();
        if (!(error instanceof Failure)) throw error;
        const said = (message: string): string => printableLine(call.host.said(message));
        const quoted = error instanceof QuotingFailure ? `\n${framed(() => said(error.quoted))}` : "";
        return { content: [{ type: "text", text: said(error.message) + quoted }], isError: true };
      }
    },
  };
}
