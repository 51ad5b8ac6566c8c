import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { allInput, linesOf } from "../../src/commands/input.ts";
import { Failure } from "../../src/platform/failure.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { Typist } from "./typist.ts";

const ECHO = fileURLToPath(new URL("echo-input.ts", import.meta.url));

interface Echo {
  readonly child: ChildProcessWithoutNullStreams;
  /** Comes back when it has said `text`. */
  said(text: string): Promise<void>;
}

function started(t: TestContext, command: string, args: readonly string[]): Echo {
  const child = spawn(command, args);
  t.after(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  return {
    child,
    async said(text) {
      while (!out.includes(text)) {
        assert.ok(child.stdout.readable, `it ended, having said ${out}`);
        await Promise.race([once(child.stdout, "data"), once(child.stdout, "end")]);
      }
    },
  };
}

async function all(texts: AsyncIterable<string>): Promise<string[]> {
  const taken: string[] = [];
  for await (const text of texts) taken.push(text);
  return taken;
}

test("lines are the same wherever their bytes are cut, and what stands behind the last end is one", async () => {
  const bytes = Buffer.from("é\r\n\n😀 x\nlast");
  for (let cut = 0; cut <= bytes.length; cut++) {
    const parts = (async function* () {
      yield bytes.subarray(0, cut);
      yield bytes.subarray(cut);
    })();
    assert.deepEqual(await all(linesOf(parts)), ["é", "", "😀 x", "last"], `${cut}`);
  }
  const none = (async function* () {})();
  assert.deepEqual(await all(linesOf(none)), []);
});

test("what a pipe brings is read as it is, to its end", async (t) => {
  const { child, said } = started(t, process.execPath, [ECHO]);
  await said("ready false null\n");
  child.stdin.write(Buffer.from([0xff, 0x00]));
  await said("ff00\n");
  child.stdin.end("x");
  await said("78\nover\n");
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 0);
});

test("Ctrl-C and a request to end are told apart, and end nothing by themselves", async (t) => {
  const { child, said } = started(t, process.execPath, [ECHO]);
  await said("ready");
  child.kill("SIGINT");
  await said("stop\n");
  child.kill("SIGINT");
  await said("stop\nstop\n");
  child.kill("SIGTERM");
  await said("end\n");
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 0);
});

test("on a terminal in raw mode each key comes as it is typed, Ctrl-C too", {
  skip: process.platform !== "linux",
}, async (t) => {
  const line = `stty cols 90 rows 20; '${process.execPath}' '${ECHO}' raw`;
  const { child, said } = started(t, "script", ["-qfec", line, "/dev/null"]);
  await said('ready true {"columns":90,"rows":20}');
  child.stdin.write("a");
  await said("61");
  child.stdin.write("\u0003");
  await said("03");
  child.stdin.write("\u001d");
  await said("1d");
  await said("over");
  await once(child, "exit");
});

test("what was typed on a terminal before it counts is dropped, also a line that is not ended", {
  skip: process.platform !== "linux",
}, async (t) => {
  const isTyped = join(temporaryFolder(t), "typed");
  const line = `'${process.execPath}' '${ECHO}' drop '${isTyped}'`;
  const { child, said } = started(t, "script", ["-qfec", line, "/dev/null"]);
  child.stdin.write("1\nyes\nal");
  // The terminal itself shows what is typed.
  await said("al");
  writeFileSync(isTyped, "");
  await said("ready");
  await said("dropped true");
  child.stdin.write("no\n");
  // Of "al" nothing is left in front of it.
  await said("6e6f0a");
  child.stdin.write("\u001d\n");
  await said("over");
});

test("lines are edited with the keys of a terminal, are of any length, and come back with the arrow up", {
  skip: process.platform !== "linux",
}, async (t) => {
  const { child, said } = started(t, "script", ["-qfec", `'${process.execPath}' '${ECHO}' edit`, "/dev/null"]);
  await said("> ");
  child.stdin.write("abc\u001b[D\u001b[Ddef\r");
  await said("line adefbc");
  await said("> ");
  child.stdin.write("\u001b[A!\r");
  await said("line adefbc!");
  child.stdin.write(`${"x".repeat(6_000)}y\r`);
  await said(`line 6001`);
  child.stdin.write("\u0003");
  await said("stop");
  child.stdin.write("\u0004");
  await said("over");
});

/** A pipe that brings `parts`, and stays open after them when `open`. */
function pipe(parts: readonly Uint8Array[], open = false): Typist {
  const typist = new Typist(false);
  for (const part of parts) typist.type(part);
  if (!open) typist.end();
  return typist;
}

test("all of a pipe is read to its end, also a character that comes in two pieces", async () => {
  const bytes = Buffer.from("a\u00e9\u{1f600}");
  assert.equal(await allInput(pipe([bytes.subarray(0, 2), bytes.subarray(2)])), "a\u00e9\u{1f600}");
  assert.equal(await allInput(pipe([])), "");
});

test("a pipe that brings too much, no text, or never ends is refused", async () => {
  const told = (message: string) => new Failure("usage", message);
  await assert.rejects(
    allInput(pipe([Buffer.alloc(1024 * 1024 + 1)])),
    told("standard input is over 1 MiB: send it in parts"),
  );
  await assert.rejects(allInput(pipe([Buffer.from([0xff])])), told("standard input is no text in UTF-8"));
  await assert.rejects(
    allInput(pipe([Buffer.from("x")], true), 5),
    told("nothing more comes on standard input, and it does not end"),
  );
});
