import { clip, oneLine } from "../../transcript/clip.ts";
import type { SubagentLink } from "../../transcript/entry.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";

/** A session that a task names, as far as it is there. */
export interface NamedChild {
  readonly id: SessionId;
  readonly title: string | undefined;
  readonly created: number;
}

/** The children that the tasks of a page name. */
export class ChildNames {
  readonly #children: ReadonlyMap<SessionId, NamedChild>;

  constructor(children: Iterable<NamedChild>) {
    this.#children = new Map([...children].map((child) => [child.id, child]));
  }

  /**
   * The link to `id` at a call in a message of the time `calledAt`, once per child: a child is made after the message
   * that calls for it, so a later message only resumes it. (A fork keeps the times of the messages it copies.)
   */
  linkAt(
    id: SessionId,
    calledAt: number,
    call: { readonly title: string | undefined; readonly resumes: boolean },
  ): SubagentLink | undefined {
    const child = this.#children.get(id);
    const first = child === undefined ? !call.resumes : calledAt <= child.created;
    if (!first) return undefined;
    return { id, title: titleOf(child?.title ?? call.title ?? "subagent"), agent: "opencode" };
  }
}

/** `text` as a title: one line of at most 160 characters. */
export function titleOf(text: string): string {
  return clip(oneLine(text.slice(0, TITLE_CHARACTERS * 16)), TITLE_CHARACTERS).text;
}

/** A title that OpenCode (1.18.33) gives until it has made one. */
export function isPlaceholder(title: string): boolean {
  return /^(?:New|Child) session - \d{4}-\d\d-\d\dT/.test(title);
}
