import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { type Driving, driving } from "../support/driving.ts";
import { until } from "../support/until.ts";

/** Comes back when so many questions wait. */
async function asked(home: Driving, id: string, count = 1): Promise<void> {
  await until(async () => ((await home.session(id)).permissions ?? []).length === count);
}

/** How the questions of a session were answered, as the recording says. */
function resolved(home: Driving, id: string): readonly (readonly unknown[])[] {
  return home
    .records(id)
    .filter(({ kind }) => kind === "permission-resolved")
    .map(({ toolCallId, decision, optionId }) => [toolCallId, decision, optionId]);
}

test("without a word about it, and when told to deny, an agent's question is answered by its option to reject", async (t) => {
  const home = driving(t);
  for (const permit of [undefined, "deny"] as const) {
    const { id, end } = await home.turn(["ask rm"], { ...(permit && { permit }) });
    assert.equal(end.reason, "completed");
    assert.equal((await home.session(id)).permit, "deny");
    assert.deepEqual(resolved(home, id), [["rm", "deny", "reject"]]);
    assert.equal(home.text(id), "rm: reject");
    assert.deepEqual(home.kinds(id).slice(0, 4), ["user-prompt", "tool-call", "agent-prompt", "permission-resolved"]);
  }
});

test("when told to allow, it is answered by the option that holds for once", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["ask rm"], { permit: "allow" });
  assert.deepEqual(resolved(home, id), [["rm", "approve", "allow"]]);
  assert.equal(home.text(id), "rm: allow");
});

test("a question with no option that fits is answered as cancelled", async (t) => {
  const home = driving(t);
  const only = JSON.stringify({ options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }] });
  const { id, end } = await home.turn([`ask rm ${only}`]);
  assert.equal(end.reason, "cancelled");
  assert.deepEqual(resolved(home, id), [["rm", "cancelled", undefined]]);
});

test("a question has what its call is given, as it was told with it or before, cut where it is long", async (t) => {
  const home = driving(t);
  const call = JSON.stringify({ rawInput: { command: "rm -rf /" } });
  const long = JSON.stringify({ toolCall: { toolCallId: "long", rawInput: { text: "x".repeat(9_000) } } });
  const { id } = await home.begin([`call rm ${call}`, "ask rm"], { permit: "ask" });
  await asked(home, id);
  assert.equal((await home.session(id)).permissions?.[0]?.input, '{"command":"rm -rf /"}');
  const other = await home.begin([`ask long ${long}`], { permit: "ask" });
  await asked(home, other.id);
  assert.equal((await home.session(other.id)).permissions?.[0]?.input?.length, 4_000);
});

test("a question that is to be asked waits, and whoever waits for the turn is told so", async (t) => {
  const home = driving(t);
  const { id, prompt } = await home.begin(["ask rm", "say done"], { permit: "ask" });
  assert.equal((await prompt.ended).reason, "awaiting-input");
  const { status, permissions } = await home.session(id);
  assert.equal(status, "awaiting-input");
  assert.deepEqual(
    permissions?.map(({ toolCallId, title }) => [toolCallId, title]),
    [["rm", "rm"]],
  );
  await until(() => home.saved(id).status === "awaiting-input");
  await assert.rejects(
    home.prompt(id, "x"),
    conflict(/busy with a turn: it waits for the answer to a permission question/),
  );
  await home.sessions.answer(id, "rm", "allow");
  await until(async () => (await home.session(id)).status === "idle");
  assert.equal(home.text(id), "rm: allowdone");
  assert.deepEqual(resolved(home, id), [["rm", "approve", "allow"]]);
  assert.deepEqual(
    (await home.finishedRuns(1)).map(({ status }) => status),
    ["done"],
  );
});

test("an answer to no question, by no option, or a second time is refused, and says what to do", async (t) => {
  const home = driving(t);
  const { id } = await home.begin(["ask rm", "until-cancel"], { permit: "ask" });
  await asked(home, id);
  await assert.rejects(home.sessions.answer(id, "cp", "allow"), { kind: "not-found" });
  await assert.rejects(home.sessions.answer(id, "rm", "perhaps"), {
    kind: "bad-request",
    message: /allow, always, reject/,
  });
  await home.sessions.answer(id, "rm", "reject");
  await assert.rejects(home.sessions.answer(id, "rm", "reject"), { kind: "not-found" });
  await home.sessions.cancel(id);
  await home.sessions.stop(id);
  await assert.rejects(home.sessions.answer(id, "rm", "allow"), conflict(/has ended/));
});

test("two questions at once are answered each by itself, in any order", async (t) => {
  const home = driving(t);
  const question = (id: string) => {
    const options = [{ optionId: `${id}-yes`, name: "Yes", kind: "allow_once" }];
    const request = { jsonrpc: "2.0", id, method: "session/request_permission" };
    const params = { toolCall: { toolCallId: id, title: id }, options };
    return `raw ${JSON.stringify(JSON.stringify({ ...request, params }))}`;
  };
  const { id, prompt } = await home.begin([question("a"), question("b"), "silent"], { permit: "ask" });
  await asked(home, id, 2);
  await home.sessions.answer(id, "b", "b-yes");
  assert.deepEqual(
    (await home.session(id)).permissions?.map(({ toolCallId }) => toolCallId),
    ["a"],
  );
  assert.equal((await home.session(id)).status, "awaiting-input");
  await home.sessions.answer(id, "a", "a-yes");
  assert.equal((await home.session(id)).status, "busy");
  await home.sessions.cancel(id);
  assert.equal((await prompt.ended).reason, "awaiting-input");
  assert.deepEqual(resolved(home, id), [
    ["b", "approve", "b-yes"],
    ["a", "approve", "a-yes"],
  ]);
});

test("a question that is unanswered when the session is stopped is cancelled in the recording, and its turn ends awaiting input", async (t) => {
  for (const settings of [[], ["ignore-cancel", "ignore-eof", "ignore-term"]]) {
    const home = driving(t, settings);
    const { id } = await home.begin(["ask rm"], { permit: "ask" });
    await asked(home, id);
    const stopped = await home.sessions.stop(id);
    assert.equal(stopped.status, "ended");
    assert.equal(stopped.permissions, undefined);
    assert.deepEqual(resolved(home, id), [["rm", "cancelled", undefined]]);
    const kinds = home.kinds(id);
    assert.ok(kinds.indexOf("permission-resolved") < kinds.indexOf("turn-end"), kinds.join());
    assert.equal(home.records(id).find(({ kind }) => kind === "turn-end")?.reason, "awaiting-input");
    assert.deepEqual(
      (await home.finishedRuns(1)).map(({ status }) => status),
      ["interrupted"],
    );
  }
});

test("a question whose agent dies was not answered by anyone either", async (t) => {
  const home = driving(t);
  const { id } = await home.begin(["ask rm"], { permit: "ask" });
  await asked(home, id);
  process.kill((await home.session(id)).pid ?? 0, "SIGKILL");
  await until(async () => (await home.session(id)).status === "failed");
  assert.equal(home.records(id).find(({ kind }) => kind === "turn-end")?.reason, "exited");
  assert.deepEqual(resolved(home, id), [["rm", "cancelled", undefined]]);
  assert.equal((await home.session(id)).permissions, undefined);
});

test("cancelling while a question waits answers it as cancelled, before the turn's end; it can't be answered later", async (t) => {
  const home = driving(t);
  const { id } = await home.begin(["ask rm", "say never"], { permit: "ask" });
  await asked(home, id);
  await home.sessions.cancel(id);
  assert.equal((await home.session(id)).status, "idle");
  assert.deepEqual(resolved(home, id), [["rm", "cancelled", undefined]]);
  const kinds = home.kinds(id);
  assert.ok(kinds.indexOf("permission-resolved") < kinds.indexOf("turn-end"));
  assert.equal(home.records(id).find(({ kind }) => kind === "turn-end")?.reason, "cancelled");
  await assert.rejects(home.sessions.answer(id, "rm", "allow"), { kind: "not-found" });
});

test("a question that its turn leaves behind is over when the turn is", async (t) => {
  const home = driving(t);
  const request = { jsonrpc: "2.0", id: "q", method: "session/request_permission" };
  const params = { toolCall: { toolCallId: "rm" }, options: [{ optionId: "y", name: "Yes", kind: "allow_once" }] };
  const { id } = await home.begin([`raw ${JSON.stringify(JSON.stringify({ ...request, params }))}`, "wait 50"], {
    permit: "ask",
  });
  await until(async () => (await home.session(id)).status === "idle");
  assert.equal((await home.session(id)).permissions, undefined);
  const kinds = home.kinds(id);
  assert.ok(kinds.indexOf("permission-resolved") < kinds.indexOf("turn-end"), kinds.join());
});

test("a question that is still open when its session is restarted, or its server ends, is cancelled in the recording", async (t) => {
  for (const end of ["restart", "close"] as const) {
    const home = driving(t);
    const { id } = await home.begin(["ask rm"], { permit: "ask" });
    await asked(home, id);
    await (end === "restart" ? home.sessions.restart(id) : home.sessions.close());
    assert.deepEqual(home.kinds(id).slice(-4), ["tool-result", "turn-end", "usage_snapshot", "usage_snapshot"]);
    assert.deepEqual(resolved(home, id), [["rm", "cancelled", undefined]]);
    assert.equal(home.records(id).find(({ kind }) => kind === "turn-end")?.reason, "awaiting-input");
  }
});

test("a question that comes in one piece with the prompt's answer is resolved before the turn's end", async (t) => {
  const home = driving(t);
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const question = (id: string) => {
    const params = { toolCall: { toolCallId: id }, options };
    return JSON.stringify({ jsonrpc: "2.0", id, method: "session/request_permission", params });
  };
  const { id } = await home.begin([`raw ${JSON.stringify(`${question("a")}\n${question("b")}`)}`], { permit: "ask" });
  await until(async () => (await home.session(id)).status === "idle");
  assert.deepEqual(home.kinds(id), [
    ...["user-prompt", "agent-prompt", "agent-prompt", "permission-resolved", "permission-resolved"],
    ...["turn-end", "usage_snapshot"],
  ]);
  assert.equal((await home.session(id)).permissions, undefined);
});

function conflict(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.kind === "conflict" && message.test(error.message);
}
