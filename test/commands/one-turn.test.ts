import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEvent } from "../../src/agents/event.ts";
import type { Sessions } from "../../src/agents/sessions.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import { fakeContext } from "./fake.ts";
import { Typist } from "./typist.ts";

/** Runs `run fake` with these options in which the agent does `events`: the exit code and what was written. */
async function ran(options: readonly string[], events: readonly SessionEvent[]) {
  const context = fakeContext([], {
    input: new Typist(false),
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

test("where all is printed, what went wrong stands in it", async () => {
  const all = await ran([], [...reply, error, ended("error")]);
  assert.deepEqual([all.code, all.err], [1, ""]);
  assert.match(all.out, /^Hello\nerror: the agent answered: no way\n/);
  const json = await ran(["--json"], [error, ended("error")]);
  assert.deepEqual([json.code, json.err, json.out.split("\n").length], [1, "", 3]);
});
