import { NAME_CHARACTERS, peerNameOf } from "../peers/names.ts";
import { Failure } from "../platform/failure.ts";
import { choice, text, type Valued } from "./arguments.ts";

/** The name of a session or peer: one that a URL can hold, so `host/name` stays free for those of other machines. */
export function nameOption(help: string): Valued<string> {
  return {
    ...text("NAME", help),
    read(given, option) {
      const name = given.trim() === "" ? undefined : peerNameOf(given);
      if (name !== undefined) return name;
      const rule = `1 to ${NAME_CHARACTERS} characters without / and control characters, and not . or ..`;
      throw new Failure("usage", `${option} takes a name of ${rule}`);
    },
  };
}

/** What a session is started with, besides its agent. */
export const STARTING = {
  cwd: { ...text("DIR", "the folder to start in (this one)"), completes: "folder" } as const,
  name: nameOption("what the session is called"),
  model: text("NAME", "the model to use, by the agent's name for it"),
  permit: choice("how the agent's questions for permission are answered (deny)", ["ask", "deny", "allow"]),
};
