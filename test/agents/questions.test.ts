import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenBy, decisionOf, Questions } from "../../src/agents/questions.ts";
import { Failure } from "../../src/platform/failure.ts";

const OPTIONS = [
  { optionId: "a", name: "Always", kind: "allow_always" },
  { optionId: "y", name: "Yes", kind: "allow_once" },
  { optionId: "n", name: "No", kind: "reject_once" },
];

test("allowing and denying choose the option that holds for this once, if there is one", () => {
  assert.equal(chosenBy("allow", OPTIONS)?.optionId, "y");
  assert.equal(chosenBy("deny", OPTIONS)?.optionId, "n");
  assert.equal(chosenBy("allow", OPTIONS.slice(0, 1))?.optionId, "a");
});

test("a question that offers nothing of the kind has no option to choose", () => {
  assert.equal(chosenBy("deny", OPTIONS.slice(0, 2)), undefined);
  assert.equal(chosenBy("allow", []), undefined);
});

test("choosing to reject is a denial, anything else an approval", () => {
  assert.deepEqual(OPTIONS.map(decisionOf), ["approve", "approve", "deny"]);
});

test("a question waits until it is answered, and is answered once", async () => {
  const questions = new Questions();
  const { signal } = new AbortController();
  const answer = questions.ask({ toolCallId: "t", title: "rm", options: OPTIONS }, signal);
  assert.deepEqual(questions.pending, [{ toolCallId: "t", title: "rm", options: OPTIONS }]);
  questions.answer("t", "y");
  assert.deepEqual(await answer, { optionId: "y" });
  assert.deepEqual(questions.pending, []);
  assert.throws(() => questions.answer("t", "y"), new Failure("not-found", NOBODY_WAITS));
});

const NOBODY_WAITS = "no question with this toolCallId waits for an answer: it may have been answered";

test("an option that is not offered is refused, and the question goes on waiting", () => {
  const questions = new Questions();
  void questions.ask({ toolCallId: "t", options: OPTIONS }, new AbortController().signal);
  assert.throws(
    () => questions.answer("t", "z"),
    new Failure("bad-request", "optionId must be one of the options of the question: a, y, n"),
  );
  assert.equal(questions.pending.length, 1);
});

test("of two questions about one call the older is answered first", async () => {
  const questions = new Questions();
  const { signal } = new AbortController();
  const answers = [1, 2].map(() => questions.ask({ toolCallId: "t", options: OPTIONS }, signal));
  questions.answer("t", "y");
  questions.answer("t", "n");
  assert.deepEqual(await Promise.all(answers), [{ optionId: "y" }, { optionId: "n" }]);
});

test("a question whose turn is cancelled is answered so, before and after it was asked", async () => {
  const questions = new Questions();
  const leaving = new AbortController();
  const answer = questions.ask({ toolCallId: "t", options: OPTIONS }, leaving.signal);
  leaving.abort();
  assert.equal(await answer, "cancelled");
  assert.equal(await questions.ask({ toolCallId: "u", options: OPTIONS }, leaving.signal), "cancelled");
  assert.deepEqual(questions.pending, []);
});
