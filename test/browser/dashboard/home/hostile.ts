import { PIECES } from "../../../support/hostile.ts";
import type { Talk } from "./claude.ts";

/** All hostile pieces as one text; it names what it is, so that a test can find it. */
export const HOSTILE_TEXT = PIECES.join(" ");

/** The folder, so far as a file system takes it. */
export const HOSTILE_FOLDER = "<img src=x onerror=window.ran=1> \u202e'\"&amp;";

/** Puts every hostile piece where a session shows foreign text: one call and message a piece, and all of them at once. */
export function tellHostile(talk: Talk): void {
  talk.title(HOSTILE_TEXT).user(HOSTILE_TEXT).thinks(HOSTILE_TEXT).says(HOSTILE_TEXT);
  for (const piece of PIECES) {
    talk
      .user(`a ${piece} b`)
      .thinks(piece)
      .says(piece)
      .tool(`Bash${piece}`, { command: piece, description: piece, [piece]: piece }, piece)
      .tool("Edit", { file_path: piece, old_string: `a\n${piece}`, new_string: `b\n${piece}` }, piece, true);
  }
  talk
    .tool("Write", { file_path: HOSTILE_TEXT, content: HOSTILE_TEXT }, HOSTILE_TEXT)
    .tool("WebFetch", { url: "javascript:window.ran=1", prompt: HOSTILE_TEXT }, HOSTILE_TEXT)
    .subagent("abadbadbadbadbad1", HOSTILE_TEXT, (child) => child.says(HOSTILE_TEXT), HOSTILE_TEXT)
    .add((script) => script.slash("<script>window.ran=1</script>", HOSTILE_TEXT, HOSTILE_TEXT))
    .add((script) => script.bash(HOSTILE_TEXT, HOSTILE_TEXT))
    .add((script) => script.compacted(HOSTILE_TEXT))
    .add((script) => script.apiError(500, HOSTILE_TEXT))
    .user(HOSTILE_TEXT);
}
