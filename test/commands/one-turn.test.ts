import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEvent } from "../../src/agents/event.ts";
import type { Sessions } from "../../src/agents/sessions.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import { until } from "../support/turns.ts";
import { fakeContext, fakeTerminal } from "./fake.ts";
import { Typist } from "./typist.ts";

/** Runs `run fake` with these options in which the agent does `events`: the exit code and what was written. */
async function ran(
  options: readonly string[],
  events: readonly SessionEvent[],
  { columns }: { readonly columns?: number } = {},
) {
  const context = fakeContext([], {
    input: new Typist(false),
    terminal: fakeTerminal(columns),
    bridge: {
      drive: async (_environment, happened) => {
        const sessions: Partial<Sessions> = {
          start: async () => ({ id: "sess_00000001" }) as Awaited<ReturnType<Sessions["start"]>>,
          prompt: async () => {
            for (const event of events) happened(event);
            return {} as Awaited<ReturnType<Sessions["prompt"]>>;
          },
          close: async () => {},
        };
        return sessions as Sessions;
      },
    },
  });
  const code = await run(context, COMMANDS, ["run", "fake", ...options, "--", "Do", "it"]);
  return { code, ...context.terminal.written };
}

const reply: readonly SessionEvent[] = [
  { kind: "text-delta", text: "Hel" },
  { kind: "text-delta", text: "lo" },
];
const ended = (reason: "completed" | "error" | "cancelled" | "max_turns"): SessionEvent => ({
  kind: "turn-end",
  reason,
});
const error: SessionEvent = { kind: "error", error: { message: "the agent answered: no\u001b[2J way" } };

test("the reply alone is printed as it came, and its line is ended", async () => {
  assert.deepEqual(await ran(["-q"], [...reply, ended("completed")]), { code: 0, out: "Hello\n", err: "" });
});

test("where only the reply is printed, what went wrong is told beside it", async () => {
  assert.deepEqual(await ran(["-q"], [...reply, error, ended("error")]), {
    code: 1,
    out: "Hello\n",
    err: "agent-bridge: the agent answered: no way\n",
  });
  assert.deepEqual(await ran(["-q"], [...reply, ended("max_turns")]), {
    code: 1,
    out: "Hello\n",
    err: "agent-bridge: the agent ended the turn before it was done (max_turns)\n",
  });
});

test("who cancels a turn is not told so", async () => {
  assert.deepEqual(await ran(["-q"], [...reply, ended("cancelled")]), { code: 1, out: "Hello\n", err: "" });
});

test("where all is printed, what went wrong stands in it, but beside it where the output is kept", async () => {
  const all = await ran([], [...reply, error, ended("error")], { columns: 80 });
  assert.deepEqual([all.code, all.err], [1, ""]);
  assert.match(all.out, /^Hello\nerror: the agent answered: no way\n/);
  const kept = await ran([], [...reply, error, ended("error")]);
  assert.deepEqual(kept, {
    code: 1,
    out: "Hello\n── error ──\n",
    err: "agent-bridge: the agent answered: no way\n",
  });
  const json = await ran(["--json"], [error, ended("error")]);
  assert.deepEqual([json.code, json.err, json.out.split("\n").length], [1, "", 3]);
});

/** Starts `run` beside the test, on a terminal, with an agent that the test plays. */
function running(options: readonly string[], given: Partial<Sessions> = {}) {
  const input = new Typist(true);
  const terminal = fakeTerminal(80);
  const answers: string[] = [];
  let closed = 0;
  let happen: (event: SessionEvent) => void = () => {};
  let isPrompted = false;
  const sessions: Partial<Sessions> = {
    start: async () => ({ id: "sess_00000001" }) as Awaited<ReturnType<Sessions["start"]>>,
    find: async () =>
      ({ permissions: [{ toolCallId: "t1", title: "Remove build", options: [] }] }) as unknown as Awaited<
        ReturnType<Sessions["find"]>
      >,
    prompt: async () => {
      isPrompted = true;
      return {} as Awaited<ReturnType<Sessions["prompt"]>>;
    },
    answer: async (_id, _call, option) => void answers.push(option),
    close: async () => void closed++,
    ...given,
  };
  const drive = async (_environment: unknown, happened: typeof happen): Promise<Sessions> => {
    happen = happened;
    return sessions as Sessions;
  };
  const context = fakeContext([], { input, terminal, interrupts: input.interrupts, bridge: { drive } });
  const code = run(context, COMMANDS, ["run", "fake", ...options, "--", "Do", "it"]);
  return {
    ...{ code, input, terminal, answers },
    happen: (event: SessionEvent) => happen(event),
    isPrompted: () => isPrompted,
    closed: () => closed,
  };
}

const question: SessionEvent = {
  kind: "agent-prompt",
  toolCallId: "t1",
  options: [
    { optionId: "allow", name: "Allow", kind: "allow_once" },
    { optionId: "deny", name: "Deny", kind: "reject_once" },
  ],
};

test("what was typed before a question stood there does not answer it", async () => {
  const { code, input, terminal, answers, happen, isPrompted } = running([]);
  await until(isPrompted);
  input.type("1\nallow\n");
  happen(question);
  await until(() => terminal.written.err.includes("Answer with"));
  assert.match(terminal.written.err, /\(What was typed before the question is dropped\.\)\nAnswer with/);
  assert.deepEqual(answers, []);
  input.type("2\n");
  await until(() => answers.length > 0);
  happen(ended("completed"));
  assert.equal(await code, 0);
  assert.deepEqual(answers, ["deny"]);
});

test("a question is shown with its options also where the reply alone, or JSON, is printed", async () => {
  for (const options of [[], ["-q"], ["--json"]]) {
    const { code, input, terminal, answers, happen, isPrompted } = running(options);
    await until(isPrompted);
    happen(question);
    await until(() => terminal.written.err.includes("Answer with"));
    const asked =
      "The agent asks for permission: Remove build\n  1  Allow (allow)\n  2  Deny (deny)\nAnswer with the number";
    assert.ok(terminal.written.err.startsWith(asked), terminal.written.err);
    input.type("1\n");
    await until(() => answers.length > 0);
    happen(ended("completed"));
    assert.equal(await code, 0);
  }
});

test("a run that is asked to end while its agent starts leaves the start, and ends what was started", async () => {
  for (const how of ["stop", "end"] as const) {
    let isStarting = false;
    const start = () => {
      isStarting = true;
      return new Promise<never>(() => {});
    };
    const { code, input, terminal, closed } = running([], { start });
    await until(() => isStarting);
    input.interrupt(how);
    assert.equal(await code, 1);
    assert.equal(closed(), 1);
    assert.equal(terminal.written.err, "agent-bridge: fake was ended before it was up\n");
  }
});

test("however often a run is asked to end, it ends its agent first", async () => {
  let end = (): void => {};
  const close = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });
  const { code, input, happen, isPrompted } = running([], { close, cancel: async () => {} });
  await until(isPrompted);
  happen(ended("completed"));
  for (let count = 0; count < 20; count++) input.interrupt("stop");
  let isOver = false;
  void code.then(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.equal(isOver, false);
  end();
  assert.ok((await code) < 2);
});

test("a name that no URL can hold is refused before anything is started", async () => {
  for (const name of ["a/b", "host/x", "a\nb", "", "..", "x".repeat(129)]) {
    const { code, terminal, closed } = running(["--name", name]);
    assert.equal(await code, 2, JSON.stringify(name));
    assert.match(
      terminal.written.err,
      /^agent-bridge: --name takes a name of 1 to 128 characters without \/ [^\n]+\n$/,
    );
    assert.equal(closed(), 0);
  }
});
