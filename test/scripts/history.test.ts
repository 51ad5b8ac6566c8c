import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeRollouts } from "../../scripts/history/rollouts.ts";
import { USUAL, writeBigHistory, writeHistory } from "../../scripts/history.ts";

const folder = mkdtempSync(join(tmpdir(), "history-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const PLAN = { ...USUAL, sessions: 20, bytes: 6_000_000, projects: 3 };
const made = writeHistory(join(folder, "made"), PLAN);

interface Line {
  readonly type?: string;
  readonly attachment?: { readonly type?: string };
  readonly toolUseResult?: unknown;
  readonly isSidechain?: boolean;
  readonly agentId?: string;
}

const linesOf = (file: string): string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);
const filesIn = (home: string): string[] => globSync("**/*.{jsonl,json}", { cwd: home }).sort();
const allLines = (): string[] =>
  made.sessions.flatMap(({ file, agents }) => [file, ...agents.map((agent) => agent.file)]).flatMap(linesOf);

function fingerprint(home: string): string {
  const hash = createHash("sha256");
  for (const file of filesIn(join(home, ".claude")))
    hash.update(file).update(readFileSync(join(home, ".claude", file)));
  return hash.digest("hex");
}

test("every line of a made history is a JSON object, and every file ends in a newline", () => {
  for (const { file, agents } of made.sessions) {
    for (const path of [file, ...agents.map((agent) => agent.file)]) {
      assert.equal(readFileSync(path).at(-1), 0x0a, path);
      for (const line of linesOf(path)) assert.equal(typeof JSON.parse(line), "object", path);
    }
  }
});

test("the same seed gives the same bytes, another seed gives others", () => {
  const again = writeHistory(join(folder, "again"), PLAN);
  const other = writeHistory(join(folder, "other"), { ...PLAN, seed: 2 });
  assert.equal(fingerprint(again.home), fingerprint(made.home));
  assert.notEqual(fingerprint(other.home), fingerprint(made.home));
});

test("a made history has as many sessions and bytes as asked, in sizes with a long tail", () => {
  assert.equal(made.sessions.length, PLAN.sessions);
  assert.ok(Math.abs(made.bytes / PLAN.bytes - 1) < 0.03, `${made.bytes}`);
  const sizes = made.sessions.map(({ bytes }) => bytes);
  assert.ok((sizes[0] ?? 0) > 5 * (sizes[10] ?? 0), `${sizes}`);
});

test("the shares of subagents, tool results and never-shown records are about those asked for", () => {
  const bytes = { agents: 0, results: 0, hidden: 0 };
  for (const line of allLines()) {
    const record: Line = JSON.parse(line);
    const size = Buffer.byteLength(line) + 1;
    const hidden =
      record.type === "progress" ||
      record.type?.startsWith("api-request-") ||
      record.attachment?.type === "prompt_snapshot";
    if (record.isSidechain) bytes.agents += size;
    if (hidden) bytes.hidden += size;
    if (record.type === "user" && line.includes('"type":"tool_result"')) bytes.results += size;
  }
  const near = (part: number, share: number): boolean => Math.abs(part / made.bytes - share) < 0.1;
  assert.ok(near(bytes.agents, PLAN.agents), `subagents ${bytes.agents / made.bytes}`);
  assert.ok(near(bytes.results, PLAN.results), `results ${bytes.results / made.bytes}`);
  assert.ok(near(bytes.hidden, PLAN.hidden), `hidden ${bytes.hidden / made.bytes}`);
});

test("a subagent's file is named by the call that started it", () => {
  const parent = made.sessions.find(({ agents }) => agents.length > 0);
  const [agent] = parent?.agents ?? [];
  assert.ok(parent !== undefined && agent !== undefined);
  const { toolUseId } = JSON.parse(readFileSync(agent.file.replace(/jsonl$/, "meta.json"), "utf8"));
  const naming = linesOf(parent.file).filter((line) => line.includes(toolUseId) && line.includes(agent.id));
  assert.equal(naming.length, 2, "the launch and the notification");
  assert.equal(JSON.parse(linesOf(agent.file)[0] ?? "").agentId, agent.id);
});

test("a big session has its one long line in its middle, of exactly the bytes asked for", () => {
  const big = writeBigHistory(join(folder, "big"), { ...USUAL, bytes: 8_000_000, lineBytes: 3_000_000 });
  const content = readFileSync(big.file);
  assert.equal(content.length, big.bytes);
  assert.ok(Math.abs(big.bytes / 8_000_000 - 1) < 0.03, `${big.bytes}`);
  assert.equal(big.lineEnd - big.lineStart, 3_000_000);
  assert.equal(content[big.lineStart - 1], 0x0a);
  assert.equal(content.indexOf(0x0a, big.lineStart), big.lineEnd - 1);
  assert.ok(Math.abs(big.lineStart / 2_500_000 - 1) < 0.05, `${big.lineStart}`);
  for (const line of content.toString().split("\n").slice(0, -1)) JSON.parse(line);
});

test("made rollouts are the same for the same seed, of whole records, and in both of Codex's forms", () => {
  const [first, second] = ["one", "two"].map((name) => writeRollouts(join(folder, name), 5, 4, 60_000));
  const contents = first?.rollouts.map(({ file }) => readFileSync(file, "utf8")) ?? [];
  assert.deepEqual(
    contents,
    second?.rollouts.map(({ file }) => readFileSync(file, "utf8")),
  );
  assert.equal(contents.length, 4);
  for (const [index, content] of contents.entries()) {
    const records = content
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    assert.equal(records[0].payload.history_mode, index % 2 === 0 ? undefined : "paginated");
    assert.equal(records.at(-1).payload.type, "task_complete");
  }
});
