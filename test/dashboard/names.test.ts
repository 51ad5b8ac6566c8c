import assert from "node:assert/strict";
import { test } from "node:test";
import { path, withQuery } from "../../src/dashboard/app/api.ts";
import { tasksOf } from "../../src/dashboard/app/content/tasks.ts";
import { agentName } from "../../src/dashboard/app/parts/agent-name.ts";
import { hashOf, placeOf } from "../../src/dashboard/app/places.ts";

test("an agent or a state that has the name of something every object has is a word like any other", () => {
  for (const word of ["constructor", "__proto__", "toString"]) {
    assert.equal(agentName(word), word);
    assert.equal(tasksOf({ todos: [{ content: "Tidy", status: word }] })?.tasks[0]?.state, "open");
  }
  assert.equal(agentName("claude"), "Claude Code");
});

test("half a character in a name does not keep its address from being made", () => {
  assert.equal(hashOf({ view: "runs", job: "a\ud800" }), "#/runs?job=a%EF%BF%BD");
  assert.equal(path("runs", "\udc00"), "/api/runs/%EF%BF%BD");
  assert.equal(withQuery("/api/runs", { before: "\ud800" }), "/api/runs?before=%EF%BF%BD");
  assert.equal(hashOf({ view: "home", project: "/srv/😀" }), "#/?project=%2Fsrv%2F%F0%9F%98%80");
});

test("of several spaces between the words of a search, and of those around them, one between words is searched for", () => {
  assert.deepEqual(placeOf("#/?q=%20the%20%20%20parser%20"), { view: "home", q: "the parser" });
  assert.deepEqual(placeOf("#/runs?q=a%09b"), { view: "runs", q: "a b" });
  assert.deepEqual(placeOf("#/?q=%20%20"), { view: "home" });
});
