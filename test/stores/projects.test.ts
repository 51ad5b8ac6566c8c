import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../src/platform/failure.ts";
import { Inventory } from "../../src/stores/inventory.ts";
import { Selections } from "../../src/stores/list-query.ts";
import { ProjectLists, type ProjectPage, parseProjectCursor } from "../../src/stores/project-list.ts";
import { type ProjectOf, Projects } from "../../src/stores/projects.ts";
import { EMPTY_SHELF, restocked } from "../../src/stores/shelf.ts";
import type { Listed } from "../../src/stores/store.ts";
import { at, FakeStore, row, sid } from "../support/fake-store.ts";
import { FakeTime } from "../support/fake-time.ts";

/** Git roots that are as a test says, and count how often they were asked. */
class FakeRoots {
  readonly roots = new Map<string, string>();
  asked = 0;

  async of(folder: string): Promise<string | undefined> {
    this.asked++;
    return this.roots.get(folder);
  }
}

async function sorted(list: readonly Listed[]): Promise<readonly Listed[]> {
  return (await restocked(EMPTY_SHELF, list)).shelf.sorted;
}

test("sessions are grouped by the working tree of their folder, else by the folder, else by none", async () => {
  const roots = new FakeRoots();
  roots.roots.set("/repo/a", "/repo");
  const rows = await sorted([
    row({ id: sid("one"), cwd: "/repo", updatedAt: at(1), live: { pid: 7 } }),
    row({ id: sid("two"), cwd: "/repo/a", updatedAt: at(9), agent: "codex" }),
    row({ id: sid("three"), cwd: "/plain/", updatedAt: at(5) }),
    row({ id: sid("four"), cwd: "/plain", updatedAt: at(4), live: { pid: 8 } }),
    row({ id: sid("five"), cwd: "", updatedAt: at(5) }),
    row({ id: sid("six"), cwd: "relative", updatedAt: at(3) }),
    row({ id: sid("seven"), cwd: `/${"x".repeat(4_096)}`, updatedAt: at(2) }),
    row({ id: sid("eight"), cwd: "/nul\0", updatedAt: at(2) }),
  ]);
  const of = await new Projects(roots, new FakeTime()).of(rows);
  assert.deepEqual(await new ProjectLists().page(rows, of, undefined, 10), {
    projects: [
      { project: "/repo", sessions: 2, live: 1, updatedAt: 9, agents: ["claude", "codex"] },
      { project: "", sessions: 4, live: 0, updatedAt: 5, agents: ["claude"] },
      { project: "/plain", sessions: 2, live: 1, updatedAt: 5, agents: ["claude"] },
    ],
    next: null,
    total: 3,
  });
});

test("10,000 sessions in 300 folders cost 300 looks a minute, and each list is grouped once", async () => {
  const [roots, time, lists] = [new FakeRoots(), new FakeTime(), new ProjectLists()];
  const list = Array.from({ length: 10_000 }, (_, i) =>
    row({ id: sid(`s${i}`), cwd: `/w/${i % 300}`, updatedAt: at(i) }),
  );
  let told = 0;
  const counting = new Map<ProjectOf, ProjectOf>();
  const counted =
    (of: ProjectOf): ProjectOf =>
    (cwd) => {
      told++;
      return of(cwd);
    };
  const projects = new Projects(roots, time);
  const page = async (selections: Selections, limit: number): Promise<ProjectPage> => {
    const of = await projects.of(selections.all);
    const countedOf = counting.get(of) ?? counted(of);
    counting.set(of, countedOf);
    return lists.page(await selections.rows({}), countedOf, undefined, limit);
  };
  const first = new Selections(await sorted(list), new WeakMap());
  assert.equal((await page(first, 1)).total, 300);
  await Promise.all([page(first, 10), page(first, 10)]);
  assert.deepEqual([roots.asked, told], [300, 10_000]);
  // The list changes: one new folder is one more look.
  const second = new Selections(await sorted([...list, row({ id: sid("x"), cwd: "/new" })]), new WeakMap());
  await page(second, 10);
  assert.deepEqual([roots.asked, told], [301, 20_001]);
  time.pass(60_000);
  await page(second, 10);
  await page(second, 10);
  assert.deepEqual([roots.asked, told, projects.revision], [602, 20_001, 0]);
});

test("a folder that becomes a repository moves its sessions within a minute, and the revision tells", async () => {
  const [roots, time, lists] = [new FakeRoots(), new FakeTime(), new ProjectLists()];
  const rows = await sorted(["/w/a", "/w/b"].map((cwd) => row({ id: sid(cwd.slice(3)), cwd })));
  const projects = new Projects(roots, time);
  const names = async (): Promise<string[]> =>
    (await lists.page(rows, await projects.of(rows), undefined, 9)).projects.map(({ project }) => project);
  assert.deepEqual([await names(), projects.revision], [["/w/a", "/w/b"], 0]);
  for (const folder of ["/w/a", "/w/b"]) roots.roots.set(folder, "/w");
  time.pass(59_999);
  assert.deepEqual([await names(), projects.revision], [["/w/a", "/w/b"], 0]);
  time.pass(1);
  assert.deepEqual([await names(), projects.revision], [["/w"], 1]);
});

/** Lists with many ties, and folders of every kind of name. */
const folders = ["", "/a", "/a/b", "/a b", "/%41", "/ä", "/😀", "/\ud83d", "/a:1", "/\n"];
const lists = fc.array(fc.record({ cwd: fc.constantFrom(...folders), updatedAt: fc.integer({ min: 0, max: 3 }) }), {
  maxLength: 60,
});

test("walking pages gives every project once and in order, with all its sessions, whatever it is called", async () => {
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 5 }), async (list, limit) => {
      const rows = await sorted(
        list.map(({ cwd, updatedAt }, i) => row({ id: sid(`s${i}`), cwd, updatedAt: at(updatedAt) })),
      );
      const of = await new Projects(new FakeRoots(), new FakeTime()).of(rows);
      const walked: ProjectPage["projects"][number][] = [];
      let next: string | null = null;
      do {
        const before = next === null ? undefined : parseProjectCursor(next);
        const page: ProjectPage = await new ProjectLists().page(rows, of, before, limit);
        walked.push(...page.projects);
        assert.ok(page.next === null || (page.projects.length === limit && /^[!-~]+$/.test(page.next)));
        next = page.next;
      } while (next !== null);
      const expected = [...new Set(list.map(({ cwd }) => cwd))]
        .map((project) => {
          const own = list.filter(({ cwd }) => cwd === project).map(({ updatedAt }) => updatedAt);
          return { project, sessions: own.length, updatedAt: Math.max(...own) };
        })
        .sort((a, b) => b.updatedAt - a.updatedAt || (a.project < b.project ? -1 : 1));
      assert.deepEqual(
        walked.map(({ project, sessions, updatedAt }) => ({ project, sessions, updatedAt })),
        expected,
      );
    }),
  );
});

test("a cursor whose project is gone still goes on at its place, a time alone means strictly older", async () => {
  const rows = await sorted(
    [1, 2, 2, 3].map((ms, i) => row({ id: sid(`s${i}`), cwd: `/${"acxz"[i]}`, updatedAt: at(ms) })),
  );
  const of = await new Projects(new FakeRoots(), new FakeTime()).of(rows);
  const behind = async (cursor: string): Promise<string[]> =>
    (await new ProjectLists().page(rows, of, parseProjectCursor(cursor), 9)).projects.map(({ project }) => project);
  assert.deepEqual(await behind("2:/b"), ["/c", "/x", "/a"]);
  assert.deepEqual(await behind("2:/d"), ["/x", "/a"]);
  assert.deepEqual(await behind("2:"), ["/c", "/x", "/a"]);
  assert.deepEqual(await behind("2"), ["/a"]);
  for (const text of ["", "x", "-1", "1.5", "1 ", "1:/a b", "1:%4", "1:%004G", "9".repeat(17), "8640000000000001:"]) {
    assert.throws(
      () => parseProjectCursor(text),
      (error) => error instanceof Failure && error.kind === "bad-request",
      text,
    );
  }
});

test("a project by itself has as many sessions as its entry says, also when others lie within it", async (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-projects-")));
  t.after(() => rmSync(base, { recursive: true }));
  for (const folder of ["repo/.git", "repo/part", "repo/inner/.git", "plain/below"]) {
    mkdirSync(join(base, folder), { recursive: true });
  }
  const store = new FakeStore();
  t.after(() => store.remove());
  const cwds = ["repo", "repo/part", "repo/inner", "plain", "plain/below"].map((name) => join(base, name));
  store.rows = ["", ...cwds].flatMap((cwd, i) => [
    row({ id: sid(`s${i}`), cwd, updatedAt: at(i) }),
    row({ id: sid(`t${i}`), cwd, updatedAt: at(i), live: { pid: 1 } }),
    row({ id: sid(`c${i}`), cwd, updatedAt: at(i), parent: sid(`s${i}`) }),
  ]);
  const time = new FakeTime();
  const inventory = new Inventory({ stores: [store], clock: time, timer: time, home: "/home/someone" });
  t.after(() => inventory.close());
  await inventory.settled();
  for (const filter of [{}, { children: true }, { state: "live" as const }, { q: "t3" }, { agent: "codex" as const }]) {
    const { projects, total } = await inventory.projects(filter);
    assert.equal(projects.length, total);
    for (const { project, sessions, live } of projects) {
      const place = project === "" ? { folderless: true } : { project, exact: true };
      const page = await inventory.query({ ...filter, ...place });
      assert.equal(page.total, sessions, project);
      assert.equal(page.transcripts.filter((each) => each.live).length, live, project);
    }
  }
  const all = await inventory.projects({});
  assert.deepEqual(
    all.projects.map(({ project, sessions }) => [project, sessions]),
    [
      [join(base, "plain/below"), 2],
      [join(base, "plain"), 2],
      [join(base, "repo/inner"), 2],
      [join(base, "repo"), 4],
      ["", 2],
    ],
  );
  // What is no project's own folder has no sessions of its own.
  assert.equal((await inventory.query({ project: join(base, "repo/part"), exact: true })).total, 0);
  assert.equal((await inventory.query({ project: `${join(base, "plain")}/`, exact: true })).total, 2);
});
