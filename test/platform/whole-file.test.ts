import assert from "node:assert/strict";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeWhole } from "../../src/platform/whole-file.ts";
import { temporaryFolder } from "./folder.ts";

const never = new AbortController().signal;

async function* parts(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const code = (error: unknown): boolean => {
  assert.equal((error as NodeJS.ErrnoException).code, "EEXIST");
  return true;
};

test("a file is written whole, for its owner alone, and nothing else stays in the folder", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "out");
  await writeWhole(path, parts("one", "", "two"), { replace: false, signal: never });
  assert.equal(readFileSync(path, "utf8"), "onetwo");
  if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ["out"]);
});

test("what is there stays, whatever it is, unless it is to be replaced; a link is replaced itself", async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string): string => join(folder, name);
  writeFileSync(at("file"), "old", { mode: 0o644 });
  symlinkSync("file", at("link"));
  symlinkSync("nothing", at("dangling"));
  mkdirSync(at("folder"));
  for (const name of ["file", "link", "dangling", "folder"]) {
    await assert.rejects(writeWhole(at(name), parts("new"), { replace: false, signal: never }), code);
  }
  assert.equal(readFileSync(at("file"), "utf8"), "old");
  assert.equal(readlinkSync(at("dangling")), "nothing");
  for (const name of ["link", "dangling", "file"]) {
    await writeWhole(at(name), parts(`new ${name}`), { replace: true, signal: never });
    assert.ok(lstatSync(at(name)).isFile());
    assert.equal(statSync(at(name)).mode & 0o777, 0o600);
    if (name === "link") assert.equal(readFileSync(at("file"), "utf8"), "old");
  }
  await assert.rejects(writeWhole(at("folder"), parts("new"), { replace: true, signal: never }));
  assert.deepEqual(readdirSync(folder).sort(), ["dangling", "file", "folder", "link"]);
});

test("of many that write one name at once, one does, and its file is whole", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "out");
  const texts = Array.from({ length: 12 }, (_, index) => String(index).repeat(50_000));
  const done = await Promise.allSettled(
    texts.map((text) => writeWhole(path, parts(text), { replace: false, signal: never })),
  );
  assert.equal(done.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(readFileSync(path, "utf8"), texts[done.findIndex(({ status }) => status === "fulfilled")]);
  assert.deepEqual(readdirSync(folder), ["out"]);
});

test("what fails or is left in the middle leaves nothing, and what was there as it was", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "out");
  writeFileSync(path, "old");
  const breaking = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("the disk is gone");
  };
  await assert.rejects(writeWhole(path, breaking(), { replace: true, signal: never }), /the disk is gone/);
  const end = new AbortController();
  const leaving = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    end.abort();
    yield Buffer.from("half");
  };
  await assert.rejects(writeWhole(path, leaving(), { replace: true, signal: end.signal }), { name: "AbortError" });
  await assert.rejects(writeWhole(path, parts(), { replace: true, signal: end.signal }), { name: "AbortError" });
  assert.equal(readFileSync(path, "utf8"), "old");
  assert.deepEqual(readdirSync(folder), ["out"]);
});
