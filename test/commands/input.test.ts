import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { linesOf } from "../../src/commands/input.ts";

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
