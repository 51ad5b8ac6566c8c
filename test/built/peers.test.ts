import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, type TestContext, test } from "node:test";
import { startOf } from "../../src/platform/process-identity.ts";
import { ask, type Ended, Machine, NODES, PRODUCT, type Running } from "./product.ts";

/** A stand-in for a CLI: runs each line of its stdin in a shell, as a shell tool does, and says how that ended. */
const CLI = `
  const { spawnSync } = require("node:child_process");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { command, input } = JSON.parse(line);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8", input: input ?? "" });
    console.log(JSON.stringify({ code: status, out: stdout, err: stderr }));
  });
`;

interface Cli {
  readonly pid: number;
  /** Runs the product in its shell, with `input` on stdin. */
  run(words: string, input?: string): Promise<Ended>;
  end(): Promise<void>;
}

for (const { name, node } of NODES) {
  describe(`joining the built file's server on ${name}`, () => {
    const machine = new Machine(node);
    const folder = join(machine.home, "shop");
    let server: Running;

    before(async () => {
      mkdirSync(folder);
      server = await serving();
    });
    after(() => machine.remove());

    async function serving(): Promise<Running> {
      const started = machine.start(["serve", "--port", "0"]);
      await started.printed(/serves at/);
      return started;
    }

    async function stopped(running: Running): Promise<void> {
      running.child.kill("SIGTERM");
      await running.ended;
    }

    /** Starts a CLI called `agent` with these variables. */
    function cli(t: TestContext, variables: NodeJS.ProcessEnv, agent = "claude"): Cli {
      const child: ChildProcess = spawn(process.execPath, ["-e", CLI], {
        argv0: agent,
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: machine.home, ...variables },
        stdio: ["pipe", "pipe", "inherit"],
      });
      const end = async (): Promise<void> => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill("SIGKILL");
        await once(child, "exit");
      };
      t.after(end);
      const answers = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
      return {
        pid: child.pid ?? 0,
        end,
        async run(words, input) {
          child.stdin?.write(`${JSON.stringify({ command: `"${node}" "${PRODUCT}" ${words}`, input })}\n`);
          const { value } = await answers.next();
          return JSON.parse(String(value));
        },
      };
    }

    async function peers(): Promise<{ name: string; agent: string; sessionId: string; pid: number }[]> {
      return JSON.parse((await machine.run("peers", "--json")).out).peers;
    }

    test("join gives the session that runs it a name, which outlives the server and not the CLI", async (t) => {
      const one = cli(t, { CLAUDE_CODE_SESSION_ID: "11111111-2222-4333-8444-555555555555" });
      assert.deepEqual(await one.run("join --name front"), { code: 0, out: "front\n", err: "" });
      assert.deepEqual(await one.run("join"), { code: 0, out: "front\n", err: "" });
      const found = (await peers()).map(({ name, agent, pid }) => ({ name, agent, pid }));
      assert.deepEqual(found, [{ name: "front", agent: "claude", pid: one.pid }]);
      await stopped(server);
      assert.deepEqual(
        (await peers()).map(({ name }) => name),
        ["front"],
      );
      server = await serving();
      assert.deepEqual(
        (await peers()).map(({ name }) => name),
        ["front"],
      );
      await one.end();
      assert.deepEqual(await peers(), []);
    });

    test("leave takes the name away, from inside and from outside", async (t) => {
      const one = cli(t, { CODEX_THREAD_ID: "thread-1" }, "codex");
      const two = cli(t, { CODEX_THREAD_ID: "thread-2" }, "codex");
      assert.equal((await one.run("join")).out, "codex-shop\n");
      assert.equal((await two.run("join")).out, "codex-shop-2\n");
      assert.deepEqual(await one.run("leave"), { code: 0, out: "", err: "codex-shop has left\n" });
      assert.deepEqual(await one.run("leave"), {
        code: 2,
        out: "",
        err: "agent-bridge: this session has not joined; see node agent-bridge.mjs peers\n",
      });
      assert.equal((await machine.run("leave", "codex-shop-2")).code, 0);
      assert.equal((await machine.run("leave", "codex-shop-2")).code, 2);
      assert.deepEqual(await peers(), []);
    });

    test("a session that its store proves live is a peer, and once its process's start is another, none", async (t) => {
      const one = cli(t, {});
      const file = join(machine.home, ".claude/sessions", `${one.pid}.json`);
      mkdirSync(join(machine.home, ".claude/sessions"), { recursive: true });
      mkdirSync(join(machine.home, ".claude/projects"), { recursive: true });
      const registered = { pid: one.pid, sessionId: "proven-1", cwd: folder, startedAt: 5, status: "busy" };
      writeFileSync(file, JSON.stringify({ ...registered, procStart: startOf(one.pid) }));
      let found = await peers();
      // The store's list of folders is looked at every ten seconds, and at once when it is asked anew.
      for (const until = Date.now() + 30_000; found.length === 0 && Date.now() < until; ) found = await peers();
      assert.deepEqual(found, [
        {
          name: "claude-shop",
          agent: "claude",
          sessionId: "proven-1",
          cwd: folder,
          pid: one.pid,
          startedAt: 5,
          activity: "busy",
        },
      ]);
      writeFileSync(file, JSON.stringify({ ...registered, procStart: "1" }));
      for (const until = Date.now() + 30_000; found.length > 0 && Date.now() < until; ) found = await peers();
      assert.deepEqual(found, []);
      rmSync(file);
    });

    test("the hook of Claude Code joins and leaves, and says nothing", async (t) => {
      const one = cli(t, {});
      const event = (fields: object) => JSON.stringify({ session_id: "hooked-1", cwd: folder, ...fields });
      const quiet = { code: 0, out: "", err: "" };
      const start = event({ hook_event_name: "SessionStart", source: "startup", transcript_path: "/x" });
      assert.deepEqual(await one.run("hook claude", start), quiet);
      assert.deepEqual(
        (await peers()).map(({ name, sessionId, pid }) => [name, sessionId, pid]),
        [["claude-shop", "hooked-1", one.pid]],
      );
      assert.deepEqual(await one.run("hook claude", event({ hook_event_name: "SessionEnd", reason: "clear" })), quiet);
      const cleared = event({ hook_event_name: "SessionStart", source: "clear", session_id: "hooked-2" });
      assert.deepEqual(await one.run("hook claude", cleared), quiet);
      assert.deepEqual(
        (await peers()).map(({ name, sessionId }) => [name, sessionId]),
        [["claude-shop", "hooked-2"]],
      );
      const end = event({ hook_event_name: "SessionEnd", reason: "other", session_id: "hooked-2" });
      assert.deepEqual(await one.run("hook claude", end), quiet);
      assert.deepEqual(await one.run("hook claude", end), quiet);
      assert.deepEqual(await one.run("hook claude", event({ hook_event_name: "Stop" })), quiet);
      assert.deepEqual(await peers(), []);
      for (const garbage of ["", "{", "[]", '{"hook_event_name":"SessionStart","session_id":"../x"}']) {
        const { code, out, err } = await one.run("hook claude", garbage);
        assert.deepEqual([code, out], [1, ""]);
        assert.match(err, /^agent-bridge: what came on stdin is not the JSON[^\n]*\n$/);
      }
    });

    test("hook claude prints settings that run this very program", async () => {
      const { code, out } = await machine.run("hook", "claude", "--print");
      const { hooks } = JSON.parse(out);
      const [
        {
          hooks: [{ type, command }],
        },
      ] = hooks.SessionStart;
      assert.deepEqual([code, type, hooks.SessionEnd], [0, "command", hooks.SessionStart]);
      assert.match(command, /agent-bridge\.mjs hook claude$/);
      assert.equal((await machine.run("hook", "codex")).code, 2);
    });

    test("without a server join fails and says so, the hook does nothing, and peers still tells who joined", async (t) => {
      const one = cli(t, { CLAUDE_CODE_SESSION_ID: "s1" });
      await one.run("join --name front");
      await stopped(server);
      const err = "agent-bridge: no server runs on this home: start one with node agent-bridge.mjs serve\n";
      assert.deepEqual(await one.run("join"), { code: 1, out: "", err });
      assert.deepEqual(await one.run("leave"), { code: 1, out: "", err });
      const start = JSON.stringify({ session_id: "s1", hook_event_name: "SessionStart" });
      assert.deepEqual(await one.run("hook claude", start), { code: 0, out: "", err: "" });
      assert.match((await machine.run("peers")).out, /^NAME .*\nfront +claude .*~\/shop/);
      const saved = readFileSync(join(machine.home, ".agent-bridge/sessions.json"), "utf8");
      await one.end();
      assert.deepEqual(await machine.run("peers"), { code: 0, out: "", err: "Nobody is live.\n" });
      assert.equal(readFileSync(join(machine.home, ".agent-bridge/sessions.json"), "utf8"), saved);
      server = await serving();
    });

    test("outside any session join says what it needs", async () => {
      const { code, out, err } = await machine.run("join");
      assert.deepEqual([code, out], [1, ""]);
      assert.match(
        err,
        /^agent-bridge: no session that runs this command was found: .*CLAUDE_CODE_SESSION_ID[^\n]*\n$/,
      );
    });

    test("whoever has not the key takes no name away", async () => {
      const url = /127\.0\.0\.1:(\d+)/.exec(readFileSync(join(machine.home, ".agent-bridge/dashboard.json"), "utf8"));
      const reply = await ask({ port: Number(url?.[1]), key: "0".repeat(48) }, "/api/peers/front", {}, "DELETE");
      assert.equal(reply.status, 403);
    });
  });
}
