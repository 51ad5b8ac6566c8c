import assert from "node:assert/strict";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { environmentFrom } from "../../src/platform/environment.ts";
import { asObject } from "../../src/platform/read.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { openClaude } from "../../src/stores/claude/open.ts";
import { CodexStore } from "../../src/stores/codex/store.ts";
import type { Budget, SessionRef, Store } from "../../src/stores/store.ts";
import { START } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { toItem } from "../../src/transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../../src/transcript/limits.ts";
import { FIXTURES as CLAUDE, LATER } from "./claude/fixtures.ts";
import { NO_WATCHER } from "./codex/home.ts";
import { makeHome, openStore as openOpenCode, rowsOf } from "./opencode/fixtures.ts";
import { openStore as openRecorded, FIXTURES as RECORDED } from "./recorded/fixtures.ts";

/** A home with fixtures. */
interface Given {
  readonly name: string;
  /** A store that has seen nothing. */
  open(): Store;
  /** Everything readable that agents thought, as the home's files hold it. */
  thoughts(): readonly string[];
}

const CODEX = fileURLToPath(new URL("../../fixtures/codex", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "export-model-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
makeHome(scratch);

const HOMES: readonly Given[] = [
  {
    name: "claude",
    open: () =>
      openClaude({
        environment: environmentFrom({ home: scratch, variables: { CLAUDE_CONFIG_DIR: CLAUDE } }),
        clock: LATER,
        watcher: createWatcher(),
        extraRoots: {},
      }),
    thoughts: () => valuesIn(join(CLAUDE, "projects"), ({ type, thinking }) => type === "thinking" && thinking),
  },
  ...readdirSync(CODEX, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }): Given => {
      const variables = { CODEX_HOME: join(CODEX, name) };
      const environment = environmentFrom({ home: scratch, variables, bridgeHome: join(scratch, "bridge") });
      return {
        name: `codex ${name}`,
        open: () => new CodexStore({ environment, clock: LATER, watcher: NO_WATCHER, locks: () => "" }),
        thoughts: () => valuesIn(join(CODEX, name), ({ type, text }) => type === "summary_text" && text),
      };
    }),
  {
    name: "opencode",
    open: () => openOpenCode(scratch),
    thoughts: () => ["1.18.33", "2.0"].flatMap((version) => found(rowsOf(version), isReasoning)),
  },
  {
    name: "recorded",
    open: () => openRecorded(RECORDED),
    thoughts: () => valuesIn(RECORDED, ({ kind, text }) => kind === "thought" && text),
  },
];

for (const { name, open, thoughts } of HOMES) {
  test(`${name}: reading a chat whole gives the same entries, however it is paged`, async () => {
    for (const [title, ref] of await chatsOf(open())) {
      const whole = await read(open(), ref, { bytes: PAGE_BYTES, parts: PAGE_PARTS });
      for (const budget of await budgetsOf(open(), ref)) {
        assert.deepEqual(await read(open(), ref, budget), whole, `${title} by ${JSON.stringify(budget)}`);
      }
    }
  });

  test(`${name}: a result says which call it answers, and that call stands there`, async () => {
    for (const [title, ref] of await chatsOf(open())) {
      const entries = await read(open(), ref, { bytes: PAGE_BYTES, parts: PAGE_PARTS });
      const calls = entries.filter((entry) => entry.kind === "tool-call");
      for (const result of entries.filter((entry) => entry.kind === "tool-result")) {
        const call = calls.findLast(({ callId }) => callId !== undefined && callId === result.callId);
        assert.deepEqual([result.of, result.of && result.tool], [call?.pos, call?.tool], `${title} at ${result.pos}`);
      }
      const ids = calls.flatMap(({ callId, tool }) => (callId === undefined || tool === "permission" ? [] : callId));
      assert.equal(new Set(ids).size, ids.length, `${title} has each call once`);
    }
  });

  test(`${name}: what a rewind takes back begins with a prompt before it`, async () => {
    for (const [title, ref] of await chatsOf(open())) {
      const entries = await read(open(), ref, { bytes: PAGE_BYTES, parts: PAGE_PARTS });
      for (const [index, entry] of entries.entries()) {
        if (entry.kind !== "marker" || entry.marker !== "rewind") continue;
        const before = entries.slice(0, index);
        assert.ok(
          before.some(({ kind, pos }) => kind === "user" && pos === entry.takesBack),
          `${title} at ${entry.pos}`,
        );
        assert.equal(toItem(entry) !== undefined && "takesBack" in (toItem(entry) ?? {}), false);
      }
    }
  });

  test(`${name}: all that agents thought is there, as far as it can be read`, async () => {
    let all = "";
    for (const [, ref] of await chatsOf(open())) {
      for (const entry of await read(open(), ref, { bytes: PAGE_BYTES, parts: PAGE_PARTS })) {
        if (entry.kind === "reasoning") all += `${entry.text}\n\n`;
      }
    }
    for (const thought of thoughts()) assert.ok(all.includes(thought), thought);
  });
}

/** Every session of a store, and every subagent. */
async function chatsOf(store: Store): Promise<[title: string, ref: SessionRef][]> {
  const chats: [string, SessionRef][] = [];
  for (const { id } of await store.list("sweep")) {
    const ref = await store.find(id);
    if (ref === undefined) continue;
    chats.push([id, ref]);
    for (const child of (await store.children(ref)).children) {
      const there = await store.child(ref, child.id);
      if (there !== undefined) chats.push([`${id} ${child.id}`, there]);
    }
  }
  assert.ok(chats.length > 0);
  return chats;
}

/** All entries, an item that comes again in the place of the one before. */
async function read(store: Store, ref: SessionRef, budget: Budget): Promise<Entry[]> {
  const entries: Entry[] = [];
  const places = new Map<string, number>();
  for (let from = START; ; ) {
    const page = await store.entries(ref, from, budget);
    for (const entry of page.entries) {
      const place = entry.id === undefined ? undefined : places.get(`${entry.kind} ${entry.id}`);
      if (entry.id !== undefined && place === undefined) places.set(`${entry.kind} ${entry.id}`, entries.length);
      entries[place ?? entries.length] = entry;
    }
    if (page.next === from) return entries;
    from = page.next;
  }
}

/** Small pages that hold every record, and some that are larger. */
async function budgetsOf(store: Store, ref: SessionRef): Promise<Budget[]> {
  if (store.agent === "opencode") return [1, 7].map((parts) => ({ bytes: PAGE_BYTES, parts }));
  let bytes = 1024;
  const isOversized = (entry: Entry): boolean => entry.kind === "marker" && entry.marker === "oversized";
  while ((await read(store, ref, { bytes, parts: PAGE_PARTS })).some(isOversized)) bytes = Math.ceil(bytes * 1.5);
  return [bytes, bytes * 3 + 7].map((size) => ({ bytes: size, parts: PAGE_PARTS }));
}

type Pick = (fields: { readonly [key: string]: unknown }) => unknown;

const isReasoning: Pick = ({ type, text }) => type === "reasoning" && text;

/** The texts that `pick` finds in the lines of all transcripts below a folder. */
function valuesIn(folder: string, pick: Pick): string[] {
  return globSync("**/*.jsonl", { cwd: folder }).flatMap((file) =>
    readFileSync(join(folder, file), "utf8")
      .split("\n")
      .flatMap((line) => found(parsed(line), pick)),
  );
}

/** The texts that `pick` finds in a value and all that it holds; texts that are JSON are looked into. */
function found(value: unknown, pick: Pick): string[] {
  if (typeof value === "string") return value.startsWith("{") ? found(parsed(value), pick) : [];
  if (Array.isArray(value)) return value.flatMap((one) => found(one, pick));
  const fields = asObject(value);
  if (fields === undefined) return [];
  const text = pick(fields);
  const own = typeof text === "string" && text.trim() !== "" ? [text] : [];
  return [...own, ...Object.values(fields).flatMap((one) => found(one, pick))];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
