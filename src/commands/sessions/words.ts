import { Failure } from "../../platform/failure.ts";

/** The one word behind a verb: the id or name of a session. @throws Failure usage */
export function sessionWord(verb: string, words: readonly string[]): string {
  const [id, ...more] = words;
  if (id === undefined || id === "") {
    throw new Failure("usage", `sessions ${verb} needs the id or name of a session; see agent-bridge sessions`);
  }
  if (more[0] !== undefined) throw new Failure("usage", `sessions ${verb} does not take "${more[0]}"`);
  return id;
}
