import assert from "node:assert/strict";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { AgentFiles } from "../../../src/agents/acp/files.ts";
import { Refusal } from "../../../src/agents/acp/refusal.ts";
import { startFakeAgent } from "../../support/fake-agent.ts";

let base: string;
let cwd: string;
let files: AgentFiles;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "agent-files-")));
  cwd = join(base, "work");
  mkdirSync(cwd);
  mkdirSync(join(base, "work-not"));
  writeFileSync(join(base, "outside.txt"), "secret");
  writeFileSync(join(base, "work-not", "a.txt"), "secret");
  files = new AgentFiles(cwd);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (name: string): string => join(cwd, name);
const read = async (path: unknown, range: object = {}): Promise<string> =>
  (await files.read({ path, ...range } as never)).content;
const write = (path: unknown, content: unknown): Promise<object> => files.write({ path, content });

async function refusal(act: Promise<unknown>): Promise<[number, string]> {
  const error = await act.then(
    () => assert.fail("it was done"),
    (why: unknown) => why,
  );
  assert.ok(error instanceof Refusal, `${error}`);
  return [error.code, error.message];
}

const OUTSIDE = [-32602, "Only files in the session's folder can be read and written"];
const MISSING = [-32002, "Resource not found"];

test("an agent reads and writes files through us", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const path = join(agent.cwd, "a.txt");
  await connection.prompt(
    `write ${path} "one\\ntwo\\n"\nread ${path}\nread ${path} 2 1\nread ${join(agent.cwd, "none")}`,
  );
  assert.equal(agent.heard.text, "writtenread: one\ntwo\nread: two\nread: error -32002 Resource not found");
});

test("a file is read as it is, or some of its lines", async () => {
  writeFileSync(at("a"), "\ufeffone\r\ntwo\n\nfour");
  assert.equal(await read(at("a")), "\ufeffone\r\ntwo\n\nfour");
  const ranges: [object, string][] = [
    [{ line: 2 }, "two\n\nfour"],
    [{ line: 2, limit: 2 }, "two\n\n"],
    [{ limit: 1 }, "\ufeffone\r\n"],
    [{ line: 4, limit: 5 }, "four"],
    [{ line: 9 }, ""],
    [{ line: 1, limit: 0 }, ""],
    [{ line: 0, limit: 1 }, "\ufeffone\r\n"],
    [{ line: null, limit: null }, "\ufeffone\r\ntwo\n\nfour"],
  ];
  for (const [range, content] of ranges) assert.equal(await read(at("a"), range), content);
  for (const range of [{ line: -1 }, { limit: 1.5 }, { line: "2" }]) {
    assert.equal((await refusal(read(at("a"), range)))[0], -32602);
  }
});

test("what is no readable text in the folder is refused, each with its reason", async () => {
  writeFileSync(at("binary"), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(at("large"), "");
  truncateSync(at("large"), 8 * 1024 * 1024 + 1);
  mkdirSync(at("folder"));
  assert.deepEqual(await refusal(read(at("binary"))), [-32602, "The file is no text in UTF-8"]);
  assert.deepEqual(await refusal(read(at("large"))), [-32602, "The file is over 8 MiB"]);
  assert.deepEqual(await refusal(read(at("folder"))), [-32602, "This is a folder, not a file"]);
  assert.deepEqual(await refusal(read(cwd)), [-32602, "This is a folder, not a file"]);
  assert.deepEqual(await refusal(read(at("none"))), MISSING);
  assert.deepEqual(await refusal(read(at("none/none"))), MISSING);
  assert.deepEqual(await refusal(read(at("binary/none"))), MISSING);
  for (const path of ["a.txt", "./a", "", undefined, 7, at("a\0b")]) {
    assert.deepEqual(await refusal(read(path)), [-32602, "path must be an absolute path"]);
    assert.deepEqual(await refusal(write(path, "")), [-32602, "path must be an absolute path"]);
  }
});

test("nothing outside the folder is read or written, however the way there is written", async () => {
  symlinkSync(join(base, "outside.txt"), at("link"));
  symlinkSync(base, at("up"));
  const ways = [
    join(base, "outside.txt"),
    `${cwd}/../outside.txt`,
    join(base, "work-not", "a.txt"),
    at("link"),
    at("up/outside.txt"),
    at("up/new.txt"),
    "/etc/passwd",
  ];
  for (const path of ways) {
    assert.deepEqual(await refusal(read(path)), OUTSIDE);
    assert.deepEqual(await refusal(write(path, "x")), OUTSIDE);
  }
  assert.equal(readFileSync(join(base, "outside.txt"), "utf8"), "secret");
  assert.deepEqual(readdirSync(base).sort(), ["outside.txt", "work", "work-not"]);
});

test("a link that stays in the folder is followed, one that leads nowhere is replaced by nothing", async () => {
  writeFileSync(at("real"), "one");
  symlinkSync("real", at("link"));
  symlinkSync(join(base, "not-yet"), at("dangling"));
  assert.equal(await read(at("link")), "one");
  await write(at("link"), "two");
  assert.equal(readFileSync(at("real"), "utf8"), "two");
  assert.ok(lstatSync(at("link")).isSymbolicLink());
  assert.equal((await refusal(write(at("dangling"), "x")))[0], -32602);
  assert.deepEqual(readdirSync(base).sort(), ["outside.txt", "work", "work-not"]);
});

test("a folder that takes the place of the session's is no way out", async () => {
  renameSync(cwd, join(base, "moved"));
  symlinkSync(base, cwd);
  assert.deepEqual(await refusal(read(at("outside.txt"))), OUTSIDE);
  assert.deepEqual(await refusal(write(at("outside.txt"), "x")), OUTSIDE);
});

test("a link that is swapped in while files are read and written leads nowhere", async () => {
  mkdirSync(at("inside"));
  mkdirSync(join(base, "outside"));
  writeFileSync(at("inside/a"), "mine");
  writeFileSync(join(base, "outside/a"), "secret");
  const done = { is: false };
  const swapper = (async () => {
    while (!done.is) {
      renameSync(at("inside"), at("kept"));
      symlinkSync(join(base, "outside"), at("inside"));
      await new Promise((resolve) => setImmediate(resolve));
      rmSync(at("inside"));
      renameSync(at("kept"), at("inside"));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let round = 0; round < 300; round++) {
    const content = await read(at("inside/a")).catch((error) => error);
    assert.ok(content instanceof Refusal || content === "mine", `${content}`);
    await write(at("inside/a"), "mine").catch((error) => assert.ok(error instanceof Refusal, `${error}`));
  }
  done.is = true;
  await swapper;
  assert.deepEqual(readdirSync(join(base, "outside")), ["a"]);
  assert.equal(readFileSync(join(base, "outside/a"), "utf8"), "secret");
});

test("a file is written whole, keeps its mode, and leaves nothing beside it", async () => {
  writeFileSync(at("script"), "old");
  chmodSync(at("script"), 0o754);
  linkSync(at("script"), at("old-one"));
  await write(at("script"), "new 😀");
  assert.equal(statSync(at("script")).mode & 0o7777, 0o754);
  assert.equal(readFileSync(at("script"), "utf8"), "new 😀");
  // Who has the old one open reads it to its end.
  assert.equal(readFileSync(at("old-one"), "utf8"), "old");
  await write(at("fresh"), "");
  assert.equal(statSync(at("fresh")).mode & 0o777, 0o666 & ~process.umask());
  assert.deepEqual(readdirSync(cwd).sort(), ["fresh", "old-one", "script"]);
});

test("a write makes no folders, takes no folder's place, and needs a text", async () => {
  mkdirSync(at("folder"));
  assert.deepEqual(await refusal(write(at("none/a"), "x")), MISSING);
  assert.deepEqual(await refusal(write(at("folder"), "x")), [-32602, "This is no regular file"]);
  assert.deepEqual(await refusal(write(cwd, "x")), OUTSIDE);
  assert.deepEqual(await refusal(write(at("a"), undefined)), [-32602, "content must be a text"]);
  assert.deepEqual(readdirSync(cwd), ["folder"]);
});

test("a file that may not be written is not replaced", async () => {
  writeFileSync(at("a"), "old");
  chmodSync(at("a"), 0o444);
  const outcome = await write(at("a"), "new").catch((error) => error.message);
  // Root may write any file.
  assert.deepEqual(outcome, process.getuid?.() === 0 ? {} : "The file can't be written (EACCES)");
});
