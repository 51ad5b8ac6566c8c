import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { openClaude } from "../../src/stores/claude/open.ts";
import type { SessionRef, Store } from "../../src/stores/store.ts";
import { START } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import { requireSessionId } from "../../src/transcript/names.ts";
import { LATER, PAGE, temporaryFolder } from "./claude/fixtures.ts";
import { Records } from "./claude/records-of.ts";
import { Home as CodexHome, call, line, meta, NINE, output, userEvent, uuid } from "./codex/home.ts";
import { Home as HermesHome } from "./hermes/home.ts";
import { homeWith, message, part, SESSION, session, T0, text } from "./opencode/conversation.ts";
import { openStore as openOpenCode, schemaOf } from "./opencode/fixtures.ts";
import { lines, Home as RecordedHome } from "./recorded/home.ts";

/** More than a page holds. */
const LONG = "y".repeat(600 * 1024);

/** A chat in which one record is longer than a page, and holds `LONG`. */
interface LongChat {
  readonly store: Store;
  readonly ref: SessionRef;
}

const CHATS: { readonly [name: string]: (t: TestContext) => Promise<LongChat> } = {
  "a result of Claude Code": async (t) => {
    const records = new Records("44444444-4444-4444-8444-444444444444");
    records.user("go").call("c", "Bash", { command: "ls" }).result("c", LONG).user("behind");
    const home = temporaryFolder(t);
    mkdirSync(join(home, ".claude/projects/-p"), { recursive: true });
    writeFileSync(join(home, `.claude/projects/-p/${records.session}.jsonl`), records.text());
    const environment = environmentFrom({ home });
    const store = openClaude({ environment, clock: LATER, watcher: createWatcher(), extraRoots: {} });
    return found(store, records.session);
  },
  "a result of Codex": async (t) => {
    const home = new CodexHome(t);
    const id = uuid(NINE);
    home.rollout(id, [
      meta(id),
      userEvent(1, "go"),
      call(2, "c", "shell", {}),
      output(3, "c", LONG),
      userEvent(4, "x"),
    ]);
    return found(home.store(), id);
  },
  "a compaction of Codex": async (t) => {
    const home = new CodexHome(t);
    const id = uuid(NINE);
    home.rollout(id, [meta(id), userEvent(1, "go"), line(2, "compacted", { message: LONG }), userEvent(4, "x")]);
    return found(home.store(), id);
  },
  "a part of OpenCode": async (t) => {
    const { home } = homeWith(t, {
      session: [session()],
      message: [message("msg_a", 0, { role: "user" }), message("msg_b", 1, { role: "assistant" })],
      part: [part("prt_a", "msg_a", 0, text("go")), part("prt_b", "msg_b", 1, text(LONG))],
    });
    return found(openOpenCode(home), SESSION);
  },
  "a message of OpenCode 2.0": async (t) => {
    const row = { session_id: SESSION, time_created: T0, time_updated: T0 };
    const data = { time: { created: T0 }, content: [text(LONG)] };
    const { home } = homeWith(
      t,
      {
        session_v2: [
          { ...session(), project_id: "global", directory: "/home/dev", title: "A title", version: "2.0.12" },
        ],
        session_message: [
          { id: "msg_a", type: "user", seq: 0, data: { text: "go" }, ...row },
          { id: "msg_b", type: "assistant", seq: 1, data, ...row },
        ],
      },
      schemaOf("2.0"),
    );
    return found(openOpenCode(home), SESSION);
  },
  "a file of old OpenCode": async (t) => {
    const home = temporaryFolder(t);
    const storage = join(home, ".local/share/opencode/storage");
    const write = (path: string, data: object): void => {
      mkdirSync(join(storage, path, ".."), { recursive: true });
      writeFileSync(join(storage, `${path}.json`), JSON.stringify(data));
    };
    write(`session/global/${SESSION}`, { id: SESSION, title: "A title", time: { created: T0, updated: T0 } });
    write(`message/${SESSION}/msg_a`, { role: "assistant", time: { created: T0 } });
    write("part/msg_a/prt_a", text(LONG));
    return found(openOpenCode(home), SESSION);
  },
  "a row of Hermes": async (t) => {
    const home = new HermesHome(t);
    home.session("one");
    home.say("one", [{ content: "go" }, { content: LONG }, { content: "behind" }]);
    return found(home.store, "one");
  },
  "a prompt of a recording": async (t) => {
    const home = new RecordedHome(t);
    home.write(
      "ses_1",
      lines([
        { kind: "user-prompt", text: LONG },
        { kind: "turn-end", reason: "completed" },
      ]),
    );
    return found(home.store, "ses_1");
  },
  "a result of a recording": async (t) => {
    const home = new RecordedHome(t);
    home.write(
      "ses_1",
      lines([
        { kind: "user-prompt", text: "go" },
        { kind: "tool-call", toolCallId: "c", toolName: "ls", arguments: {} },
        { kind: "tool-result", toolCallId: "c", result: LONG, isError: false },
        { kind: "turn-end", reason: "completed" },
      ]),
    );
    return found(home.store, "ses_1");
  },
};

for (const [name, make] of Object.entries(CHATS)) {
  test(`${name} that is too long for a page is named there, and read whole by its position`, async (t) => {
    const { store, ref } = await make(t);
    const marks = (await whole(store, ref)).filter(isOversized);
    assert.equal(marks.length, 1);
    const pos = marks[0]?.pos ?? START;
    const read = await store.record(ref, pos);
    assert.deepEqual(read.filter(isOversized), []);
    assert.deepEqual(read.flatMap(longTexts), [LONG.length]);
    assert.deepEqual(await store.record(ref, pos, LONG.length * 2), read);
  });

  test(`${name} that is longer than the reader wants it is only named, with its size`, async (t) => {
    const { store, ref } = await make(t);
    const [mark] = (await whole(store, ref)).filter(isOversized);
    const read = await store.record(ref, mark?.pos ?? START, LONG.length - 1);
    assert.deepEqual(read.filter(isOversized), [mark]);
    const size = Number(/\d+/.exec((mark?.kind === "marker" && mark.summary) || "")?.[0]);
    assert.ok(size >= LONG.length && size < LONG.length + 1000, `${size}`);
    assert.deepEqual(read.flatMap(longTexts), []);
  });
}

test("a call whose result is too long for a page has not failed, unless the result says so", async (t) => {
  for (const isError of [false, true]) {
    const home = new RecordedHome(t);
    home.write(
      "ses_1",
      lines([
        { kind: "user-prompt", text: "go" },
        { kind: "tool-call", toolCallId: "c", toolName: "ls", arguments: {} },
        { kind: "text-delta", text: "meanwhile\n" },
        { kind: "tool-result", toolCallId: "c", result: LONG, isError },
        { kind: "turn-end", reason: "completed" },
      ]),
    );
    const ref = await home.ref("ses_1");
    for (const bytes of [PAGE.bytes, 200]) {
      const calls = (await whole(home.store, ref, bytes)).filter((entry) => entry.kind === "tool-call");
      assert.equal(calls.at(-1)?.isError, isError, `${bytes}`);
    }
  }
});

async function found(store: Store, id: string): Promise<LongChat> {
  const ref = await store.find(requireSessionId(id));
  if (ref === undefined) throw new Error(`${id} is not found`);
  return { store, ref };
}

async function whole(store: Store, ref: SessionRef, bytes = PAGE.bytes): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let from = START; ; ) {
    const page = await store.entries(ref, from, { ...PAGE, bytes });
    entries.push(...page.entries);
    if (page.next === from) return entries;
    from = page.next;
  }
}

function isOversized(entry: Entry): boolean {
  return entry.kind === "marker" && entry.marker === "oversized";
}

/** How long the long text is that an entry holds. */
function longTexts(entry: Entry): number[] {
  const text = entry.kind === "tool-call" ? entry.output : "text" in entry ? entry.text : undefined;
  return text !== undefined && text.length >= LONG.length ? [text.length] : [];
}
