import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { START } from "../../../src/transcript/cursor.ts";
import {
  agentEvent,
  agentItem,
  allEntries,
  BUDGET,
  call,
  chat,
  complete,
  found,
  Home,
  line,
  linesOf,
  meta,
  NINE,
  output,
  toldChat,
  userEvent,
  userItem,
  uuid,
} from "./home.ts";

const ID = uuid(NINE);
const item = (ms: number, thread: string, value: object): object =>
  line(ms, "event_msg", { type: "item_completed", thread_id: thread, turn_id: "t", item: value });
const said = (text: string): object => ({ type: "AgentMessage", id: "m", content: [{ type: "Text", text }] });
const asked = (text: string): object => ({
  type: "UserMessage",
  id: "u",
  content: [{ type: "text", text, text_elements: [] }],
});

test("a file with user events shows each message once, by its event", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID), userItem(1, "hi"), userEvent(2, "hi"), agentEvent(3, "hello"), agentItem(4, "hello")]);
  assert.deepEqual(await toldChat(home.store(), ID), ['user: "hi"', 'assistant: "hello"']);
});

test("a paginated file shows each message once, by its finished item, and no other thread's", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [
    meta(ID, { history_mode: "paginated" }),
    userItem(1, "hi"),
    item(2, ID, asked("hi")),
    item(3, uuid(NINE, 9), asked("review this")),
    item(4, ID, said("hello")),
    agentItem(5, "hello"),
  ]);
  assert.deepEqual(await toldChat(home.store(), ID), ['user: "hi"', 'assistant: "hello"']);
});

test("a file without user events is read by its raw items throughout, also when such events come later", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [
    meta(ID),
    userItem(1, "hi"),
    agentItem(2, "hello"),
    userItem(3, "more"),
    userEvent(4, "more"),
    agentEvent(5, "done"),
    agentItem(6, "done"),
  ]);
  assert.deepEqual(await toldChat(home.store(), ID), [
    'user: "hi"',
    'assistant: "hello"',
    'user: "more"',
    'assistant: "done"',
  ]);
});

test("a message that may yet get its event waits, and shows as it is when the file was left like that", async (t) => {
  const home = new Home(t);
  const path = home.rollout(ID, [meta(ID), userItem(1, "hi")]);
  home.clock.at = Date.now();
  const store = home.store();
  const ref = await found(store, ID);
  const early = await store.entries(ref, START, BUDGET);
  assert.deepEqual([early.entries, early.settled], [[], false]);
  appendFileSync(path, linesOf([userEvent(2, "hi")]));
  assert.deepEqual(await toldChat(store, ID), ['user: "hi"']);
  assert.equal((await store.entries(ref, early.next, BUDGET)).entries.length, 1);

  const other = uuid(NINE, 1);
  home.rollout(other, [meta(other), userItem(1, "left alone")]);
  home.clock.at = Date.now() + 60_000;
  assert.deepEqual(await toldChat(store, other), ['user: "left alone"']);
});

test("what the CLI injects in the user's name never shows", async (t) => {
  const home = new Home(t);
  const injected = [
    "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>",
    "<user_instructions>\nx\n</user_instructions>",
    "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
    "<skill>\nx\n</skill>",
    "<turn_aborted>\nx\n</turn_aborted>",
    '<subagent_notification>\n{"agent_id":"a"}\n</subagent_notification>',
    '<codex_internal_context source="goal">x</codex_internal_context>',
    "<goal_context>x</goal_context>",
    "<recommended_plugins>x</recommended_plugins>",
    "<external_context>x</external_context>",
    '<hook_prompt id="1">x</hook_prompt>',
    "<realtime_delegation>x</realtime_delegation>",
    "<user_action>x</user_action>",
    "Warning: apply_patch was requested via shell",
    "Warning: The maximum number of unified exec processes is near",
    "Another language model started to solve this problem and produced a summary",
  ];
  const developer = line(1, "response_item", {
    type: "message",
    role: "developer",
    content: [{ type: "input_text", text: "rules" }],
  });
  home.rollout(ID, [
    meta(ID),
    developer,
    ...injected.map((text, index) => userItem(index + 2, text)),
    userItem(50, "hi"),
    agentItem(51, "hello"),
  ]);
  assert.deepEqual(await toldChat(home.store(), ID), ['user: "hi"', 'assistant: "hello"']);
});

test("parts that are told to be injected do not show, whatever their text; the person's parts do", async (t) => {
  const home = new Home(t);
  const message = {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "plain words that a harness wrote" },
      { type: "input_text", text: "<skill> is what I ask about </skill>" },
      { type: "input_text", text: '<image name=[Image #1] path="a.png">' },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_text", text: "</image>" },
    ],
    internal_chat_message_metadata_passthrough: {
      content_item_kinds: ["host_skills.instructions", "user.text", "user.image", "user.image", "user.image"],
    },
  };
  home.rollout(ID, [meta(ID), line(1, "response_item", message), agentItem(2, "hello")]);
  assert.deepEqual(await toldChat(home.store(), ID), [
    'user: "<skill> is what I ask about </skill>"',
    'assistant: "hello"',
  ]);
});

test("context events of old versions do not show, and an IDE's context before the request neither", async (t) => {
  const home = new Home(t);
  const context = line(1, "event_msg", { type: "user_message", message: "<cwd>", kind: "environment_context" });
  const request = "# Context from my IDE setup:\n\n## Open tabs\n- a.ts\n\n## My request for Codex:\nfix it";
  home.rollout(ID, [meta(ID), context, userEvent(2, request), agentEvent(3, "fixed")]);
  assert.deepEqual(await toldChat(home.store(), ID), ['user: "fix it"', 'assistant: "fixed"']);
});

test("a compaction is one item, and its replacement history never shows", async (t) => {
  const home = new Home(t);
  const compacted = line(3, "compacted", {
    message: "Summary.",
    replacement_history: [{ type: "message", role: "user", content: [{ type: "input_text", text: "old words" }] }],
  });
  home.rollout(ID, [
    meta(ID),
    userEvent(1, "hi"),
    agentItem(2, "Summary."),
    compacted,
    line(4, "event_msg", { type: "context_compacted" }),
    agentEvent(5, "on we go"),
  ]);
  assert.deepEqual(await toldChat(home.store(), ID), [
    'user: "hi"',
    "compact: context compacted",
    'assistant: "on we go"',
  ]);
  const entries = await allEntries(home.store(), await found(home.store(), ID));
  assert.deepEqual(
    entries.flatMap((entry) => (entry.kind === "marker" ? [[entry.marker, entry.text]] : [])),
    [
      ["compact", undefined],
      ["compact-summary", "Summary."],
    ],
  );
});

test("rollbacks, interruptions, errors and reviews are marked", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [
    meta(ID),
    userEvent(1, "hi"),
    line(2, "event_msg", { type: "turn_aborted", reason: "interrupted", turn_id: "t" }),
    line(3, "event_msg", { type: "thread_rolled_back", num_turns: 1 }),
    line(4, "event_msg", { type: "entered_review_mode", target: { type: "custom" }, user_facing_hint: "my changes" }),
    line(5, "event_msg", { type: "turn_aborted", reason: "review_ended", turn_id: "t" }),
    line(6, "event_msg", {
      type: "exited_review_mode",
      review_output: { findings: [{ title: "a leak" }], overall_explanation: "One fault." },
    }),
    complete(7, "t", { last_agent_message: null, error: { message: "overloaded" } }),
  ]);
  assert.deepEqual(await toldChat(home.store(), ID), [
    'user: "hi"',
    "interrupted: interrupted",
    "rewind: 1 turn taken back",
    "review: my changes",
    'review: "One fault.\\na leak"',
    'error failed: "overloaded"',
  ]);
});

test("a command of the person's shows once with its output, in every kind of file", async (t) => {
  const home = new Home(t);
  const text =
    "<user_shell_command>\n<command>\nfalse\n</command>\n<result>\nExit code: 1\nDuration: 0.1 seconds\nOutput:\nno\n\n</result>\n</user_shell_command>";
  const execution = {
    type: "CommandExecution",
    id: "x",
    command: ["bash", "-lc", "false"],
    source: "user_shell",
    aggregated_output: "no\n",
    exit_code: 1,
  };
  const paginated = uuid(NINE, 1);
  home.rollout(ID, [meta(ID), userEvent(1, "hi"), userItem(2, text)]);
  home.rollout(paginated, [
    meta(paginated, { history_mode: "paginated" }),
    item(1, paginated, asked("hi")),
    item(2, paginated, execution),
    userItem(3, text),
  ]);
  for (const id of [ID, paginated]) {
    assert.deepEqual(await toldChat(home.store(), id), ['user: "hi"', 'user: "!false"', 'bash failed: "no\\n"']);
  }
});

test("an output is named by its call however far the page that reads it begins behind, within 8 MiB", async (t) => {
  const home = new Home(t);
  const filler = (ms: number): object => line(ms, "world_state", { full: true, state: { text: "x".repeat(400_000) } });
  const fill = (count: number): object[] => Array.from({ length: count }, (_, index) => filler(index));
  home.rollout(ID, [
    meta(ID),
    userEvent(1, "hi"),
    call(2, "near", "exec_command", { cmd: "ls" }),
    ...fill(10),
    output(
      3,
      "near",
      "Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\na\n",
    ),
    call(4, "far", "exec_command", { cmd: "ls" }),
    ...fill(22),
    output(5, "far", "b\n"),
  ]);
  const items = await chat(home.store(), ID);
  assert.deepEqual(
    items.map(({ tool, text, of }) => [tool, text, of !== undefined]),
    [
      [undefined, "hi", false],
      ["exec_command", undefined, false],
      ["exec_command", "a\n", true],
      ["exec_command", undefined, false],
      ["result", "b\n", false],
    ],
  );
});

test("no picture data reaches an item", async (t) => {
  const home = new Home(t);
  const image = { type: "input_image", image_url: "data:image/png;base64,QUJD" };
  home.rollout(ID, [
    meta(ID),
    line(1, "event_msg", {
      type: "user_message",
      message: "",
      images: ["data:image/png;base64,QUJD"],
      local_images: [],
    }),
    call(2, "c", "view_image", { path: "a.png" }),
    output(3, "c", [image]),
    line(4, "response_item", {
      type: "image_generation_call",
      status: "completed",
      revised_prompt: "a cat",
      result: "QUJD",
    }),
  ]);
  const told = await toldChat(home.store(), ID);
  assert.deepEqual(told, [
    'user: "[image]"',
    "view_image: a.png",
    'view_image answers: "[image]"',
    "image_generation: a cat",
  ]);
});

test("an agent's words carry the model of their turn, and a response is one usage however often it is told", async (t) => {
  const home = new Home(t);
  const usage = {
    input_tokens: 10,
    cached_input_tokens: 4,
    cache_write_input_tokens: 1,
    output_tokens: 5,
    reasoning_output_tokens: 2,
    total_tokens: 15,
  };
  const count = line(4, "event_msg", {
    type: "token_count",
    info: { total_token_usage: usage, last_token_usage: usage },
  });
  const record = line(3, "token_usage_record", { thread_id: ID, response_id: "r", usage, thread_token_usage: usage });
  home.rollout(ID, [
    meta(ID),
    userEvent(1, "hi"),
    line(2, "turn_context", { model: "gpt-x" }),
    agentEvent(2, "hello"),
    record,
    count,
    count,
  ]);
  const entries = await allEntries(home.store(), await found(home.store(), ID));
  const [first, ...rest] = entries.flatMap((entry) => (entry.kind === "usage" ? [entry] : []));
  assert.deepEqual(
    [first?.key, first?.model, first?.tokens],
    ["t15", "gpt-x", { input: 5, output: 3, cacheRead: 4, cacheWrite: 1, reasoning: 2 }],
  );
  assert.deepEqual(new Set(rest.map(({ key }) => key)), new Set(["t15"]));
  assert.equal(entries.find((entry) => entry.kind === "assistant")?.model, "gpt-x");
});

test("what the agent thought is kept for exports, summed up and in full, in every kind of file", async (t) => {
  const home = new Home(t);
  const summary = [{ type: "summary_text", text: "Summed up." }];
  const content = [{ type: "reasoning_text", text: "In full." }];
  const raw = line(2, "response_item", { type: "reasoning", summary, content, encrypted_content: "x" });
  const thought = { type: "Reasoning", id: "r", summary_text: ["Summed up."], raw_content: ["In full."] };
  const [events, items] = [uuid(NINE, 1), uuid(NINE, 2)];
  home.rollout(ID, [meta(ID), userItem(1, "hi"), raw, agentItem(3, "hello")]);
  home.rollout(events, [
    meta(events),
    userEvent(1, "hi"),
    line(2, "event_msg", { type: "agent_reasoning", text: "Summed up." }),
    line(2, "event_msg", { type: "agent_reasoning_raw_content", text: "In full." }),
    raw,
  ]);
  home.rollout(items, [
    meta(items, { history_mode: "paginated" }),
    item(1, items, asked("hi")),
    item(2, items, thought),
    raw,
  ]);
  for (const id of [ID, events, items]) {
    const entries = await allEntries(home.store(), await found(home.store(), id));
    const thoughts = entries.flatMap((entry) => (entry.kind === "reasoning" ? [entry.text] : []));
    assert.equal(thoughts.join("\n\n"), "Summed up.\n\nIn full.", id);
    assert.equal(
      (await chat(home.store(), id)).some(({ text }) => text?.includes("Summed up.")),
      false,
    );
  }
});
