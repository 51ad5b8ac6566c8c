import { createEventText } from "../agents/show-event.ts";
import { clip } from "../transcript/clip.ts";
import { printable } from "../transcript/printable.ts";
import type { AgentHost, AgentRecords } from "./host.ts";

/** What happened in a session since the record `since`, as much as the limit lets. @throws Failure as `records` · the signal's reason */
export async function happened(
  agents: AgentHost,
  session: string,
  { since, limit, signal }: { readonly since: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<{ readonly text: string; readonly nextSeq: number; readonly complete: boolean }> {
  const events = createEventText();
  let text = "";
  let nextSeq = since;
  for (;;) {
    signal.throwIfAborted();
    const from = nextSeq;
    const page: AgentRecords = await agents.records(session, from);
    for (const { seq, event } of page.records) {
      const more = event === undefined ? "" : printable(events.show(event));
      if (text !== "" && text.length + more.length > limit) return { text, nextSeq, complete: false };
      text += more.length > limit ? `${clip(more, limit).text}\n(cut: read_session gives it whole)\n` : more;
      nextSeq = seq;
    }
    if (!page.complete && page.next !== from) nextSeq = page.next;
    else if (page.records.length > 0 || from !== since) return { text, nextSeq: page.next, complete: true };
    // Nothing came: the number may be one that no record has had yet, and what gets it is not to be passed over.
    else return { text, nextSeq: await lastUpTo(agents, session, since, signal), complete: true };
  }
}

/** The number of the last record, when that is below `since`; else `since`. */
async function lastUpTo(agents: AgentHost, session: string, since: number, signal: AbortSignal): Promise<number> {
  if (since === 0 || (await agents.records(session, since - 1)).records.length > 0) return since;
  for (let last = 0, from = 0; ; ) {
    signal.throwIfAborted();
    const { records, next, complete } = await agents.records(session, from);
    last = records.at(-1)?.seq ?? last;
    if (complete || next === from) return last;
    from = next;
  }
}
