import { cpSync, globSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import type { Meter } from "../../../src/stores/claude/meter.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import type { Budget, ChildEntry } from "../../../src/stores/store.ts";
import { START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { type Item, toItems } from "../../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../../src/transcript/limits.ts";
import { requireSessionId, type SessionId } from "../../../src/transcript/names.ts";

/** A Claude home with all fixtures: `projects/<folder>/<session>.jsonl`. */
export const FIXTURES = fileURLToPath(new URL("../../../fixtures/claude", import.meta.url));

/** The budget that the server gives a page. */
export const PAGE: Budget = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** A time long after every fixture, so that nothing waits for a subagent. */
export const LATER: Clock = { now: () => Date.parse("2030-01-01T00:00:00Z") as EpochMs };

/** A folder of the test's own, removed afterwards. */
export function temporaryFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "claude-chats-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of the fixtures' `projects` folder, removed afterwards. */
export function copiedProjects(t: TestContext): string {
  const projects = join(temporaryFolder(t), "projects");
  cpSync(join(FIXTURES, "projects"), projects, { recursive: true });
  return projects;
}

/** Where every session below `projects` lies. */
export function placesIn(projects: string): ClaudePlace[] {
  return globSync("*/*.jsonl", { cwd: projects })
    .filter((file) => !basename(file).startsWith("agent-"))
    .sort()
    .map((file) => placeOf(projects, join(projects, file)));
}

/** The place of the session whose transcript is `file`. */
export function placeOf(projects: string, file: string): ClaudePlace {
  const session = requireSessionId(basename(file, ".jsonl"));
  return { root: realpathSync(projects), file, session, mainFile: file, sideFolder: join(dirname(file), session) };
}

/** The place of the session `id` below `projects`. */
export function placeNamed(projects: string, id: string): ClaudePlace {
  const place = placesIn(projects).find(({ session }) => session.startsWith(id));
  if (place === undefined) throw new Error(`no fixture ${id}`);
  return place;
}

/** Chats that have seen nothing yet. */
export function freshChats(meter?: Meter, live: (session: SessionId) => boolean = () => false): ClaudeChats {
  return new ClaudeChats({ clock: LATER, isLive: live, ...(meter && { meter }) });
}

/** All the entries of a chat, read page by page. */
export async function wholeChat(chats: ClaudeChats, place: ClaudePlace, budget: Budget = PAGE): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let from = START; ; ) {
    const page = await chats.entries(place, from, budget);
    entries.push(...page.entries);
    if (page.next === from) return entries;
    from = page.next;
  }
}

/** What a session shows: its chat, its subagents, and their chats. */
export interface Shown {
  readonly chat: readonly Item[];
  readonly subagents: readonly ChildEntry[];
  readonly chats: { readonly [child: string]: readonly Item[] };
}

/** Reads all that the session at `place` shows. */
export async function shown(chats: ClaudeChats, place: ClaudePlace): Promise<Shown> {
  const { children } = await chats.children(place);
  const below: { [child: string]: Item[] } = {};
  for (const { id } of children) {
    const child = await chats.child(place, id);
    if (child !== undefined) below[id] = toItems(await wholeChat(chats, child));
  }
  return { chat: toItems(await wholeChat(chats, place)), subagents: children, chats: below };
}

/** `value` as JSON that people can read: an item a line. */
export function readableJson({ chat, subagents, chats }: Shown): string {
  const lines = (values: readonly unknown[]): string =>
    values.length === 0 ? "[]" : `[\n${values.map((value) => `    ${JSON.stringify(value)}`).join(",\n")}\n  ]`;
  const below = Object.entries(chats).map(([id, items]) => `  "${id}": ${lines(items)}`);
  return `{\n  "chat": ${lines(chat)},\n  "subagents": ${lines(subagents)},\n  "chats": {\n${below.join(",\n")}\n  }\n}\n`;
}
