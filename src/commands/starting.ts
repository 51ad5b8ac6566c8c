import { choice, text } from "./arguments.ts";

/** What a session is started with, besides its agent. */
export const STARTING = {
  cwd: text("DIR", "the folder to start in (this one)"),
  name: text("NAME", "what the session is called"),
  model: text("NAME", "the model to use, by the agent's name for it"),
  permit: choice("how the agent's questions for permission are answered (deny)", ["ask", "deny", "allow"]),
};
