import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import type { ListingWork } from "../../../src/stores/recorded/catalogue.ts";
import { RecordedStore } from "../../../src/stores/recorded/store.ts";
import type { SessionRef } from "../../../src/stores/store.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { type Item, toItems } from "../../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../../src/transcript/limits.ts";
import { sid } from "../../support/fake-store.ts";

/** What every page may consume. */
export const BUDGET = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** 3 February 2026, 10:00 UTC. */
export const TEN = Date.UTC(2026, 1, 3, 10);

/** A record less its envelope. */
export type Body = { readonly kind: string; readonly [field: string]: unknown };

/** `bodies` as the writer puts them: `seq` from `from`, a time that is one second later each. */
export function lines(bodies: readonly Body[], from = 1): string {
  return bodies
    .map(({ kind, ...fields }, index) => {
      const seq = from + index;
      const ts = new Date(TEN + seq * 1000).toISOString();
      return `${JSON.stringify({ seq, ts, kind, sessionId: "ses_1", ...fields })}\n`;
    })
    .join("");
}

/** A home of recordings in a temporary folder, and a store over it. */
export class Home {
  readonly path: string;
  readonly work: ListingWork = { folders: 0, stats: 0, reads: 0 };
  readonly store: RecordedStore;

  constructor(t: TestContext, extraRoots: readonly string[] = []) {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "recorded-")));
    t.after(() => rmSync(this.path, { recursive: true, force: true }));
    const home = this.path;
    this.store = new RecordedStore({
      environment: environmentFrom({ home }),
      clock: systemClock,
      watcher: createWatcher(),
      extraRoots,
      work: this.work,
    });
    mkdirSync(join(home, ".agentproto", "sessions"), { recursive: true });
  }

  file(id: string): string {
    return join(this.path, ".agentproto", "sessions", id, "events.jsonl");
  }

  write(id: string, content: string): void {
    mkdirSync(join(this.file(id), ".."), { recursive: true });
    writeFileSync(this.file(id), content);
  }

  append(id: string, content: string): void {
    appendFileSync(this.file(id), content);
  }

  async ref(id: string): Promise<SessionRef> {
    const ref = await this.store.find(sid(id));
    if (ref === undefined) throw new Error(`${id} is not found`);
    return ref;
  }

  /** The chat of a recording of `bodies`. */
  async chat(...bodies: Body[]): Promise<readonly Entry[]> {
    this.write("ses_1", lines(bodies));
    return (await this.store.entries(await this.ref("ses_1"), START, BUDGET)).entries;
  }

  /** As `chat`, as it is shown, less what has no bearing on what is said. */
  async shown(...bodies: Body[]): Promise<readonly Partial<Item>[]> {
    return toItems(await this.chat(...bodies)).map(({ at: _at, ref: _ref, ...item }) => item);
  }

  /** All the entries from `from` on, read in pages of `bytes`, and where they end. */
  async read(id: string, bytes: number, from: Cursor = START): Promise<{ entries: Entry[]; next: Cursor }> {
    const ref = await this.ref(id);
    const pages: Entry[] = [];
    for (let next = from; ; ) {
      const page = await this.store.entries(ref, next, { bytes, parts: 200 });
      pages.push(...page.entries);
      if (page.next === next) return { entries: pages, next };
      next = page.next;
    }
  }
}

/** What a reader has who replaces what comes again under its id. */
export function settled(entries: readonly Entry[]): Entry[] {
  const held = new Map<string, Entry>();
  for (const [index, entry] of entries.entries()) held.set(entry.id ?? `#${index}`, entry);
  return [...held.values()];
}
