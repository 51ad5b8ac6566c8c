import { asObject, asString, type JsonObject } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";
import { printableLine } from "../transcript/printable.ts";
import type { Host } from "./host.ts";
import { type Handshake, handshakeFor, isStateless, SERVER_INFO, STATELESS } from "./revisions.ts";
import { CODES, RpcError } from "./rpc.ts";
import type { Call, Tool } from "./tool.ts";

/** What a request is answered with. */
export interface Exchange extends Call {
  /** The revision that a handshake has settled on. */
  readonly revision: Handshake | undefined;
  agreed(revision: Handshake): void;
  notify(method: string, params: object): Promise<void>;
}

/** Makes the result of a request. @throws RpcError: it is refused */
export type Method = (params: JsonObject, exchange: Exchange) => Promise<object>;

/** How long a list of tools may be kept: they change only with the program. ms */
const LASTING = { ttlMs: 3_600_000, cacheScope: "private" } as const;
const CAPABILITIES = { tools: {} };

/** The methods of MCP that a server of tools has. */
export function methodsOf(tools: readonly Tool[]): { readonly [name: string]: Method } {
  const listed = { tools: tools.map((tool) => tool.listed) };
  return {
    initialize: async ({ protocolVersion }, { host, agreed }) => {
      if (asString(protocolVersion) === undefined)
        throw new RpcError(CODES.invalidParams, "protocolVersion must be a text");
      const revision = handshakeFor(protocolVersion);
      agreed(revision);
      const { instructions } = host;
      return { protocolVersion: revision, capabilities: CAPABILITIES, serverInfo: serverInfo(host), instructions };
    },
    ping: async (params) => {
      if (isStateless(params)) throw new RpcError(CODES.noMethod, "Method not found");
      return {};
    },
    "server/discover": async (params, { host }) => {
      if (!isStateless(params)) throw unsaid();
      const found = { supportedVersions: [STATELESS], capabilities: CAPABILITIES, instructions: host.instructions };
      return complete({ ...found, ...LASTING }, host);
    },
    "tools/list": async (params, exchange) => {
      const stateless = statelessOrAgreed(params, exchange);
      if (params.cursor !== undefined)
        throw new RpcError(CODES.invalidParams, "all tools stand on one page: leave the cursor out");
      return stateless ? complete({ ...listed, ...LASTING }, exchange.host) : listed;
    },
    "tools/call": async (params, exchange) => {
      const stateless = statelessOrAgreed(params, exchange);
      const name = asString(params.name);
      const called = tools.find((tool) => tool.name === name);
      if (called === undefined) {
        const words =
          name === undefined ? "name must be a text" : `Unknown tool: ${clip(printableLine(name), 80).text}`;
        throw new RpcError(CODES.invalidParams, words);
      }
      const result = await withProgress(params, exchange, () => called.call(params.arguments, exchange));
      return stateless ? complete(result, exchange.host) : result;
    },
  };
}

/** Whether it is a request of the stateless revision; else a handshake must have come before it. @throws RpcError */
function statelessOrAgreed(params: JsonObject, { revision }: Exchange): boolean {
  const stateless = isStateless(params);
  if (!stateless && revision === undefined) throw unsaid();
  return stateless;
}

function unsaid(): RpcError {
  return new RpcError(CODES.invalidParams, `send initialize first, or say in _meta that you speak ${STATELESS}`);
}

function serverInfo({ version }: Host): object {
  return { name: "agent-bridge", title: "agent-bridge", version };
}

/** A result as the stateless revision has it. */
function complete(result: object, host: Host): object {
  return { resultType: "complete", ...result, _meta: { [SERVER_INFO]: serverInfo(host) } };
}

/** How often a client that wants to know is told that work goes on: ms. */
const PROGRESS_MS = 1_000;

/** Tells, while `work` takes long and if that was asked for, for how many seconds it has gone on. */
async function withProgress<T>({ _meta }: JsonObject, { host, notify }: Exchange, work: () => Promise<T>): Promise<T> {
  const progressToken = asObject(_meta)?.progressToken;
  if (typeof progressToken !== "string" && typeof progressToken !== "number") return work();
  let isOver = false;
  let stop = (): void => {};
  const tellAfter = (progress: number): void => {
    // One that does not read is told no more than it takes.
    const tell = async (): Promise<void> => {
      await notify("notifications/progress", { progressToken, progress });
      if (!isOver) tellAfter(progress + 1);
    };
    stop = host.timer.after(PROGRESS_MS, () => void tell());
  };
  tellAfter(1);
  try {
    return await work();
  } finally {
    isOver = true;
    stop();
  }
}
