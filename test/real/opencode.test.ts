import { OPENCODE } from "./agents.ts";
import { suite } from "./suite.ts";

suite(OPENCODE, {
  chat: [
    "user: @say Looking.",
    "assistant: Looking.",
    "tool bash: echo one → one",
    "assistant: Now a failure.",
    "tool bash (error): echo two; exit 3 → two",
    "tool bash (cut): seq 1 60000 → ...output truncated...",
    "assistant: All done.",
  ],
  tellsLive: false,
  refused: ["user: @error 400", "tool error (error): APIError 400: a scripted failure"],
  store: ".local/share/opencode",
  log: /^log(\/|$)/,
});
