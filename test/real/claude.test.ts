import { CLAUDE } from "./agents.ts";
import { suite } from "./suite.ts";

suite(CLAUDE, {
  chat: [
    "user: @say Looking.",
    "assistant: Looking.",
    "tool Bash: echo one",
    "tool Bash →: one",
    "assistant: Now a failure.",
    "tool Bash: echo two; exit 3",
    "tool Bash → (error): Exit code 3",
    "tool Bash: seq 1 60000",
    "tool Bash → (cut): <persisted-output>",
    "assistant: All done.",
  ],
  tellsLive: true,
  refused: ["user: @error 400", "tool error → (error): API Error: 400 a scripted failure"],
  store: ".claude/projects",
});
