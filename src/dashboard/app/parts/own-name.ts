import { read } from "../api.ts";
import type { OwnSession, RowPage } from "../wire.ts";
import { agentName } from "./agent-name.ts";
import { folderName } from "./folders.ts";

/** What sessions were asked first, by their ids. */
export type Titles = ReadonlyMap<string, string>;

/** As many as the server lists at once are enough: older sessions are told apart by where and when they began. */
const MOST = 200;

/** The titles of the sessions that were recorded last. A help only: none where they can't be had. */
export async function recordedTitles(signal: AbortSignal): Promise<Titles> {
  const page = await read<RowPage>("/api/transcripts", { agent: "daemon", limit: MOST }, signal).catch(() => undefined);
  return new Map(page?.transcripts.map(({ id, title }) => [id, title]));
}

/** Whether a session would be called by its title, which is not known as yet. */
export function lacksTitle({ id, name, kind }: Pick<OwnSession, "id" | "name" | "kind">, title = id): boolean {
  return !name && kind === "agent" && title === id;
}

/**
 * What a session is called wherever it is shown: its name, else its `title` (what it was asked first) or the command that
 * it is, else which agent it is of, where it works and since when.
 */
export function ownName(
  {
    id,
    name,
    kind,
    agent,
    argv = [],
    cwd,
    startedAt,
  }: Pick<OwnSession, "id" | "name" | "kind" | "agent" | "argv" | "cwd" | "startedAt">,
  title?: string,
): string {
  // A recording in which nothing was asked yet is listed under its id.
  const asked = kind === "agent" && title !== id ? title : undefined;
  const startedWords = new Date(startedAt).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  const facts = [agentName(agent ?? "daemon"), folderName(cwd), startedWords];
  return name || asked || argv.join(" ") || facts.filter(Boolean).join(" · ");
}
