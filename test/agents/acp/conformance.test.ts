import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { AcpConnection, AcpOpening } from "../../../src/agents/acp/connection.ts";
import { openAcp } from "../../../src/agents/acp/open.ts";
import { asObject, type JsonObject } from "../../../src/platform/read.ts";
import { systemTimer } from "../../../src/platform/timer.ts";
import { Heard, type Listening } from "../../support/fake-agent.ts";
import { until } from "../../support/until.ts";

const schemaPath = new URL("../../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json", import.meta.url);
const { $defs } = JSON.parse(readFileSync(schemaPath, "utf8")) as { $defs: { [name: string]: JsonObject } };

/** Checks `value` against the protocol's own schema for what goes with `method`. */
function assertConforms(method: string, kind: "Request" | "Response" | "Notification", value: unknown): void {
  const [name, schema] =
    Object.entries($defs).find(([each, def]) => def["x-method"] === method && each.endsWith(kind)) ?? [];
  assert.ok(schema !== undefined, `the schema has no ${kind} of ${method}`);
  const outcome = z.fromJSONSchema({ ...schema, $defs } as never).safeParse(value);
  assert.ok(outcome.success, `${name}: ${outcome.error?.message}`);
}

/** What the agent that is built with the SDK does when it is prompted. */
type Act = (context: {
  text: string;
  sessionId: string;
  client: AgentContext;
  signal: AbortSignal;
}) => Promise<unknown>;

/** An agent built with the SDK, and our side of it. */
class Stage {
  readonly heard: Heard;
  readonly asked: string[] = [];
  /** What we sent, as it went over the wire. */
  readonly sent: JsonObject[] = [];
  readonly #act: Act;
  /** The methods of what the agent asked us, by id. */
  readonly #askedOfUs = new Map<unknown, string>();
  #model = "small";

  constructor(act: Act, listening: Listening = {}) {
    this.#act = act;
    this.heard = new Heard(listening);
  }

  async open(capabilities: object = {}, opening: Partial<AcpOpening> = {}): Promise<AcpConnection> {
    const toAgent = new TransformStream<Uint8Array, Uint8Array>();
    const fromAgent = new TransformStream<Uint8Array, Uint8Array>();
    this.#app(capabilities).connect(ndJsonStream(fromAgent.writable, toAgent.readable));
    const writer = toAgent.writable.getWriter();
    const write = (line: string): Promise<void> => {
      this.#sending(line);
      return writer.write(Buffer.from(line)).catch(() => {});
    };
    const streams = { input: this.#watched(fromAgent.readable), write };
    const whole = { cwd, version: "1.2.3", patienceMs: 60_000, ...opening };
    return await openAcp(streams, this.heard, whole, { timer: systemTimer });
  }

  async *#watched(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      for (const line of Buffer.from(chunk).toString().split("\n")) {
        const message = line === "" ? undefined : asObject(JSON.parse(line));
        if (typeof message?.method === "string" && "id" in message) this.#askedOfUs.set(message.id, message.method);
      }
      yield chunk;
    }
  }

  /** Checks each message that we send. */
  #sending(line: string): void {
    assert.ok(line.endsWith("\n") && line.indexOf("\n") === line.length - 1);
    const message = JSON.parse(line);
    this.sent.push(message);
    assert.equal(message.jsonrpc, "2.0");
    if (message.method === undefined) {
      if (message.error !== undefined)
        assert.ok(z.fromJSONSchema({ ...$defs.Error, $defs } as never).safeParse(message.error).success);
      else assertConforms(this.#askedOfUs.get(message.id) ?? "", "Response", message.result);
    } else {
      assertConforms(message.method, message.id === undefined ? "Notification" : "Request", message.params);
    }
  }

  #app(agentCapabilities: object): ReturnType<typeof agent> {
    const session = () => ({ configOptions: [this.#option()] });
    const replay: SessionUpdate = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "before" } };
    const running = new Map<string, AbortController>();
    return agent({ name: "sdk-agent" })
      .onRequest(methods.agent.initialize, ({ params }) => {
        this.asked.push("initialize");
        assert.deepEqual(params.clientInfo?.version, "1.2.3");
        return { protocolVersion: 1, agentInfo: { name: "sdk-agent", version: "9" }, agentCapabilities };
      })
      .onRequest(methods.agent.session.new, ({ params }) => {
        this.asked.push("new");
        assert.deepEqual([params.cwd, params.mcpServers], [cwd, []]);
        return { sessionId: "sdk-1", ...session() };
      })
      .onRequest(methods.agent.session.load, async ({ params, client }) => {
        this.asked.push(`load ${params.sessionId}`);
        await client.notify(methods.client.session.update, { sessionId: params.sessionId, update: replay });
        return session();
      })
      .onRequest(methods.agent.session.resume, ({ params }) => {
        this.asked.push(`resume ${params.sessionId}`);
        if (params.sessionId === "gone") throw RequestError.resourceNotFound("gone");
        return session();
      })
      .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
        this.asked.push(`set ${params.configId}=${params.value}`);
        this.#model = `${params.value}`;
        return { configOptions: [this.#option()] };
      })
      .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
        const [block] = params.prompt;
        assert.ok(block?.type === "text");
        const controller = new AbortController();
        running.set(params.sessionId, controller);
        const { signal } = controller;
        await this.#act({ text: block.text, sessionId: params.sessionId, client, signal });
        return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
      })
      .onNotification(methods.agent.session.cancel, ({ params }) => {
        running.get(params.sessionId)?.abort();
      });
  }

  #option() {
    return {
      id: "model",
      name: "Model",
      category: "model",
      type: "select" as const,
      currentValue: this.#model,
      options: [{ group: "all", name: "All", options: ["small", "large"].map((value) => ({ value, name: value })) }],
    };
  }
}

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "conformance-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const nothing: Act = async () => {};

test("an agent built with the official SDK is opened, with a model", async () => {
  const stage = new Stage(nothing);
  const connection = await stage.open({}, { model: "large" });
  assert.deepEqual(connection.agent, { name: "sdk-agent", version: "9", resumes: false });
  assert.deepEqual([connection.sessionId, connection.model], ["sdk-1", "large"]);
  assert.deepEqual(stage.asked, ["initialize", "new", "set model=large"]);
  connection.close();
});

test("its sessions are resumed, loaded without their replay, or begun anew", async () => {
  const say: Act = async ({ sessionId, client }) => {
    const content = { type: "text" as const, text: "now" };
    await client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", content },
    });
  };
  const cases: [object, string, string[], string][] = [
    [{ loadSession: true }, "old", ["load old"], "old"],
    [{ loadSession: true, sessionCapabilities: { resume: {} } }, "old", ["resume old"], "old"],
    [{ sessionCapabilities: { resume: {} } }, "gone", ["resume gone", "new"], "sdk-1"],
    [{}, "old", ["new"], "sdk-1"],
  ];
  for (const [capabilities, resume, asked, sessionId] of cases) {
    const stage = new Stage(say);
    const connection = await stage.open(capabilities, { resume });
    await connection.prompt("go");
    assert.deepEqual(stage.asked.slice(1), asked);
    assert.equal(connection.sessionId, sessionId);
    assert.equal(stage.heard.text, "now");
    connection.close();
  }
});

test("every kind of update is taken", async () => {
  const updates: SessionUpdate[] = [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: "go" } },
    { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "look" }, messageId: "m1" },
    { sessionUpdate: "agent_message_chunk", content: { type: "image", mimeType: "image/png", data: "AAAA" } },
    { sessionUpdate: "tool_call", toolCallId: "t", title: "Edit", kind: "edit", status: "pending", rawInput: { a: 1 } },
    { sessionUpdate: "tool_call_update", toolCallId: "t", status: "in_progress" },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      status: "completed",
      content: [{ type: "diff", path: "/a", oldText: "b", newText: "c" }],
    },
    { sessionUpdate: "plan", entries: [{ content: "one", priority: "high", status: "in_progress" }] },
    { sessionUpdate: "available_commands_update", availableCommands: [{ name: "x", description: "y" }] },
    { sessionUpdate: "current_mode_update", currentModeId: "code" },
    { sessionUpdate: "config_option_update", configOptions: [] },
    { sessionUpdate: "session_info_update", title: "A title" },
    { sessionUpdate: "usage_update", used: 30, size: 20, cost: { amount: 0.25, currency: "USD" } },
    { sessionUpdate: "notice", severity: "warning", title: "Careful" },
  ];
  const stage = new Stage(async ({ sessionId, client }) => {
    for (const update of updates) await client.notify(methods.client.session.update, { sessionId, update });
  });
  const connection = await stage.open();
  assert.deepEqual(await connection.prompt("go"), { stopReason: "end_turn" });
  assert.deepEqual(stage.heard.notes, []);
  assert.deepEqual(stage.heard.events, [
    { kind: "thought", text: "hm" },
    { kind: "text-delta", text: "look" },
    { kind: "text-delta", text: "[image image/png, 3 bytes]" },
    { kind: "tool-call", toolCallId: "t", toolName: "Edit", arguments: { a: 1 } },
    { kind: "tool-result", toolCallId: "t", result: { path: "/a", oldText: "b", newText: "c" }, isError: false },
    { kind: "plan", entries: [{ content: "one", priority: "high", status: "in_progress" }] },
    { kind: "usage_update", size: 20, used: 20, cost: 0.25 },
    { kind: "notice", text: "Careful" },
  ]);
  connection.close();
});

test("its questions are answered", async () => {
  const answers: unknown[] = [];
  const stage = new Stage(
    async ({ sessionId, client }) => {
      for (const toolCallId of ["yes", "no"]) {
        const { outcome } = await client.request(methods.client.session.requestPermission, {
          sessionId,
          toolCall: { toolCallId, title: "Run" },
          options: [{ optionId: "o1", name: "Allow", kind: "allow_once" }],
        });
        answers.push(outcome);
      }
    },
    { permission: async ({ toolCallId }) => (toolCallId === "yes" ? { optionId: "o1" } : "cancelled") },
  );
  const connection = await stage.open();
  await connection.prompt("go");
  assert.deepEqual(answers, [{ outcome: "selected", optionId: "o1" }, { outcome: "cancelled" }]);
  connection.close();
});

test("its files are read and written", async () => {
  const path = join(cwd, "a.txt");
  writeFileSync(path, "one\ntwo\n");
  const got: unknown[] = [];
  const stage = new Stage(async ({ sessionId, client }) => {
    const { readTextFile, writeTextFile } = methods.client.fs;
    got.push(await client.request(readTextFile, { sessionId, path, line: 2, limit: 1 }));
    got.push(await client.request(writeTextFile, { sessionId, path, content: "three" }));
    const missing = client.request(readTextFile, { sessionId, path: `${path}.none` });
    got.push(await missing.catch((error: RequestError) => error.code));
    const unknown = client.request("terminal/create", { sessionId, command: "ls" });
    got.push(await unknown.catch((error: RequestError) => error.code));
  });
  const connection = await stage.open();
  await connection.prompt("go");
  assert.deepEqual(got, [{ content: "two\n" }, {}, -32002, -32601]);
  assert.equal(readFileSync(path, "utf8"), "three");
  connection.close();
});

test("its turn is cancelled with its open question", async () => {
  const outcomes: unknown[] = [];
  const stage = new Stage(
    async ({ sessionId, client }) => {
      const answer = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId: "t" },
        options: [{ optionId: "o1", name: "Allow", kind: "allow_once" }],
      });
      outcomes.push(answer.outcome);
    },
    { permission: () => new Promise(() => {}) },
  );
  const connection = await stage.open();
  const end = connection.prompt("go");
  await until(() => stage.heard.questions.length === 1);
  connection.cancel();
  assert.deepEqual(await end, { stopReason: "cancelled" });
  assert.deepEqual(outcomes, [{ outcome: "cancelled" }]);
  connection.close();
});

test("its errors reach the one who prompts", async () => {
  const stage = new Stage(async () => {
    throw RequestError.authRequired();
  });
  const connection = await stage.open();
  await assert.rejects(connection.prompt("go"), {
    message: "the agent wants you to log in first (Authentication required); use the agent's own command for that",
  });
  connection.close();
});
