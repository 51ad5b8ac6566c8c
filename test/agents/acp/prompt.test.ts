import assert from "node:assert/strict";
import { test } from "node:test";
import { startFakeAgent } from "../../support/fake-agent.ts";

test("a prompt is answered in chunks, and its end has a reason and what was used", async () => {
  await using agent = startFakeAgent(["session s-1"]);
  const connection = await agent.open();
  const end = await connection.prompt(
    'think "hm\\n"\nsay "Let me "\nsay look\nspend {"inputTokens":7,"outputTokens":2,"totalTokens":9,"cachedReadTokens":null}',
  );
  assert.deepEqual(end, { stopReason: "end_turn", usage: { tokensIn: 7, tokensOut: 2 } });
  assert.equal(connection.sessionId, "s-1");
  assert.deepEqual(agent.heard.events, [
    { kind: "thought", text: "hm\n" },
    { kind: "text-delta", text: "Let me " },
    { kind: "text-delta", text: "look" },
  ]);
});
