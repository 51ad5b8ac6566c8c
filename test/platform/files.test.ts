import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { Failure } from "../../src/platform/failure.ts";
import { isWithin, type OpenFile, placeByPath, sameStamp, stampOf, withFile } from "../../src/platform/files.ts";
import { withoutPrivilege } from "./privilege.ts";

/** A store with `session.jsonl` in a project, and a secret beside the store. */
function store(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "files-")));
  t.after(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "projects");
  const project = join(root, "-home-dev-proj");
  mkdirSync(project, { recursive: true });
  const file = join(project, "session.jsonl");
  const secret = join(folder, "secret.jsonl");
  writeFileSync(file, "inside");
  writeFileSync(secret, "secret");
  return { folder, root, project, file, secret };
}

function textOf(file: OpenFile): string {
  const buffer = Buffer.alloc(100);
  return buffer.subarray(0, file.read(buffer, 0)).toString();
}

const notFound = (error: unknown): boolean => error instanceof Failure && error.kind === "not-found";

for (const [name, whereabouts] of [
  ["as the system tells", undefined],
  ["by its path alone", placeByPath],
] as const) {
  const read = (root: string, path: string) => withFile(root, path, textOf, whereabouts);

  test(`a file in the store is read (${name})`, async (t) => {
    const { root, file } = store(t);
    assert.equal(await read(root, file), "inside");
  });

  test(`a link that stays in the store is followed (${name})`, async (t) => {
    const { root, project, file } = store(t);
    symlinkSync(file, join(project, "link.jsonl"));
    symlinkSync(project, join(root, "moved"));
    assert.equal(await read(root, join(project, "link.jsonl")), "inside");
    assert.equal(await read(root, join(root, "moved", "session.jsonl")), "inside");
  });

  test(`what leads out of the store is refused (${name})`, async (t) => {
    const { folder, root, project, secret } = store(t);
    symlinkSync(secret, join(project, "file-link.jsonl"));
    symlinkSync(folder, join(root, "folder-link"));
    mkdirSync(`${root}-2`);
    writeFileSync(join(`${root}-2`, "session.jsonl"), "a folder whose name begins like the store's");
    for (const path of [
      join(project, "file-link.jsonl"),
      join(root, "folder-link", "secret.jsonl"),
      `${project}/../../secret.jsonl`,
      `${root}-2/session.jsonl`,
      secret,
    ]) {
      await assert.rejects(read(root, path), notFound, path);
    }
  });

  test(`what is no regular file is refused, and nothing waits for a writer (${name})`, async (t) => {
    const { root, project } = store(t);
    const socket = createServer();
    await new Promise<void>((listening) => socket.listen(join(project, "socket.jsonl"), listening));
    t.after(() => socket.close());
    execFileSync("/usr/bin/env", ["mkfifo", join(project, "pipe.jsonl")]);
    symlinkSync("loop.jsonl", join(project, "loop.jsonl"));
    for (const path of [
      project,
      join(project, "pipe.jsonl"),
      join(project, "socket.jsonl"),
      join(project, "loop.jsonl"),
      join(project, "absent.jsonl"),
      join(project, "session.jsonl", "below-a-file"),
      join(project, `${"x".repeat(300)}.jsonl`),
      join(project, "nul\0.jsonl"),
    ]) {
      await assert.rejects(read(root, path), notFound, path);
    }
    await assert.rejects(read("/", "/dev/zero"), notFound);
  });
}

test("a file that may not be read is told as such, without its path", async (t) => {
  const { folder, root, file, project } = store(t);
  for (const path of [folder, root, project]) chmodSync(path, 0o755);
  chmodSync(file, 0o000);
  await withoutPrivilege(() =>
    assert.rejects(withFile(root, file, textOf), {
      kind: "not-found",
      message: "the transcript can't be read: permission denied",
    }),
  );
  chmodSync(file, 0o644);
  assert.equal(await withoutPrivilege(() => withFile(root, file, textOf)), "inside");
  chmodSync(project, 0o000);
  await withoutPrivilege(async () => {
    await assert.rejects(withFile(root, file, textOf), { message: "the transcript can't be read: permission denied" });
    assert.equal(stampOf(file), undefined);
  });
  chmodSync(project, 0o755);
});

test("a swap between check and read gains nothing: what was opened is read", async (t) => {
  const { root, project, file, secret } = store(t);
  const text = await withFile(root, file, (open) => {
    rmSync(file);
    symlinkSync(secret, file);
    renameSync(project, `${project}-away`);
    return textOf(open);
  });
  assert.equal(text, "inside");
});

test("a swap between opening and check gains nothing, and does no harm", async (t) => {
  const { root, file, secret } = store(t);
  writeFileSync(`${file}.new`, "replaced");
  let checks = 0;
  const text = await withFile(root, file, textOf, (descriptor, path) => {
    if (++checks === 1) renameSync(`${file}.new`, file);
    return placeByPath(descriptor, path);
  });
  assert.deepEqual([text, checks], ["replaced", 2]);
  rmSync(file);
  symlinkSync(secret, file);
  checks = 0;
  const again = await withFile(root, file, textOf, (descriptor, path) => {
    if (++checks === 1) {
      rmSync(file);
      writeFileSync(file, "inside again");
    }
    return placeByPath(descriptor, path);
  });
  assert.deepEqual([again, checks], ["inside again", 2]);
});

test("while another thread swaps file and folder for links, nothing from outside is ever read", async (t) => {
  const { folder, root, project, file, secret } = store(t);
  const outside = join(folder, "outside");
  mkdirSync(outside);
  linkSync(secret, join(outside, "session.jsonl"));
  const worker = new Worker(
    `const { renameSync, symlinkSync, rmSync } = require("node:fs");
     const { project, outside, file, secret } = require("node:worker_threads").workerData;
     for (;;) {
       try {
         renameSync(file, file + ".away"); symlinkSync(secret, file);
         rmSync(file); renameSync(file + ".away", file);
         renameSync(project, project + "-away"); symlinkSync(outside, project);
         rmSync(project); renameSync(project + "-away", project);
       } catch (error) { if (error.code !== "ENOENT") throw error; }
     }`,
    { eval: true, workerData: { project, outside, file, secret } },
  );
  const seen = { inside: 0, refused: 0 };
  try {
    await new Promise((online) => worker.once("online", online));
    for (let n = 0; n < 4000; n++) {
      const text = await withFile(root, file, textOf).catch((error) => {
        if (!notFound(error)) throw error;
        return undefined;
      });
      if (text === undefined) seen.refused++;
      else {
        assert.equal(text, "inside");
        seen.inside++;
      }
    }
  } finally {
    // Before the folder is removed: a removal that meets its swaps fails, and then nothing would end it.
    await worker.terminate();
  }
  assert.ok(seen.inside > 0 && seen.refused > 0, JSON.stringify(seen));
});

test("a file is as long as it was when it was opened", async (t) => {
  const { root, file } = store(t);
  await withFile(root, file, (open) => {
    appendFileSync(file, " and more");
    assert.equal(open.size, 6);
    assert.equal(textOf(open), "inside");
    assert.equal(open.read(Buffer.alloc(10), 4), 2);
    assert.equal(open.read(Buffer.alloc(10), 6), 0);
    assert.equal(open.read(Buffer.alloc(10), 99), 0);
    truncateSync(file, 3);
    assert.equal(textOf(open), "ins");
  });
});

test("no descriptor stays open, whatever happens", async (t) => {
  const { root, project, file, secret } = store(t);
  symlinkSync(secret, join(project, "link.jsonl"));
  const open = () => readdirSync("/dev/fd").length;
  const before = open();
  for (const path of [file, project, secret, join(project, "link.jsonl"), join(project, "absent.jsonl")]) {
    await withFile(root, path, () => Promise.reject(new Error("in use"))).catch(() => undefined);
  }
  assert.equal(open(), before);
});

test("a stamp changes with what is written, and only then", (t) => {
  const { file, folder } = store(t);
  const stamp = () => {
    const made = stampOf(file);
    assert.ok(made);
    return made;
  };
  const first = stamp();
  assert.equal(first.size, 6);
  assert.ok(sameStamp(first, stamp()));
  utimesSync(file, 1, 1);
  const touched = stamp();
  assert.ok(!sameStamp(first, touched));
  writeFileSync(join(folder, "other"), "inside");
  utimesSync(join(folder, "other"), 1, 1);
  renameSync(join(folder, "other"), file);
  assert.ok(!sameStamp(touched, stamp()), "another file of the same size and time is another file");
  assert.equal(stampOf(join(folder, "absent")), undefined);
  assert.equal(stampOf(join(file, "below-a-file")), undefined);
  assert.equal(stampOf("nul\0"), undefined);
});

test("a path lies within a root when it is the root or below it", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["/a/b", "/a/b", true],
    ["/a/b", "/a/b/c", true],
    ["/a/b", "/a/bc", false],
    ["/a/b", "/a", false],
    ["/", "/a", true],
    ["/a/b", "", false],
  ];
  for (const [root, path, within] of rows) assert.equal(isWithin(root, path), within, `${path} in ${root}`);
});
