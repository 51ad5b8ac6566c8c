import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { type Item, toItems } from "../../src/transcript/item.ts";
import type { SessionId } from "../../src/transcript/names.ts";

/** One record of each format, the entries it is, and what a chat shows of them: five formats fit one model. */
interface Row {
  readonly format: string;
  readonly record: string;
  readonly entries: readonly Entry[];
  readonly items: readonly Item[];
}

const at = 1_796_030_640_000 as EpochMs;
const pos = (text: string): Cursor => text as Cursor;

const TABLE: readonly Row[] = [
  {
    format: "claude: an assistant line holds one block of a response, and its usage",
    record:
      '{"type":"assistant","timestamp":"2026-11-30T09:24:00.000Z","message":{"id":"msg_1","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"echo hi","description":"say hi"}}],"usage":{"input_tokens":3,"output_tokens":120,"cache_read_input_tokens":5000,"cache_creation_input_tokens":1000}}}',
    entries: [
      {
        kind: "tool-call",
        at,
        pos: pos("j:812:0"),
        tool: "Bash",
        callId: "toolu_1",
        input: { command: "echo hi", description: "say hi" },
      },
      {
        kind: "usage",
        at,
        pos: pos("j:812:0"),
        key: "msg_1",
        model: "m",
        tokens: { input: 3, output: 120, cacheRead: 5000, cacheWrite: 1000 },
      },
    ],
    items: [{ kind: "tool", at, tool: "Bash", summary: "echo hi", ref: pos("j:812:0") }],
  },
  {
    format: "claude: a user line that answers a call, and launches a subagent",
    record:
      '{"type":"user","timestamp":"2026-11-30T09:24:00.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"agentId: a1b2","is_error":true}]},"toolUseResult":{"agentId":"a1b2"}}',
    entries: [
      {
        kind: "tool-result",
        at,
        pos: pos("j:900:0"),
        callId: "toolu_2",
        tool: "Agent",
        of: pos("j:700:0"),
        text: "agentId: a1b2",
        isError: true,
      },
      {
        kind: "subagent",
        at,
        pos: pos("j:900:0"),
        subagent: { id: "a1b2" as SessionId, title: "sub job", agent: "claude" },
      },
    ],
    items: [
      {
        kind: "tool",
        at,
        text: "agentId: a1b2",
        tool: "Agent",
        ref: pos("j:900:0"),
        error: true,
        of: pos("j:700:0"),
      },
      {
        kind: "subagent",
        at,
        subagent: { id: "a1b2" as SessionId, title: "sub job", agent: "claude" },
        id: "sub-a1b2",
        ref: pos("j:900:0"),
      },
    ],
  },
  {
    format: "codex: a response item in a chain of files",
    record:
      '{"timestamp":"2026-11-30T09:24:00.000Z","ordinal":13,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\\"cmd\\":\\"ls\\"}","call_id":"call_1"}}',
    entries: [
      {
        kind: "tool-call",
        at,
        pos: pos("j:944:0:0a1b2c3d"),
        tool: "exec_command",
        callId: "call_1",
        input: { cmd: "ls" },
      },
    ],
    items: [{ kind: "tool", at, tool: "exec_command", summary: "ls", ref: pos("j:944:0:0a1b2c3d") }],
  },
  {
    format: "opencode: one part holds call and output, and is updated in place",
    record:
      '{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"exit 3"},"output":"","metadata":{"exit":3}}}',
    entries: [
      {
        kind: "tool-call",
        at,
        pos: pos("o:0:prt_1:1"),
        id: "prt_1",
        tool: "bash",
        callId: "call_1",
        input: { command: "exit 3" },
        output: "",
        isError: true,
      },
    ],
    items: [
      {
        kind: "tool",
        at,
        text: "",
        tool: "bash",
        summary: "exit 3",
        id: "prt_1",
        ref: pos("o:0:prt_1:1"),
        error: true,
      },
    ],
  },
  {
    format: "hermes: a row of an assistant with reasoning, text and calls",
    record:
      '{"id":7,"role":"assistant","content":"Counting.","reasoning":"List first.","tool_calls":"[{\\"id\\":\\"c1\\",\\"function\\":{\\"name\\":\\"terminal\\",\\"arguments\\":\\"{\\\\\\"command\\\\\\":\\\\\\"ls\\\\\\"}\\"}}]","timestamp":1796030640.0}',
    entries: [
      { kind: "reasoning", at, pos: pos("h:7"), text: "List first." },
      { kind: "assistant", at, pos: pos("h:7"), text: "Counting." },
      { kind: "tool-call", at, pos: pos("h:7"), tool: "terminal", callId: "c1", input: { command: "ls" } },
    ],
    items: [
      { kind: "assistant", at, text: "Counting.", ref: pos("h:7") },
      { kind: "tool", at, tool: "terminal", summary: "ls", ref: pos("h:7") },
    ],
  },
  {
    format: "daemon: records that are glued together under the first one's seq, and a turn that failed",
    record:
      '{"seq":4,"ts":"2026-11-30T09:24:00.000Z","kind":"text-delta","sessionId":"ses_1","text":"Let me look","partial":true}\n{"seq":5,"ts":"2026-11-30T09:24:00.000Z","kind":"error","sessionId":"ses_1","error":{"message":"overloaded"}}',
    entries: [
      { kind: "assistant", at, pos: pos("j:310:0"), id: "e4", text: "Let me look" },
      { kind: "marker", at, pos: pos("j:420:0"), id: "e5", marker: "error", text: "overloaded", isError: true },
    ],
    items: [
      { kind: "assistant", at, text: "Let me look", id: "e4", ref: pos("j:310:0") },
      { kind: "tool", at, text: "overloaded", tool: "error", id: "e5", ref: pos("j:420:0"), error: true },
    ],
  },
];

for (const { format, record, entries, items } of TABLE) {
  test(format, () => {
    assert.doesNotThrow(() => record.split("\n").map((line) => JSON.parse(line)));
    assert.deepEqual(toItems(entries), items);
  });
}
