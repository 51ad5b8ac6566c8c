import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { freshChats, PAGE, placeOf, temporaryFolder, wholeChat } from "./fixtures.ts";

const SESSION = "22222222-2222-4222-8222-222222222222";

/** One record of a chat that nobody would write, but that a store may hold. */
interface Step {
  readonly what: "prompt" | "grow" | "block" | "call" | "result" | "spawn" | "launch" | "notify" | "hidden" | "compact";
  /** Which earlier record, id or agent it has to do with. */
  readonly which: number;
  readonly timed: boolean;
  readonly sidechain: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    what: fc.constantFrom(
      ...(["prompt", "grow", "block", "call", "result", "spawn", "launch", "notify", "hidden", "compact"] as const),
    ),
    which: fc.nat(5),
    timed: fc.boolean(),
    sidechain: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  }),
  { minLength: 1, maxLength: 40 },
);

/** The subagents that are not spoken of before they are started, nor started twice. */
function startedFirst(given: readonly Step[]): string[] {
  return [0, 1, 2, 3, 4, 5].flatMap((which) => {
    const about = given.filter((step) => step.which === which && ["spawn", "launch", "notify"].includes(step.what));
    const [first, ...rest] = about;
    return first?.what === "spawn" && rest.every(({ what }) => what !== "spawn") ? [`a${which}`] : [];
  });
}

const START_MS = Date.parse("2026-01-05T10:00:00.000Z");

/** The lines of `given`, and the subagents' files that they speak of. */
function written(given: readonly Step[]): { lines: string[]; agents: Map<string, { at: number; tool?: string }> } {
  const uuids: (string | null)[] = [null];
  const agents = new Map<string, { at: number; tool?: string }>();
  const lines = given.map(({ what, which, timed, sidechain }, index) => {
    const uuid = `u${index}`;
    const parentUuid = uuids[Math.max(0, uuids.length - 1 - which)];
    const at = START_MS + index * 1500;
    const agent = `a${which}`;
    const tool = `toolu_${which}`;
    if (what === "spawn" && !agents.has(agent)) {
      agents.set(agent, { at: at + which * 2000, ...(which % 2 === 0 && { tool }) });
    }
    uuids.push(uuid);
    return JSON.stringify({
      parentUuid,
      isSidechain: sidechain,
      ...recordOf(what, which, agent, tool),
      uuid,
      ...(timed && { timestamp: new Date(at).toISOString() }),
    });
  });
  return { lines, agents };
}

function recordOf(what: Step["what"], which: number, agent: string, tool: string): object {
  const user = (content: unknown, more: object = {}): object => ({ type: "user", message: { content }, ...more });
  const answer = (content: unknown, more: object = {}): object => ({
    type: "assistant",
    message: { id: `msg_${which % 2}`, content },
    ...more,
  });
  switch (what) {
    case "prompt":
      return user(`prompt ${which}`);
    case "grow":
      return answer([
        { type: "text", text: "word ".repeat(which + 1) },
        { type: "tool_use", id: tool, name: "Grown" },
      ]);
    case "block":
      return answer([{ type: "text", text: "word ".repeat(which + 1) }], { apiBlockIndex: 0 });
    case "call":
      return answer([{ type: "tool_use", id: tool, name: `Tool${which}`, input: {} }], { apiBlockIndex: 0 });
    case "result":
      return user([{ type: "tool_result", tool_use_id: tool, content: `output ${which}` }]);
    case "spawn":
      return answer([{ type: "tool_use", id: tool, name: "Agent", input: { prompt: `do ${agent}` } }]);
    case "launch":
      return user([{ type: "tool_result", tool_use_id: tool, content: `launched\nagentId: ${agent} (internal)` }], {
        ...(which > 2 && { toolUseResult: { agentId: agent } }),
      });
    case "notify":
      return user(
        `<task-notification>\n<task-id>${agent}</task-id>\n${which > 3 ? `<tool-use-id>${tool}</tool-use-id>` : ""}</task-notification>`,
      );
    case "hidden":
      return { type: "attachment", attachment: { type: "prompt_snapshot", text: "x".repeat(which * 100) } };
    case "compact":
      return { type: "system", subtype: "compact_boundary" };
  }
}

function write(projects: string, given: readonly Step[]): ClaudePlace {
  rmSync(projects, { recursive: true, force: true });
  const { lines, agents } = written(given);
  const file = join(projects, "-p", `${SESSION}.jsonl`);
  const folder = join(projects, "-p", SESSION, "subagents");
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  for (const [id, { at, tool }] of agents) {
    const first = { type: "user", message: { content: `do ${id}` }, timestamp: new Date(at).toISOString() };
    writeFileSync(
      join(folder, `agent-${id}.jsonl`),
      `${JSON.stringify({ ...first, isSidechain: true, agentId: id })}\n`,
    );
    if (tool !== undefined) writeFileSync(join(folder, `agent-${id}.meta.json`), JSON.stringify({ toolUseId: tool }));
  }
  return placeOf(projects, file);
}

test("whatever a chat holds, every way of paging gives the same entries", async (t) => {
  const projects = join(temporaryFolder(t), "projects");
  const property = fc.asyncProperty(steps, fc.integer({ min: 800, max: 4000 }), async (given, bytes) => {
    const place = write(projects, given);
    const whole = await wholeChat(freshChats(), place);
    assert.deepEqual(await wholeChat(freshChats(), place, { ...PAGE, bytes }), whole);
    const backward: Entry[] = [];
    const chats = freshChats();
    for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
      const page = await chats.before(place, before, { ...PAGE, bytes });
      backward.unshift(...page.entries);
      before = page.prev;
    }
    assert.deepEqual(backward, whole);
    for (const pos of new Set(whole.map((entry) => entry.pos))) {
      const own = whole.filter((entry) => entry.pos === pos);
      assert.deepEqual(await freshChats().record(place, pos), own, pos);
    }
    const children = whole.flatMap((entry) => (entry.kind === "subagent" ? [entry.subagent.id as string] : []));
    for (const id of startedFirst(given)) {
      assert.ok(children.filter((child) => child === id).length <= 1, `${id} is told once`);
    }
  });
  const details = await fc.check(property, { numRuns: 150 });
  assert.ok(
    !details.failed,
    `seed ${details.seed}: ${details.errorInstance}\n${JSON.stringify(details.counterexample)}`,
  );
});
