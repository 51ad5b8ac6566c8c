import type { Failure } from "../../platform/failure.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { SessionEvent } from "../event.ts";
import { AgentError, agentFailure } from "./agent-error.ts";
import { type Choice, choiceOf } from "./choice.ts";
import type { AcpHandlers, AcpStreams, PromptEnd } from "./connection.ts";
import type { AgentFiles } from "./files.ts";
import type { RequestId } from "./message.ts";
import { type Answer, Peer } from "./peer.ts";
import { Permissions } from "./permissions.ts";
import { CODES, Refusal } from "./refusal.ts";
import { ToolCalls } from "./tool-calls.ts";
import { callEvents, eventsOf, usageFigures } from "./updates.ts";

/** Our side of ACP: asks the agent, gives out what it tells, and answers what it asks. */
export class AcpClient {
  readonly closed: Promise<void>;
  /** The session that is spoken in; undefined until it is known, while whatever the agent tells is of it. */
  sessionId: string | undefined;
  /** What is told is a replay of what happened before: it is not given out. Ends with the first prompt. */
  replaying = false;
  /** How many updates were not given out for that. */
  replayed = 0;
  /** How the agent's user can log in, in its own words. */
  logins: readonly string[] = [];
  /** The newest choice of models that the agent told of. */
  models: Choice | undefined;
  /** The choice of modes that the session began with. */
  modes: Choice | undefined;
  readonly #peer: Peer;
  readonly #handlers: AcpHandlers;
  readonly #files: AgentFiles;
  readonly #permissions: Permissions;
  readonly #calls = new ToolCalls();
  #turns = 0;
  /** A turn was cancelled and has not ended: the agent's questions are answered `cancelled`. */
  #cancelling = false;

  constructor(streams: AcpStreams, handlers: AcpHandlers, files: AgentFiles) {
    this.#handlers = handlers;
    this.#files = files;
    this.#permissions = new Permissions((request, signal) => handlers.permission(request, signal));
    this.#peer = new Peer(streams, {
      notified: (method, params, weight) => this.#notified(method, params, weight),
      asked: (method, params, id, weight) => this.#asked(method, params, id, weight),
      passedOver: (what) => handlers.passedOver(what),
    });
    this.closed = this.#peer.closed;
    this.closed.then(() => this.#permissions.cancel());
  }

  /**
   * The agent's answer, as far as it is an object.
   * @throws Failure failed: it refuses (the cause is an AgentError), or is gone
   */
  async request(method: string, params: object): Promise<JsonObject> {
    try {
      return asObject(await this.#peer.request(method, params)) ?? {};
    } catch (error) {
      throw error instanceof AgentError ? agentFailure(error, this.logins) : error;
    }
  }

  /** See `AcpConnection.prompt`. */
  async prompt(sessionId: string, text: string): Promise<PromptEnd> {
    this.replaying = false;
    this.#turns++;
    try {
      const answer = await this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      const usage = usageFigures(answer.usage);
      return { stopReason: asText(answer.stopReason) ?? "end_turn", ...(usage !== undefined && { usage }) };
    } finally {
      this.#turns--;
      this.#cancelling = false;
    }
  }

  /** See `AcpConnection.cancel`. */
  cancel(sessionId: string): void {
    this.#cancelling = this.#turns > 0;
    this.#peer.notify("session/cancel", { sessionId });
    this.#permissions.cancel();
  }

  /** See `AcpHandlers.passedOver`. */
  passedOver(what: string): void {
    this.#handlers.passedOver(what);
  }

  /** See `AcpConnection.close`. */
  close(why: Failure): void {
    this.#peer.close(why);
  }

  #notified(method: string, params: JsonObject, weight: number): void | Promise<void> {
    switch (method) {
      case "session/update":
        return this.#updated(params, weight);
      case "$/cancel_request":
        return this.#permissions.withdraw(params.requestId);
      default:
        // The protocol's word for what only some clients know: agents send it to all of them.
        if (method.startsWith("_")) return;
        return this.#handlers.passedOver("a notification of an unknown kind");
    }
  }

  #updated({ sessionId, update }: JsonObject, weight: number): void | Promise<void> {
    // An agent that leaves out which session it means has only this one.
    if (sessionId !== undefined && this.sessionId !== undefined && sessionId !== this.sessionId) {
      return this.#handlers.passedOver("an update of another session");
    }
    const fields = asObject(update);
    if (fields?.sessionUpdate === "config_option_update") this.models = choiceOf(fields, "model") ?? this.models;
    if (this.replaying) {
      this.replayed++;
      return;
    }
    const says = eventsOf(update, this.#calls, weight);
    return "nothing" in says ? this.#handlers.passedOver(says.nothing) : this.#happened(says);
  }

  #happened(events: readonly SessionEvent[]): void | Promise<void> {
    const [event, ...others] = events;
    if (event === undefined) return;
    const taken = this.#handlers.happened(event);
    if (taken === undefined && others.length === 0) return;
    return Promise.resolve(taken).then(() => this.#happened(others));
  }

  async #asked(method: string, params: JsonObject, id: RequestId, weight: number): Promise<Answer> {
    switch (method) {
      case "session/request_permission":
        return await this.#askedPermission(params, id, weight);
      case "fs/read_text_file":
        return { result: this.#files.read(params) };
      case "fs/write_text_file":
        return { result: this.#files.write(params) };
      default:
        throw new Refusal(CODES.methodNotFound, "Method not found");
    }
  }

  async #askedPermission(params: JsonObject, id: RequestId, weight: number): Promise<Answer> {
    const call = asObject(params.toolCall);
    if (call !== undefined) await this.#happened(callEvents(call, this.#calls, weight));
    const isOver = this.#cancelling || this.replaying;
    const input = this.#calls.inputOf(asText(call?.toolCallId) ?? "");
    return { result: this.#permissions.answer(id, isOver ? {} : params, input), waits: true };
  }
}
