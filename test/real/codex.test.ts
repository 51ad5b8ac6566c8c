import { CODEX } from "./agents.ts";
import { suite } from "./suite.ts";

suite(CODEX, {
  chat: [
    "user: @say Looking.",
    "assistant: Looking.",
    "tool exec_command: echo one",
    "tool exec_command →: one",
    "assistant: Now a failure.",
    "tool exec_command: echo two; exit 3",
    "tool exec_command → (error): two",
    "tool exec_command: seq 1 60000",
    "tool exec_command → (cut): Warning: truncated output (original token count: 87224)",
    "assistant: All done.",
  ],
  tellsLive: true,
  refused: [
    "user: @error 400",
    'tool error → (error): {"error":{"message":"a scripted failure","type":"invalid_request_error","code":"scripted"}}',
  ],
  store: ".codex",
  log: /^logs_\d+\.sqlite/,
});
