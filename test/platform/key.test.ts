import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ensureKey, keyReader, resetKey } from "../../src/platform/key.ts";
import { temporaryFolder } from "./folder.ts";
import { withoutPrivilege } from "./privilege.ts";

const quiet = (message: string): never => assert.fail(message);
const DAMAGED =
  "the file dashboard-key is damaged (it must hold 48 hexadecimal digits): `agent-bridge token --reset` replaces it";

test("the first start makes a key of 48 hexadecimal digits, later ones keep it", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const key = await ensureKey(home, quiet);
  assert.match(key, /^[0-9a-f]{48}$/);
  assert.equal(readFileSync(join(home, "dashboard-key"), "utf8"), key);
  assert.equal((statSync(join(home, "dashboard-key")).mode & 0o777).toString(8), "600");
  assert.equal(await ensureKey(home, quiet), key);
  assert.equal(keyReader(home)(), key);
});

test("first starts that race make one key", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const module = fileURLToPath(new URL("../../src/platform/key.ts", import.meta.url));
  const script = `import { ensureKey } from ${JSON.stringify(module)};
    console.log((await Promise.all([1, 2, 3].map(() => ensureKey(process.argv[1], console.error)))).join("\\n"));`;
  const start = () =>
    promisify(execFile)(process.execPath, [...process.execArgv, "--input-type=module", "-e", script, home]);
  const outputs = await Promise.all([start(), start(), start(), start()]);
  const keys = outputs.flatMap(({ stdout }) => stdout.trim().split("\n"));
  assert.equal(keys.length, 12);
  assert.deepEqual([...new Set(keys)], [keyReader(home)()]);
  assert.deepEqual(readdirSync(home), ["dashboard-key"]);
});

test("a reset shuts out the old key at once", async (t) => {
  const home = temporaryFolder(t);
  const before = await ensureKey(home, quiet);
  const read = keyReader(home);
  assert.equal(read(), before);
  const after = await resetKey(home);
  assert.notEqual(after, before);
  assert.equal(read(), after);
  assert.equal(await ensureKey(home, quiet), after);
});

test("a line's end behind the key does no harm", async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, "dashboard-key"), `${"a".repeat(48)}\r\n`, { mode: 0o600 });
  assert.equal(await ensureKey(home, quiet), "a".repeat(48));
});

test("a damaged key file is said to be one, and left as it is until a reset", async (t) => {
  const home = temporaryFolder(t);
  const file = join(home, "dashboard-key");
  for (const content of ["", "short", "A".repeat(48), "g".repeat(48), "a".repeat(49), "a".repeat(5_000)]) {
    writeFileSync(file, content, { mode: 0o600 });
    await assert.rejects(ensureKey(home, quiet), { name: "Failure", kind: "failed", message: DAMAGED });
    assert.throws(keyReader(home), { kind: "failed", message: DAMAGED });
    assert.equal(readFileSync(file, "utf8"), content);
  }
  const key = await resetKey(home);
  assert.equal(await ensureKey(home, quiet), key);
});

test("a key that is gone lets nobody in until there is one again", async (t) => {
  const home = temporaryFolder(t);
  const key = await ensureKey(home, quiet);
  const read = keyReader(home);
  assert.equal(read(), key);
  rmSync(join(home, "dashboard-key"));
  assert.throws(read, { kind: "failed", message: "there is no dashboard key: `agent-bridge token` makes one" });
  const next = await ensureKey(home, quiet);
  assert.equal(read(), next);
});

test("a key that others could read is closed to them, with a warning", async (t) => {
  const home = temporaryFolder(t);
  const key = await ensureKey(home, quiet);
  const file = join(home, "dashboard-key");
  chmodSync(file, 0o644);
  const warnings: string[] = [];
  assert.equal(await ensureKey(home, (message) => warnings.push(message)), key);
  assert.equal((statSync(file).mode & 0o777).toString(8), "600");
  assert.deepEqual(warnings, [
    "others could read the dashboard key: its file is now closed to them; `agent-bridge token --reset` makes a new key",
  ]);
});

test("what stands in the key's place and is no file is a failure that says so", async (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, "dashboard-key"));
  const message = "dashboard-key is a folder: move it away";
  await assert.rejects(ensureKey(home, quiet), { kind: "failed", message });
  await assert.rejects(resetKey(home), { kind: "failed", message });
});

test("no failure of reading the key holds a path: a server tells it to whoever asks", (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, "file"), "");
  mkdirSync(join(home, "dashboard-key"));
  for (const folder of [home, join(home, "file"), join(home, "none")]) {
    assert.throws(keyReader(folder), (error: Error) => !error.message.includes(home));
  }
});

test("a link that leads nowhere is said to be one, and a reset replaces it", async (t) => {
  const folder = temporaryFolder(t);
  symlinkSync(join(folder, "nowhere"), join(folder, "dashboard-key"));
  const message = "dashboard-key is a link that leads nowhere: `agent-bridge token --reset` replaces it";
  await assert.rejects(
    ensureKey(folder, () => {}),
    { message },
  );
  const key = await resetKey(folder);
  assert.equal(await ensureKey(folder, () => {}), key);
});

test("who runs the program is told which folder can't be written", async (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o555);
  const message = `dashboard-key in ${folder} can't be used (EACCES): see to its permissions and the space on its disk`;
  await withoutPrivilege(async () => {
    await assert.rejects(
      ensureKey(folder, () => {}),
      { message },
    );
    await assert.rejects(resetKey(folder), { message });
  });
});
