import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chosen,
  compareRuns,
  kept,
  type Loaded,
  withPage,
  withStart,
} from "../../../src/dashboard/app/runs/run-list.ts";
import type { Run } from "../../../src/dashboard/app/wire.ts";
import { run } from "./run.ts";

const names = (runs: readonly Run[]) => runs.map(({ name }) => name);
const runs = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, i) => run(`r${from - i}`, from - i));

function loaded(all: readonly Run[], next: string | null, more: Partial<Loaded> = {}): Loaded {
  return { runs: all, running: [], next, total: 100, ...more };
}

test("pages are joined, and what stands in both stands once", () => {
  const both = withPage(loaded(runs(100, 91), "91:r91"), { runs: runs(92, 81), next: "81:r81", total: 101 });
  assert.deepEqual(names(both.runs), names(runs(100, 81)));
  assert.deepEqual([both.next, both.total], ["81:r81", 101]);
});

test("a new beginning replaces the old one, and what was loaded behind it stays", () => {
  const before = loaded(runs(100, 81), "81:r81");
  const now = withStart(before, loaded([run("r101", 101), ...runs(100, 92)], "92:r92", { total: 101 }), ["r101"]);
  assert.deepEqual(now && names(now.runs), names(runs(101, 81)));
  assert.deepEqual([now?.next, now?.total], ["81:r81", 101]);
});

test("a run that is gone from the beginning is gone from the list", () => {
  const page = runs(100, 91).filter(({ name }) => name !== "r95");
  const now = withStart(loaded(runs(100, 81), "81:r81"), loaded(page, "91:r91"), ["r95"]);
  assert.deepEqual(now && names(now.runs), names(runs(100, 81).filter(({ name }) => name !== "r95")));
});

test("a change behind the beginning, an unknown one and a gap ask for the rest again", () => {
  const before = loaded(runs(100, 81), "81:r81");
  assert.equal(withStart(before, loaded(runs(100, 91), "91:r91"), ["r85"]), undefined);
  assert.equal(withStart(before, loaded(runs(100, 91), "91:r91"), undefined), undefined);
  assert.equal(withStart(before, loaded(runs(300, 291), "291:r291"), ["r300"]), undefined);
});

test("a beginning that is all there is is the list", () => {
  const now = withStart(loaded(runs(100, 81), "81:r81"), loaded(runs(100, 99), null), undefined);
  assert.deepEqual(now && names(now.runs), ["r100", "r99"]);
  assert.equal(now?.next, null);
});

test("runs that are what they were stay the very same objects", () => {
  const before = loaded(runs(10, 8), null);
  const now = kept(before, loaded([run("r10", 10, { status: "failed" }), ...runs(9, 8)], null));
  assert.equal(now.runs[0]?.status, "failed");
  assert.equal(now.runs[1], before.runs[1]);
});

test("running ones stand on top, also those that are older than what is loaded", () => {
  const list = loaded([run("a", 9), run("b", 8, { status: "running" }), run("c", 7)], "7:c", {
    running: [run("old", 1, { status: "running" })],
  });
  const { running, ended } = chosen(list, {});
  assert.deepEqual(
    [names(running), names(ended)],
    [
      ["b", "old"],
      ["a", "c"],
    ],
  );
});

test("the list is narrowed by status, agent, job and every word of a text", () => {
  const list = loaded(
    [
      run("a", 4, { status: "failed", title: "Split the Parser", workdir: "/srv/notes" }),
      run("b", 3, { agent: "codex", job: "codex-job-1" }),
      run("c", 2, { model: "model-x" }),
    ],
    null,
  );
  const shown = (filter: Parameters<typeof chosen>[1]) => names(chosen(list, filter).ended);
  assert.deepEqual(shown({ status: "failed" }), ["a"]);
  assert.deepEqual(shown({ agent: "codex" }), ["b"]);
  assert.deepEqual(shown({ job: "codex-job-1" }), ["b"]);
  assert.deepEqual(shown({ q: "parser NOTES" }), ["a"]);
  assert.deepEqual(shown({ q: "parser model-x" }), []);
  assert.deepEqual(shown({ q: "model-x" }), ["c"]);
});

test("runs of one time are ordered by name, the greatest first, as the API does", () => {
  assert.deepEqual(names([run("a", 1), run("c", 1), run("b", 2)].sort(compareRuns)), ["b", "c", "a"]);
});
