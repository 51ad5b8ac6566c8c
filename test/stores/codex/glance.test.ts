import assert from "node:assert/strict";
import { test } from "node:test";
import { type Glance, glanceAt } from "../../../src/stores/codex/glance.ts";
import { isRelevant } from "../../../src/stores/codex/relevant.ts";

const FAR = "x".repeat(700);
const TIME = '"timestamp":"2026-11-30T09:00:00.000Z"';

const GLANCES: readonly [string, string, Glance][] = [
  [
    "an event",
    `{${TIME},"type":"event_msg","payload":{"type":"user_message","message":"x"}}`,
    { type: "event_msg", inner: "user_message" },
  ],
  [
    "a paginated record",
    `{${TIME},"ordinal":12,"type":"event_msg","payload":{"type":"token_count"}}`,
    { type: "event_msg", inner: "token_count", ordinal: 12 },
  ],
  [
    "keys in another order",
    `{"type":"event_msg", "payload": {"turn_id":"t","type":"task_started"},${TIME}}`,
    { type: "event_msg", inner: "task_started" },
  ],
  ["a payload before the type", `{"payload":{"type":"task_started"},"type":"event_msg"}`, {}],
  [
    "a role",
    `{${TIME},"type":"response_item","payload":{"type":"message","id":"m","role":"user","content":[]}}`,
    { type: "response_item", inner: "message", role: "user" },
  ],
  [
    "a role behind the content",
    `{${TIME},"type":"response_item","payload":{"type":"message","content":[{"role":"user"}],"role":"assistant"}}`,
    { type: "response_item", inner: "message" },
  ],
  [
    "an item",
    `{${TIME},"type":"event_msg","payload":{"type":"item_completed","thread_id":"t","item":{"type":"UserMessage"}}}`,
    { type: "event_msg", inner: "item_completed", item: "UserMessage" },
  ],
  [
    "an item far behind",
    `{${TIME},"type":"event_msg","payload":{"type":"item_completed","thread_id":"${FAR}","item":{"type":"UserMessage"}}}`,
    { type: "event_msg", inner: "item_completed" },
  ],
  [
    "a payload far behind",
    `{${TIME},"type":"event_msg","metadata":"${FAR}","payload":{"type":"user_message"}}`,
    { type: "event_msg" },
  ],
  [
    "a flat record",
    '{"type":"message","id":null,"role":"user","content":[]}',
    { type: "message", inner: "message", role: "user" },
  ],
  ["a text that looks like a type", `{"message":"\\"type\\":\\"x\\"","record_type":"state"}`, {}],
  ["nothing", "", {}],
  ["a cut record", '{"timestamp":"2026', {}],
];

for (const [what, line, expected] of GLANCES) {
  test(`the first bytes of a record tell what it is, and no more: ${what}`, () => {
    const { type, inner, item, role, ordinal } = glanceAt(Buffer.from(line));
    const told = Object.entries({ type, inner, item, role, ordinal }).filter(([, value]) => value !== undefined);
    assert.deepEqual(Object.fromEntries(told), expected);
  });
}

test("a record whose first bytes do not tell it is parsed, never dropped", () => {
  for (const [what, line] of GLANCES) {
    if (/far behind|before the type|behind the content/.test(what))
      assert.equal(isRelevant(Buffer.from(line), "items"), true, what);
  }
});
