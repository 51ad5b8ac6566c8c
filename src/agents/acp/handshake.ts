import { Failure } from "../../platform/failure.ts";
import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Timer } from "../../platform/timer.ts";
import { AgentError, agentWords } from "./agent-error.ts";
import { type Choice, choiceOf } from "./choice.ts";
import type { AcpClient } from "./client.ts";
import type { AcpAgent, AcpOpening } from "./connection.ts";
import { askingMode } from "./mode.ts";
import { offeredModel } from "./model.ts";
import type { Patience } from "./patience.ts";

const PROTOCOL_VERSION = 1;

/** An agent that has answered `initialize`. */
export interface Introduced {
  readonly agent: AcpAgent;
  /** It goes on with a session at once | by telling all of it again. */
  readonly resume: boolean;
  readonly load: boolean;
}

/** Asks the agent what it is. @throws Failure failed: it refuses, or speaks another version of the protocol */
export async function introduce(client: AcpClient, { version }: AcpOpening, patience: Patience): Promise<Introduced> {
  const request = client.request("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: false,
      session: { notices: {} },
    },
    clientInfo: { name: "agent-bridge", title: "Agent Bridge", version },
  });
  const answer = await patience.for("initialize", request);
  requireVersion(answer.protocolVersion);
  const capabilities = asObject(answer.agentCapabilities);
  const resume = asObject(asObject(capabilities?.sessionCapabilities)?.resume) !== undefined;
  const load = capabilities?.loadSession === true;
  client.logins = (asArray(answer.authMethods) ?? []).flatMap((method) => loginWords(method) ?? []);
  const info = asObject(answer.agentInfo);
  const [name, itsVersion] = [asText(info?.name), asText(info?.version)];
  return {
    agent: {
      ...(name !== undefined && { name: agentWords(name) }),
      ...(itsVersion !== undefined && { version: agentWords(itsVersion) }),
      resumes: resume || load,
    },
    resume,
    load,
  };
}

/** Some agents of the first days leave it out, or write it as text. */
function requireVersion(value: unknown): void {
  if (value === undefined || value === null || Number(value) === PROTOCOL_VERSION) return;
  const spoken = agentWords(typeof value === "number" || typeof value === "string" ? `${value}` : "of an unknown form");
  throw new Failure(
    "failed",
    `the agent speaks ACP version ${spoken}, and agent-bridge version ${PROTOCOL_VERSION}: update the older of them`,
  );
}

function loginWords(value: unknown): string | undefined {
  const method = asObject(value);
  const name = asText(method?.name) ?? asText(method?.id);
  const description = asText(method?.description);
  if (name === undefined) return undefined;
  return agentWords(description === undefined || description === name ? name : `${name} (${description})`);
}

/**
 * Begins the session that `opening` wants, with its model and a mode in which the agent asks if it is to; gives its id, which is another than the one asked for where the agent
 * can't go on with that.
 * @throws Failure bad-request: no such model · failed: the agent refuses, or wants its user to log in
 */
export async function beginSession(
  client: AcpClient,
  introduced: Introduced,
  opening: AcpOpening,
  tools: { readonly patience: Patience; readonly timer: Timer },
): Promise<string> {
  const { patience } = tools;
  const ask: Ask = (method, params) => patience.for(method, client.request(method, params));
  const sessionId =
    (await goneOn(client, introduced, opening, { ask, timer: tools.timer })) ?? (await begun(client, opening, ask));
  client.sessionId = sessionId;
  if (opening.model !== undefined && !keepsModel(opening, client.models))
    await setModel(client, sessionId, opening.model, ask);
  if (opening.asks) await haveItAsk(client, sessionId, ask);
  return sessionId;
}

type Ask = (method: string, params: object) => Promise<JsonObject>;

async function begun(client: AcpClient, { cwd }: AcpOpening, ask: Ask): Promise<string> {
  const answer = await ask("session/new", { cwd, mcpServers: [] });
  offered(client, answer);
  const sessionId = asText(answer.sessionId);
  if (sessionId === undefined) throw new Failure("failed", "the agent began a session and did not say its id");
  return sessionId;
}

/** Goes on with the session that is asked for, by one of the ways that the agent has; undefined when none leads there. */
async function goneOn(
  client: AcpClient,
  { resume, load }: Introduced,
  opening: AcpOpening,
  tools: { readonly ask: Ask; readonly timer: Timer },
): Promise<string | undefined> {
  const sessionId = opening.resume;
  if (sessionId === undefined) return undefined;
  const params = { sessionId, cwd: opening.cwd, mcpServers: [] };
  client.sessionId = sessionId;
  if (resume && (await taken(client, tools.ask("session/resume", params)))) return sessionId;
  if (load) {
    client.replaying = true;
    if (await taken(client, tools.ask("session/load", params))) {
      await quiet(client, tools.timer);
      return sessionId;
    }
    client.replaying = false;
  }
  client.sessionId = undefined;
  return undefined;
}

/** Keeps what the agent lets be chosen for its session. */
function offered(client: AcpClient, answer: JsonObject): void {
  client.models = choiceOf(answer, "model");
  client.modes = choiceOf(answer, "mode");
}

/** Whether the agent goes on. One that does not know its session any more (it was never prompted, or is deleted) says no. */
async function taken(client: AcpClient, asked: Promise<JsonObject>): Promise<boolean> {
  try {
    offered(client, await asked);
    return true;
  } catch (error) {
    if (!(error instanceof Failure && error.cause instanceof AgentError) || error.cause.asksForLogin) throw error;
    return false;
  }
}

/** Without an update for so long, a replay is over: ms. */
const QUIET_MS = 50;

/** Waits until nothing more of a replay comes: some agents answer the request to load before they have told all of it. */
async function quiet(client: AcpClient, timer: Timer): Promise<void> {
  for (let before = -1; before !== client.replayed; ) {
    before = client.replayed;
    await Promise.race([new Promise<void>((resolve) => timer.after(QUIET_MS, resolve)), client.closed]);
  }
}

/** Whoever goes on with a session has the model that it had, and its name may be none that can be asked for. */
function keepsModel({ resume, model }: AcpOpening, choice: Choice | undefined): boolean {
  if (resume === undefined || model === undefined) return false;
  try {
    offeredModel(model, choice);
    return false;
  } catch {
    return true;
  }
}

async function setModel(client: AcpClient, sessionId: string, asked: string, ask: Ask): Promise<void> {
  const choice = client.models;
  const id = offeredModel(asked, choice);
  if (choice === undefined || choice.current === id) return;
  const { method, params } = choice.request(sessionId, id);
  const answer = await ask(method, params);
  client.models = choiceOf(answer, "model") ?? { ...choice, current: id };
  client.modes = choiceOf(answer, "mode") ?? client.modes;
}

/** Sets the mode in which the agent asks, where it offers one. An agent that will not have it is left as it is. */
async function haveItAsk(client: AcpClient, sessionId: string, ask: Ask): Promise<void> {
  const mode = client.modes && askingMode(client.modes);
  if (client.modes === undefined || mode === undefined) return;
  const { method, params } = client.modes.request(sessionId, mode);
  try {
    await ask(method, params);
  } catch (error) {
    if (!(error instanceof Failure && error.cause instanceof AgentError)) throw error;
    client.passedOver(`a refusal of the mode "${mode}", in which it would ask before it does anything`);
  }
}
