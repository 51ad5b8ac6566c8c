import assert from "node:assert/strict";
import { test } from "node:test";
import { asTyped } from "../../src/commands/api-words.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { OutputClosed } from "../../src/commands/reader-waits.ts";
import { run } from "../../src/commands/run.ts";
import { Failure } from "../../src/platform/failure.ts";
import { fakeContext, fakeStore, fakeTerminal, listed } from "./fake.ts";

async function ran(words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const context = fakeContext([]);
  const code = await run(context, COMMANDS, words);
  return { code, ...context.terminal.written };
}

test("the version is printed", async () => {
  assert.deepEqual(await ran(["--version"]), { code: 0, out: "1.2.3\n", err: "" });
});

test("an unknown command is refused with the one that was probably meant", async () => {
  const err = 'agent-bridge: unknown command "sevre"; did you mean serve?\n';
  assert.deepEqual(await ran(["sevre"]), { code: 2, out: "", err });
});

for (const name of "search usage".split(" ")) {
  test(`${name} is not there yet and does not pretend to be`, async () => {
    const { code, out, err } = await ran([name]);
    assert.deepEqual({ code, out }, { code: 2, out: "" });
    assert.match(err, new RegExp(`^agent-bridge: unknown command "${name}"; .*\n$`));
    assert.doesNotMatch((await ran(["help"])).out, new RegExp(`^  ${name} `, "m"));
  });
}

test("an unknown option is refused, and the help is named", async () => {
  const err = "agent-bridge: unknown option --verbose; see agent-bridge ls --help\n";
  assert.deepEqual(await ran(["ls", "--verbose"]), { code: 2, out: "", err });
});

test("what was typed is repeated on one line, and can't act on the terminal", async () => {
  const err = 'agent-bridge: unknown command "a b c"; see agent-bridge help\n';
  assert.deepEqual(await ran(["a\u001b[31m\nb\r\u0085\u202ec"]), { code: 2, out: "", err });
});

test("a word too many or too few is refused", async () => {
  assert.equal((await ran(["ls", "x"])).err, 'agent-bridge: ls does not take "x"; see agent-bridge ls --help\n');
  assert.equal((await ran(["show"])).err, "agent-bridge: show needs ID; see agent-bridge show --help\n");
});

test("every command has a help that fits 80 columns and shows examples of options that it has", async () => {
  for (const { name, options } of COMMANDS) {
    const { code, out } = await ran([name, "--help"]);
    assert.equal(code, 0);
    assert.deepEqual(await ran(["help", name]), { code: 0, out, err: "" });
    assert.deepEqual(
      out.split("\n").filter((line) => line.length > 80),
      [],
    );
    const [, examples = ""] = out.split("examples:");
    assert.match(examples, new RegExp(`agent-bridge ${name}`));
    const used = [...examples.matchAll(/ --([a-z]+)/g)].map(([, option]) => option ?? "");
    assert.deepEqual(
      used.filter((option) => !Object.hasOwn(options, option)),
      [],
    );
  }
});

test("help after -- is an operand like any other", async () => {
  assert.equal((await ran(["ls", "--", "--help"])).code, 2);
});

test("a reader that has gone ends the command quietly", async () => {
  const terminal = fakeTerminal();
  const gone = { ...terminal, out: () => Promise.reject(new OutputClosed("gone")) };
  assert.equal(await run(fakeContext([fakeStore([listed("a1")])], { terminal: gone }), COMMANDS, ["ls"]), 0);
  assert.equal(terminal.written.err, "");
});

test("a failure is one line on stderr, and its kind the exit code", async () => {
  const kinds = ["usage", "bad-request", "not-found", "forbidden", "failed"] as const;
  const codes = await Promise.all(
    kinds.map(async (kind) => {
      const histories = () => Promise.reject(new Failure(kind, "two\nlines"));
      const context = fakeContext([], { bridge: { histories } });
      const code = await run(context, COMMANDS, ["ls"]);
      assert.deepEqual(context.terminal.written, { out: "", err: "agent-bridge: two lines\n" });
      return code;
    }),
  );
  assert.deepEqual(codes, [2, 2, 2, 1, 1]);
});

test("the options that stand alone take nothing else", async () => {
  for (const words of [
    ["--version", "x"],
    ["-v", "ls"],
    ["--help", "ls"],
    ["-h", "--json"],
  ]) {
    const context = fakeContext([]);
    assert.equal(await run(context, COMMANDS, words), 2, words.join(" "));
    assert.deepEqual(context.terminal.written, {
      out: "",
      err: `agent-bridge: ${words[0]} stands alone; see agent-bridge help\n`,
    });
  }
});

test("no line of any help is wider than 80 columns, and the agents that can be started are named", async () => {
  for (const name of [...COMMANDS.map((each) => each.name), "help"]) {
    const { out } = await ran([name, "--help"]);
    for (const line of out.split("\n")) assert.ok([...line].length <= 80, `${name}: ${line}`);
  }
  for (const name of ["run", "chat", "sessions"]) assert.match((await ran([name, "--help"])).out, /mastra-agent/);
});

test("a disk or folder that can't be written is told with the file and what to do, not as a fault of ours", async () => {
  for (const code of ["EROFS", "ENOSPC", "EACCES"]) {
    const path = "/home/dev/.agent-bridge/.sessions.json.baabe54911a2.tmp";
    const failing = {
      key: async () => {
        throw Object.assign(new Error(`${code}: no, open '${path}'`), { code, path });
      },
    };
    const context = fakeContext([], { bridge: failing });
    assert.equal(await run(context, COMMANDS, ["token"]), 1);
    const where = "sessions.json in /home/dev/.agent-bridge";
    const advice = "see to its permissions and the space on its disk";
    assert.equal(context.terminal.written.err, `agent-bridge: ${where} can't be used (${code}): ${advice}\n`);
  }
});

test("what the server says in the words of its API is said as it is typed", () => {
  for (const [said, typed] of [
    ["the session a is busy with a turn; cancel it, or send interrupt", /; cancel it, or prompt it with --interrupt$/],
    ["optionId must be one of the options of the question: a, b", /^the option must be one of/],
    ["no question with this toolCallId waits", /^no question of this call waits$/],
    ["cwd is no folder that is there: give one that is", /^the folder \(--cwd\) is not there/],
  ] as const) {
    assert.match(asTyped(said), typed);
  }
});
