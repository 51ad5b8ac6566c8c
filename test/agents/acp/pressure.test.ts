import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { openAcp } from "../../../src/agents/acp/open.ts";
import { systemTimer } from "../../../src/platform/timer.ts";
import { Heard, type Listening } from "../../support/fake-agent.ts";
import { until } from "../../support/until.ts";

const opening = { cwd: tmpdir(), version: "0", patienceMs: 60_000 };

/** An agent that comes up and then sends `flood`, a line a chunk; it is never read faster than our side takes it. */
class FloodingAgent {
  readonly answers: { readonly id: number; readonly result?: unknown; readonly error?: { code: number } }[] = [];
  readonly heard: Heard;
  /** How many lines of the flood were taken. */
  taken = 0;
  /** Whether it still reads what it is sent. */
  reads = true;
  readonly #flood: readonly object[];
  readonly #unread: (() => void)[] = [];
  readonly #asked: { method: string; id: number }[] = [];

  constructor(flood: readonly object[], listening: Listening = {}) {
    this.#flood = flood;
    this.heard = new Heard(listening);
  }

  async open(): Promise<void> {
    const streams = { input: this.#output(), write: (line: string) => this.#write(line) };
    await openAcp(streams, this.heard, opening, { timer: systemTimer });
  }

  /** Reads what it was sent, and again from now on. */
  read(): void {
    this.reads = true;
    for (const took of this.#unread.splice(0)) took();
  }

  #write(line: string): Promise<void> {
    const message = JSON.parse(line);
    if (message.method === undefined) this.answers.push(message);
    else this.#asked.push(message);
    return this.reads ? Promise.resolve() : new Promise((resolve) => this.#unread.push(resolve));
  }

  async *#output(): AsyncGenerator<Uint8Array> {
    for (const result of [{ protocolVersion: 1 }, { sessionId: "s" }]) {
      await until(() => this.#asked.length > 0);
      yield Buffer.from(`${JSON.stringify({ id: this.#asked.shift()?.id, result })}\n`);
    }
    for (const message of this.#flood) {
      yield Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      this.taken++;
    }
  }
}

test("an agent that asks without reading the answers is not read on", async () => {
  const agent = new FloodingAgent(Array.from({ length: 1000 }, (_, id) => ({ id, method: "unknown" })));
  agent.reads = false;
  await agent.open();
  await until(() => agent.answers.length === 16);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual([agent.answers.length, agent.taken], [16, 15]);
  agent.read();
  await until(() => agent.answers.length === 1000);
  assert.ok(agent.answers.every(({ error }) => error?.code === -32601));
});

test("an agent that asks too many questions at a time has the further ones answered cancelled", async () => {
  const options = [{ optionId: "a", name: "A", kind: "allow_once" }];
  const questions = Array.from({ length: 100 }, (_, id) => ({
    id,
    method: "session/request_permission",
    params: { sessionId: "s", toolCall: { toolCallId: `t${id}` }, options },
  }));
  const agent = new FloodingAgent(questions, { permission: () => new Promise(() => {}) });
  await agent.open();
  await until(() => agent.answers.length === 36);
  assert.equal(agent.heard.questions.length, 64);
  assert.deepEqual(
    agent.answers,
    Array.from({ length: 36 }, (_, i) => ({
      jsonrpc: "2.0",
      id: 64 + i,
      result: { outcome: { outcome: "cancelled" } },
    })),
  );
});
