import type { SessionId } from "../../transcript/names.ts";

/** Where a Claude Code session, or a subagent of one, lies. */
export interface ClaudePlace {
  /** Real path of the `projects` folder (or an extra root's) that everything read must lie in. */
  readonly root: string;
  /** The transcript. */
  readonly file: string;
  /** The main session's id, also when this is a subagent's place. */
  readonly session: SessionId;
  /** The main session's transcript; the same as `file` for the session itself and for an inline sidechain. */
  readonly mainFile: string;
  /** `<project>/<session id>`: `subagents/` and `tool-results/` are in it. It may not exist. */
  readonly sideFolder: string;
  /**
   * Side folders (real paths) that the session left behind in other project folders, when its transcript was moved without
   * them: what is in them is still its own.
   */
  readonly leftBehind?: readonly string[];
  /** A subagent kept inside the main transcript (Claude Code 2.0 and older): the key that tells its records. */
  readonly sidechain?: string;
}

/** Every side folder of the session at `place`: the one beside its transcript, then those that it left behind. */
export function sideFoldersOf({ sideFolder, leftBehind = [] }: ClaudePlace): readonly string[] {
  return [sideFolder, ...leftBehind];
}
