import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bridge, OwnFiles } from "../../src/commands/bridge.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { OutputClosed } from "../../src/commands/reader-waits.ts";
import { run } from "../../src/commands/run.ts";
import { Failure } from "../../src/platform/failure.ts";
import type { RuntimeNotice } from "../../src/platform/runtime-notice.ts";
import { PortTaken } from "../../src/server/listen.ts";
import type { StoreReport } from "../../src/stores/store.ts";
import { fakeContext, fakeTerminal } from "./fake.ts";

const CLAUDE: StoreReport = {
  agent: "claude",
  roots: [{ path: "/home/dev/.claude/projects", found: true }],
  sessions: 1234,
  formats: ["2.1.332"],
  skipped: [],
};

const own = (more: Partial<OwnFiles["config"]> = {}): OwnFiles => ({
  home: { path: "/home/dev/.agent-bridge", found: true },
  key: { found: true },
  config: { found: true, warnings: [], ...more },
});

const noticeAt = (port: number): RuntimeNotice => ({
  url: `http://127.0.0.1:${port}`,
  port,
  pid: 7,
  bootNonce: "0".repeat(32),
});

/** Serves at once on the port that is asked for, or on 50000; ports of `taken` are taken. */
async function served(
  words: readonly string[],
  taken: readonly number[] = [],
  more: Partial<Bridge> = {},
): Promise<{ code: number; out: string; err: string; closed: number }> {
  const end = new AbortController();
  let closed = 0;
  const bridge: Partial<Bridge> = {
    running: async () => undefined,
    ownFiles: () => own(),
    wayIn: async (_, { url }) => `${url}/?t=code`,
    async serve(_environment, asked) {
      if (taken.includes(asked)) throw new PortTaken(asked, undefined);
      return {
        ...noticeAt(asked || 50_000),
        async reports() {
          end.abort();
          return [CLAUDE];
        },
        async close() {
          closed++;
        },
      };
    },
    ...more,
  };
  const context = fakeContext([], { bridge, untilInterrupted: () => end.signal });
  const code = await run(context, COMMANDS, words);
  return { code, ...context.terminal.written, closed };
}

test("serve prints the way in, what it has found, and a curl line with the way to call this program", async () => {
  assert.deepEqual(await served(["serve"]), {
    code: 0,
    out: [
      "agent-bridge 1.2.3 serves at http://127.0.0.1:4777",
      "",
      "  page  http://127.0.0.1:4777/?t=code",
      "  API   curl -b ab_ui=$(node /opt/agent-bridge.mjs token) http://127.0.0.1:4777/api/state",
      "",
      "  claude  1,234 sessions in ~/.claude/projects",
      "",
      "Ctrl-C ends it.",
      "",
    ].join("\n"),
    err: "",
    closed: 1,
  });
});

test("the curl line names the home that was given, as a shell takes it", async () => {
  const { out } = await served(["serve", "--home", "/tmp/it's mine"]);
  assert.match((await served(["serve", "--home", "x"])).out, new RegExp(`token --home ${process.cwd()}/x\\)`));
  assert.match(out, /\$\(node \/opt\/agent-bridge\.mjs token --home '\/tmp\/it'\\''s mine'\)/);
});

test("a taken port is passed over unless it was asked for", async () => {
  assert.match((await served(["serve"], [4777])).out, /serves at http:\/\/127\.0\.0\.1:50000 \(port 4777 is taken\)\n/);
  const config = { ownFiles: () => own({ port: 4800 }) };
  assert.match((await served(["serve"], [], config)).out, /serves at http:\/\/127\.0\.0\.1:4800\n/);
  assert.match((await served(["serve"], [4800], config)).out, /:50000 \(port 4800 is taken\)\n/);
});

test("where a server of this home runs, serve says so, and link prints a way in", async () => {
  const more = { running: async () => noticeAt(4790) };
  const { code, out, err } = await served(["serve"], [], more);
  assert.deepEqual([code, out], [1, ""]);
  assert.equal(
    err,
    "agent-bridge: a server already runs on /home/dev/.agent-bridge, at http://127.0.0.1:4790 (process 7); agent-bridge link prints a way in\n",
  );
  assert.equal((await served(["link"], [], more)).out, "http://127.0.0.1:4790/?t=code\n");
  assert.equal((await served(["link", "--json"], [], more)).out, '{"url":"http://127.0.0.1:4790/?t=code"}\n');
  assert.deepEqual(await served(["link"]), {
    code: 1,
    out: "",
    err: "agent-bridge: no server runs on /home/dev/.agent-bridge; start one with agent-bridge serve\n",
    closed: 0,
  });
});

test("serve goes on when nobody reads what it prints any more, and ends when it can't be written", async () => {
  for (const [error, code] of [
    [new OutputClosed("output closed"), 0],
    [new Failure("failed", "the output can't be written"), 1],
  ] as const) {
    const end = new AbortController();
    const closed: string[] = [];
    const bridge: Partial<Bridge> = {
      running: async () => undefined,
      ownFiles: () => own(),
      wayIn: async (_, { url }) => url,
      serve: async () => ({
        ...noticeAt(1),
        reports: async () => [],
        async close() {
          closed.push(end.signal.aborted ? "when it was asked to" : "at once");
        },
      }),
    };
    const terminal = fakeTerminal();
    terminal.out = async () => {
      setImmediate(() => end.abort());
      throw error;
    };
    assert.equal(
      await run(fakeContext([], { bridge, terminal, untilInterrupted: () => end.signal }), COMMANDS, ["serve"]),
      code,
    );
    assert.deepEqual(closed, [code === 0 ? "when it was asked to" : "at once"]);
  }
});

test("token prints the key and nothing else; --reset a new one", async () => {
  const more = { key: async () => "old", newKey: async () => "new" };
  assert.deepEqual(
    [(await served(["token"], [], more)).out, (await served(["token", "--reset"], [], more)).out],
    ["old\n", "new\n"],
  );
  assert.equal((await served(["token", "--json"], [], more)).out, '{"key":"old"}\n');
});
