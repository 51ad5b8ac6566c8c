import assert from "node:assert/strict";
import { test } from "node:test";
import { callOf } from "../../../src/stores/codex/call.ts";
import { readOutput } from "../../../src/stores/codex/output.ts";
import { summarise } from "../../../src/transcript/summary.ts";

const PATCH = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch";

const CALLS: readonly [string, object, string, string][] = [
  [
    "shell (0.20)",
    { type: "function_call", name: "shell", arguments: '{"command":["bash","-lc","ls"]}' },
    "shell",
    "ls",
  ],
  [
    "shell_command (0.72)",
    { type: "function_call", name: "shell_command", arguments: '{"command":"ls"}' },
    "shell_command",
    "ls",
  ],
  [
    "exec_command (0.101)",
    { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' },
    "exec_command",
    "ls",
  ],
  ["local shell", { type: "local_shell_call", action: { type: "exec", command: ["ls", "-l"] } }, "shell", "ls -l"],
  [
    "a patch as a custom tool",
    { type: "custom_tool_call", name: "apply_patch", input: PATCH },
    "apply_patch",
    "hello.txt",
  ],
  [
    "a patch as a function",
    { type: "function_call", name: "apply_patch", arguments: JSON.stringify({ input: PATCH }) },
    "apply_patch",
    "hello.txt",
  ],
  [
    "a patch in a shell script",
    {
      type: "function_call",
      name: "exec_command",
      arguments: JSON.stringify({ cmd: `apply_patch <<'EOF'\n${PATCH}\nEOF` }),
    },
    "apply_patch",
    "hello.txt",
  ],
  [
    "a script that mentions a patch",
    { type: "function_call", name: "exec_command", arguments: '{"cmd":"cat apply_patch"}' },
    "exec_command",
    "cat apply_patch",
  ],
  [
    "MCP (0.58)",
    { type: "function_call", name: "mcp__demo__echo", arguments: '{"text":"hey"}' },
    "mcp__demo__echo",
    '{"text":"hey"}',
  ],
  [
    "MCP (0.125)",
    { type: "function_call", name: "echo", namespace: "mcp__demo__", arguments: '{"text":"hey"}' },
    "mcp__demo__echo",
    '{"text":"hey"}',
  ],
  [
    "MCP (0.142)",
    { type: "function_call", name: "echo", namespace: "mcp__demo", arguments: '{"text":"hey"}' },
    "mcp__demo__echo",
    '{"text":"hey"}',
  ],
  [
    "web search",
    { type: "web_search_call", action: { type: "search", query: "serde", queries: ["serde"] } },
    "web_search",
    "serde",
  ],
  [
    "web page",
    { type: "web_search_call", action: { type: "open_page", url: "https://a.b" } },
    "web_search",
    "https://a.b",
  ],
  [
    "plan",
    { type: "function_call", name: "update_plan", arguments: '{"plan":[{"step":"one","status":"in_progress"}]}' },
    "update_plan",
    "one (1 steps)",
  ],
  ["code mode", { type: "custom_tool_call", name: "exec", input: "await tools.ls()" }, "exec", "await tools.ls()"],
  ["arguments that are no JSON", { type: "function_call", name: "old", arguments: "ls -l" }, "old", "ls -l"],
  ["arguments that are an object", { type: "function_call", name: "old", arguments: { path: "a" } }, "old", "a"],
  [
    "an encrypted follow-up",
    {
      type: "function_call",
      name: "followup_task",
      namespace: "collaboration",
      arguments: '{"target":"worker","message":"gAAAA"}',
    },
    "followup_task",
    "worker",
  ],
];

for (const [what, payload, tool, summary] of CALLS) {
  test(`a call is named and told: ${what}`, () => {
    const call = callOf({ ...payload });
    assert.deepEqual([call?.tool, call?.summary ?? summarise(call?.tool ?? "", call?.input)], [tool, summary]);
  });
}

const OUTPUTS: readonly [string, unknown, string, boolean][] = [
  ["0.20", '{"output":"hi\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}', "hi\n", false],
  ["0.20, failed", '{"output":"","metadata":{"exit_code":3,"duration_seconds":0.0}}', "", true],
  ["0.72", "Exit code: 0\nWall time: 0 seconds\nOutput:\nhi\n", "hi\n", false],
  ["0.72, failed", "Exit code: 3\nWall time: 0 seconds\nOutput:\n", "", true],
  [
    "unified exec",
    "Chunk ID: 75\nWall time: 0.05 seconds\nProcess exited with code 0\nOriginal token count: 7\nOutput:\nhi\n",
    "hi\n",
    false,
  ],
  [
    "unified exec, failed",
    "Chunk ID: 75\nWall time: 0.05 seconds\nProcess exited with code 3\nOriginal token count: 0\nOutput:\n",
    "",
    true,
  ],
  [
    "unified exec, going on",
    "Chunk ID: 75\nWall time: 1.0 seconds\nProcess running with session ID 560\nOriginal token count: 0\nOutput:\n",
    "Process running with session ID 560",
    false,
  ],
  [
    "a patch in a shell",
    "Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n",
    "Success.\n",
    false,
  ],
  [
    "a patch in a shell, failed",
    "Wall time: 0.0 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nno\n",
    "no\n",
    true,
  ],
  ["MCP, JSON text", '[{"text":"echo: hey","type":"text"}]', "echo: hey", false],
  [
    "MCP, JSON text behind a wall time",
    'Wall time: 0.0 seconds\nOutput:\n[{"type":"text","text":"echo: hey"}]',
    "echo: hey",
    false,
  ],
  [
    "MCP, parts",
    [
      { type: "input_text", text: "Wall time: 0.0 seconds\nOutput:" },
      { type: "input_text", text: "echo: hey" },
    ],
    "echo: hey",
    false,
  ],
  ["a JSON list that a program printed", '[{"name":"a"}]', '[{"name":"a"}]', false],
  ["a text that begins like a head", "Output:\nx", "Output:\nx", false],
  ["aborted", "aborted by user after 3.0s", "aborted by user after 3.0s", true],
  ["aborted (0.171)", "Wall time: 2.8 seconds\naborted by user", "aborted by user", true],
  ["unsupported", "unsupported call: wait", "unsupported call: wait", true],
  [
    "bad arguments",
    "failed to parse function arguments: missing field",
    "failed to parse function arguments: missing field",
    true,
  ],
  [
    "a picture and encrypted content",
    [
      { type: "input_image", image_url: "data:x" },
      { type: "encrypted_content", encrypted_content: "gA" },
    ],
    "[image]",
    false,
  ],
  ["an object", { content: "no", success: false }, "no", true],
  ["nothing", undefined, "", false],
];

for (const [what, value, text, isError] of OUTPUTS) {
  test(`an output shows what was printed: ${what}`, () => {
    assert.deepEqual(readOutput(value), { text, isError });
  });
}
