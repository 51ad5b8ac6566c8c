import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { exportDocument } from "../../src/export/document.ts";
import type { ExportedMessage, ExportMeta } from "../../src/export/model.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { PAGE_BUDGET } from "../../src/stores/pages.ts";
import { openStores } from "../../src/stores/registry.ts";
import type { SessionRef, Store } from "../../src/stores/store.ts";
import { oneLine } from "../../src/transcript/clip.ts";
import { START } from "../../src/transcript/cursor.ts";
import { type Item, type ItemLimits, toItem } from "../../src/transcript/item.ts";
import { withoutAnsi } from "../../src/transcript/printable.ts";
import { summarise } from "../../src/transcript/summary.ts";
import { makeHome as makeOpenCodeHome } from "../stores/opencode/fixtures.ts";
import { readExport } from "./read-export.ts";

const fixtures = fileURLToPath(new URL("../../fixtures", import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "round-trip-")));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A home folder for each set of fixtures: those of Codex stand apart. */
function homes(): string[] {
  const all = join(folder, "all");
  cpSync(join(fixtures, "claude/projects"), join(all, ".claude/projects"), { recursive: true });
  cpSync(join(fixtures, "recorded/sessions"), join(all, ".agentproto/sessions"), { recursive: true });
  mkdirSync(join(all, ".local/share/opencode"), { recursive: true });
  makeOpenCodeHome(all);
  const codex = readdirSync(join(fixtures, "codex"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [
    all,
    ...codex.map(({ name }) => {
      const home = join(folder, name);
      cpSync(join(fixtures, "codex", name), join(home, ".codex"), { recursive: true });
      return home;
    }),
  ];
}

const uncut = (text: string) => ({ text, cut: false });
const UNCUT: ItemLimits = { text: uncut, preview: uncut, printed: (text) => uncut(withoutAnsi(text)) };

/** What chats and exports both show. */
interface Shown {
  readonly kind: string;
  readonly text?: string | undefined;
  readonly summary?: string | undefined;
  readonly error?: true | undefined;
}

/** What the pages of a chat show, the last state of what came more than once. */
async function pagedChat(store: Store, ref: SessionRef): Promise<Shown[]> {
  const items: Item[] = [];
  for (let from = START; ; ) {
    const page = await store.entries(ref, from, PAGE_BUDGET);
    for (const paged of page.entries) {
      // The rest of such an output is what `…/item` gives of it.
      const isPreview = paged.kind === "tool-result" && paged.isPreview;
      const entry = isPreview ? (await store.record(ref, paged.pos))[0] : paged;
      if (entry === undefined) continue;
      const item = toItem(entry, UNCUT);
      if (item === undefined) continue;
      const before = item.id === undefined ? -1 : items.findIndex(({ id }) => id === item.id);
      if (before < 0) items.push(item);
      else items[before] = item;
    }
    if (page.next === from) break;
    from = page.next;
  }
  return items.flatMap(shownByItem);
}

function shownByItem({ kind, tool, text, summary, subagent, error }: Item): Shown[] {
  if (kind === "subagent") return [{ kind: `subagent ${subagent?.id} ${subagent?.title}` }];
  if (kind !== "tool") return [{ kind, text }];
  if (NOTICES.has(tool ?? "")) return [{ kind: tool ?? "" }];
  const isMark = MARKS.has(tool ?? "");
  // A mark's summary stands in its text where it has none, and an output stands apart from its call.
  if (isMark)
    return [{ kind: tool ?? "", text: text ?? summary, summary: text === undefined ? undefined : summary, error }];
  if (summary === undefined) return [{ kind: `output of ${tool}`, text, error }];
  const call: Shown = { kind: `call of ${tool}`, summary };
  return text === undefined && !error ? [call] : [call, { kind: `output of ${tool}`, text, error }];
}

/** Told as calls in chats, and as what they are in exports. */
const NOTICES = new Set(["plan", "permission", "notice"]);
const MARKS = new Set(["interrupted", "error", "compact", "rewind", "oversized", "command"]);

function shownByMessage(message: ExportedMessage): Shown[] {
  const { role, text, toolCalls = [], toolName = "result", marker, summary, subagent, isError: error } = message;
  // An export keeps the escape sequences that were printed; a chat shows the text without them.
  const plain = text === undefined ? undefined : withoutAnsi(text);
  switch (role) {
    case "user":
      return [{ kind: "user", text }];
    case "assistant":
      return [
        ...(text === undefined ? [] : [{ kind: "assistant", text }]),
        ...toolCalls.map((call): Shown => {
          const given = call.summary === undefined ? summarise(call.name, call.input) : oneLine(call.summary);
          return { kind: `call of ${call.name}`, summary: given };
        }),
      ];
    case "tool":
      return message.isRunning && text === undefined ? [] : [{ kind: `output of ${toolName}`, text: plain, error }];
    case "system":
      if (subagent !== undefined) return [{ kind: `subagent ${subagent.id} ${subagent.title}` }];
      if (NOTICES.has(marker ?? "")) return text ? [{ kind: marker ?? "" }] : [];
      return marker === "compact-summary" ? [] : [{ kind: marker ?? "", text: plain, summary, error }];
  }
}

/** Without fields that say nothing, so that both sides are told alike. */
function told(shown: readonly Shown[]): unknown {
  return JSON.parse(JSON.stringify(shown));
}

for (const home of homes()) {
  test(`parsing the exported JSON of each session in ${home.slice(folder.length + 1)} gives what its chat shows`, async () => {
    const environment = environmentFrom({ home });
    const stores = openStores({ environment, clock: systemClock, watcher: createWatcher(), extraRoots: {} });
    let sessions = 0;
    for (const store of stores) {
      for (const { id } of await store.list("sweep")) {
        const ref = await store.find(id);
        assert.ok(ref);
        const refs = [ref];
        for (const child of (await store.children(ref)).children) {
          const childRef = await store.child(ref, child.id);
          if (childRef !== undefined) refs.push(childRef);
        }
        for (const one of refs) {
          sessions++;
          await assertRoundTrip(store, one);
        }
      }
    }
    assert.ok(sessions > 0);
  });
}

async function assertRoundTrip(store: Store, ref: SessionRef): Promise<void> {
  const options = { format: "json", subagents: false, reasoning: true } as const;
  const document = await exportDocument({ store, ref, source: "native" }, options, { folder: join(folder, "cache") });
  const { meta, messages } = await readExport(document);
  const what = `${store.agent}/${ref.id}/${ref.child ?? ""}`;
  assert.deepEqual(told(messages.flatMap(shownByMessage)), told(await pagedChat(store, ref)), what);
  assertMeta(meta, messages, what);
}

function assertMeta(meta: ExportMeta, messages: readonly ExportedMessage[], what: string): void {
  assert.equal(meta.messageCount, messages.length, what);
  assert.equal(meta.toolCallCount, messages.flatMap(({ toolCalls = [] }) => toolCalls).length, what);
  assert.ok(Object.values(meta.tokens).every(Number.isSafeInteger), what);
}
