import assert from "node:assert/strict";
import { test } from "node:test";
import { EventText } from "../../../src/dashboard/app/live/event-text.ts";

test("events are the same however their text is cut", () => {
  const text = 'event: hello\ndata: {"a":1}\n\n: \n\nid: j:1:0\ndata: one\ndata: two\n\nevent: x\ndata: half';
  const expected = [
    { name: "hello", data: '{"a":1}' },
    { name: "message", data: "one\ntwo" },
  ];
  for (let cut = 0; cut <= text.length; cut++) {
    const events = new EventText();
    assert.deepEqual([...events.add(text.slice(0, cut)), ...events.add(text.slice(cut))], expected);
  }
});
