import { Failure } from "../../platform/failure.ts";
import { stampOf } from "../../platform/files.ts";
import { CHILDREN } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { ChildEntry, ChildList, Totals } from "../store.ts";
import { verdictOfMessage } from "./children.ts";
import { messagesOf } from "./file-chat.ts";
import type { FileSession } from "./file-sessions.ts";
import type { Problems } from "./problems.ts";
import { Sum } from "./totals.ts";

/** The direct children of an old session, newest first, at most `most`. One that did not end can't be at work any more. */
export async function fileChildren(
  parent: FileSession,
  all: readonly FileSession[],
  problems: Problems,
  most = CHILDREN,
): Promise<ChildList> {
  if (stampOf(parent.file) === undefined) throw new Failure("not-found", "no such transcript");
  const files = childrenIn(parent, all)
    .sort(({ facts: a }, { facts: b }) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1))
    .slice(0, most);
  const children: ChildEntry[] = [];
  for (const file of files) {
    const messages = await messagesOf(file, problems);
    const last = messages[messages.length - 1];
    const { id, title, startedAt, updatedAt } = file.facts;
    children.push({ id, title, status: (last && verdictOfMessage(last)) ?? "interrupted", startedAt, updatedAt });
  }
  const stamps = [parent, ...files].map(({ file }) => stampOf(file)).filter((stamp) => stamp !== undefined);
  return { children, uses: stamps, settled: true };
}

/** The child `id` of an old session, if it is one. */
export function fileChild(parent: FileSession, id: SessionId, all: readonly FileSession[]): FileSession | undefined {
  return childrenIn(parent, all).find(({ facts }) => facts.id === id);
}

/** What an old session and the sessions below it have used. */
export async function fileTotals(
  session: FileSession,
  all: readonly FileSession[],
  problems: Problems,
): Promise<Totals> {
  const sum = new Sum();
  const seen = new Set<FileSession>([session]);
  for (const file of seen) {
    for (const { tokens, cost } of await messagesOf(file, problems)) sum.addTokens(tokens ?? {}, cost);
    for (const child of childrenIn(file, all)) seen.add(child);
  }
  return sum.totals;
}

function childrenIn(parent: FileSession, all: readonly FileSession[]): FileSession[] {
  return all.filter(({ facts }) => facts.parent === parent.facts.id && facts.id !== parent.facts.id);
}
