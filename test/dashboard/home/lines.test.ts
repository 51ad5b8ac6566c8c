import assert from "node:assert/strict";
import { test } from "node:test";
import { dayLines, type Line, projectLines, versionOf } from "../../../src/dashboard/app/home/lines.ts";
import { folderNames } from "../../../src/dashboard/app/parts/folders.ts";
import type { Project, Row } from "../../../src/dashboard/app/wire.ts";

const row = (id: string, updatedAt: number): Row => ({
  agent: "claude",
  id,
  title: id,
  cwd: "/w",
  startedAt: 0,
  updatedAt,
});
const project = (path: string): Project => ({ project: path, sessions: 3, live: 0, updatedAt: 9, agents: ["claude"] });
const dayOf = (at: number): string => `day ${Math.floor(at / 10)}`;
const shape = (lines: readonly Line[]): string[] =>
  lines.map((line) => {
    if (line.kind === "rest") return `rest ${line.left}${line.loading ? " loading" : ""}`;
    const name = line.kind === "session" ? line.row.id : `${line.open ? "-" : "+"} ${line.project.project}`;
    return `${name} ${line.place}/${line.of}`;
  });

test("each day is named at its first session", () => {
  const lines = dayLines([row("a", 35), row("b", 31), row("c", 22)], 10, dayOf);
  assert.deepEqual(
    lines.map((line) => line.kind === "session" && line.day),
    ["day 3", undefined, "day 2"],
  );
  assert.deepEqual(shape(lines), ["a 1/10", "b 2/10", "c 3/10"]);
});

test("an open project has its sessions below it, and then how many are left", () => {
  const opened = { rows: [row("a", 2), row("b", 1)], total: 3, loading: false, hasMore: true };
  const lines = projectLines([project("/x"), project("/y")], 5, new Map([["/x", opened]]));
  assert.deepEqual(shape(lines), ["- /x 1/5", "a 1/3", "b 2/3", "rest 1", "+ /y 2/5"]);
  const whole = projectLines([project("/x")], 1, new Map([["/x", { ...opened, hasMore: false }]]));
  assert.deepEqual(shape(whole), ["- /x 1/1", "a 1/3", "b 2/3"]);
});

test("an open project whose sessions are on their way, or could not be had, says so", () => {
  const waiting = { rows: [], total: 0, loading: true, hasMore: false };
  assert.deepEqual(shape(projectLines([project("/x")], 1, new Map([["/x", waiting]]))), ["- /x 1/1", "rest 0 loading"]);
  const error = new Error("no");
  const failed = projectLines(
    [project("/x")],
    1,
    new Map([["/x", { ...waiting, loading: false, trouble: { error } }]]),
  );
  assert.deepEqual(failed[1]?.kind === "rest" && failed[1].error, error);
});

test("no two lines have one key, also where a session stands in two open projects", () => {
  const opened = { rows: [row("a", 2)], total: 1, loading: false, hasMore: true };
  const open = new Map(["/x", "/y"].map((path) => [path, opened]));
  const keys = projectLines([project("/x"), project("/y")], 2, open).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
});

test("a line has another version when it shows something else", () => {
  const [line] = dayLines([row("a", 1)], 1, dayOf);
  const [same] = dayLines([row("a", 1)], 1, dayOf);
  const [other] = dayLines([row("a", 1)], 2, dayOf);
  assert.ok(line && same && other);
  assert.equal(versionOf(line), versionOf(same));
  assert.notEqual(versionOf(line), versionOf(other));
});

test("folders are called by their last part, and by more where that is not enough", () => {
  const names = folderNames(["/home/a/shop", "/home/b/shop", "/home/b/page", "/shop", "/", "C:\\work\\tool"]);
  assert.deepEqual(Object.fromEntries(names), {
    "/home/a/shop": "a/shop",
    "/home/b/shop": "b/shop",
    "/home/b/page": "page",
    "/shop": "shop",
    "/": "/",
    "C:\\work\\tool": "tool",
  });
});
