import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { OutputClosed } from "../../src/commands/reader-waits.ts";
import { run } from "../../src/commands/run.ts";
import { outputError } from "../../src/commands/terminal.ts";
import { Failure } from "../../src/platform/failure.ts";
import { fakeContext, fakeTerminal } from "./fake.ts";

const systemError = (code: string): Error => Object.assign(new Error("write failed"), { code });

test("whoever read the output has gone: nothing is wrong; output that is lost is a failure that says why", () => {
  assert.ok(outputError(systemError("EPIPE")) instanceof OutputClosed);
  assert.ok(outputError(systemError("ERR_STREAM_DESTROYED")) instanceof OutputClosed);
  for (const [code, message] of [
    ["ENOSPC", "the output can't be written: there is no space left"],
    ["EDQUOT", "the output can't be written: there is no space left"],
    ["EIO", "the output can't be written: EIO"],
  ] as const) {
    const error = outputError(systemError(code));
    assert.ok(error instanceof Failure);
    assert.deepEqual([error.kind, error.message], ["failed", message]);
  }
});

test("a command whose output is lost exits 1 and says so; one whose reader has gone exits 0 and says nothing", async () => {
  for (const [code, exit, told] of [
    ["EPIPE", 0, ""],
    ["ENOSPC", 1, "agent-bridge: the output can't be written: there is no space left\n"],
  ] as const) {
    const terminal = fakeTerminal();
    terminal.out = async () => {
      throw outputError(systemError(code));
    };
    assert.equal(await run(fakeContext([], { terminal }), COMMANDS, ["help"]), exit);
    assert.equal(terminal.written.err, told);
  }
});
