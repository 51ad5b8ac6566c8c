import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { assistant, CHILD, LONG_SESSION, SESSION, user, writeHistory } from "./history.ts";
import { Machine, NODES, PRODUCT, type Running } from "./product.ts";

const HUGE_SESSION = "3d8e0a24-5b6c-4d9e-8f73-2a7b5e4c9d32";
const START = Date.parse("2026-11-30T09:00:00.000Z");
const run = promisify(execFile);

for (const { name, node } of NODES) {
  describe(`taking sessions along with the built file on ${name}`, () => {
    const machine = new Machine(node);
    const { home } = machine;
    let folders = 0;

    /** A new empty folder. */
    const folder = (): string => {
      const path = join(home, `out-${++folders}`);
      mkdirSync(path);
      return path;
    };
    const exported = (...words: string[]) => machine.run("export", ...words);

    before(() => {
      writeHistory(machine);
      const texts = Array.from({ length: 300 }, (_, index) => [
        user(index, `ask ${index} ${"x".repeat(25_000)}`),
        assistant(index, [{ type: "text", text: `answer ${index} ${"y".repeat(15_000)}` }]),
      ]);
      machine.append(HUGE_SESSION, texts.flat());
      mkdirSync(join(home, ".agent-bridge"), { mode: 0o700 });
      const ended = { cwd: home, startedAt: START, endedAt: START + 1, status: "ended" };
      const sessions = [
        { ...ended, id: "sess_00000001", kind: "agent", agent: "claude", name: "shop", nativeSessionId: SESSION },
        { ...ended, id: "sess_00000002", kind: "terminal", name: "top", argv: ["top"] },
      ];
      writeFileSync(join(home, ".agent-bridge/sessions.json"), JSON.stringify({ version: 1, sessions, peers: [] }));
      const recording = join(home, ".agentproto/sessions/sess_00000001");
      mkdirSync(recording, { recursive: true });
      const records = [
        { seq: 1, ts: "2026-11-30T09:00:00.000Z", kind: "user-prompt", text: "Fix it." },
        { seq: 2, ts: "2026-11-30T09:00:01.000Z", kind: "text-delta", text: "As recorded.\n" },
        { seq: 3, ts: "2026-11-30T09:00:02.000Z", kind: "turn-end", reason: "completed" },
      ];
      writeFileSync(join(recording, "events.jsonl"), records.map((each) => `${JSON.stringify(each)}\n`).join(""));
    });

    after(() => machine.remove());

    test("a session is exported in each format, by id, its beginning and its name, and from either source", async () => {
      const { out: json, code, err } = await exported("claude/1b0e", "--json");
      assert.deepEqual([code, err], [0, ""]);
      const { meta, messages } = JSON.parse(json);
      assert.deepEqual([meta.agent, meta.sessionId, meta.source], ["claude", SESSION, "native"]);
      assert.equal(messages.find(({ role }: { role: string }) => role === "assistant").text.length, 20_008);
      for (const asked of [SESSION, "shop", "sess_00000001"]) assert.equal((await exported(asked, "--json")).out, json);
      assert.equal((await machine.run("sessions", "export", "shop", "--format", "json")).out, json);
      assert.match((await exported("shop")).out, /^# /);
      assert.match((await exported("shop", "--format=html")).out, /^<!doctype html>/i);
      const recorded = JSON.parse((await exported("shop", "--json", "--source", "daemon")).out);
      assert.deepEqual([recorded.meta.source, recorded.messages.at(-1).text], ["daemon", "As recorded.\n"]);
      const child = JSON.parse((await exported("shop", "--json", "--child", CHILD.slice(0, 5))).out);
      assert.equal(child.messages.at(-1).text, "Seen.");
    });

    test("tools are cut where that is asked for, within bounds", async () => {
      const { messages } = JSON.parse((await exported("shop", "--json", "--max-tool-chars", "5")).out);
      assert.equal(messages.find(({ role }: { role: string }) => role === "tool").text, "Exit…");
      for (const wrong of ["0", "9007199254740992", "many"]) {
        const { code, out, err } = await exported("shop", "--max-tool-chars", wrong);
        assert.deepEqual([code, out], [2, ""]);
        assert.match(err, /^agent-bridge: --max-tool-chars takes a whole number from 1 to 9007199254740991, not "/);
      }
    });

    test("what can't be exported is one line on stderr and exit code 2", async () => {
      machine.append("1b0f4c52-8f6d-4b7e-9a41-0d5f3c2e7a10", [user(1, "Another.")]);
      const refusals: readonly (readonly [words: string[], says: RegExp])[] = [
        [
          ["1b0"],
          /"1b0" may be claude\/1b0e4c52-\S+ \(Fix the redirect\), claude\/1b0f4c52-\S+ \(Another\.\); give more of the id\n$/,
        ],
        [["nobody"], /no session "nobody"; see node agent-bridge\.mjs ls\n$/],
        [
          ["top"],
          /a terminal session has no chat, so there is nothing to show or export; .* sessions attach sess_00000002 /,
        ],
        [["sess_00000002", "--source", "daemon"], /a terminal session has no chat/],
        [[LONG_SESSION, "--source", "daemon"], /nothing was recorded of this session\n$/],
      ];
      for (const [words, says] of refusals) {
        const { code, out, err } = await exported(...words);
        assert.deepEqual([code, out], [2, ""], err);
        assert.match(err, says);
        assert.equal(err.split("\n").length, 2);
      }
    });

    test("events prints a recording by its session's name, and follows it, with no server", async () => {
      assert.equal((await machine.run("events", "shop")).out, "❯ Fix it.\nAs recorded.\n── completed ──\n");
      const following = machine.start(["events", "-f", "--since", "1", "--json", "sess_00000001"]);
      await following.printed(/"seq":3/);
      following.child.kill("SIGINT");
      const { code, out } = await following.ended;
      assert.deepEqual(
        [
          code,
          out
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line).seq),
        ],
        [0, [2, 3]],
      );
      assert.equal((await machine.run("events", SESSION)).code, 0);
      assert.equal((await machine.run("events", LONG_SESSION)).code, 2);
    });

    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      test(`${signal} ends events -f while nobody reads what it prints`, async () => {
        const recording = join(machine.home, ".agentproto/sessions/sess_00000009");
        mkdirSync(recording, { recursive: true });
        const line = (seq: number) => JSON.stringify({ seq, kind: "text-delta", text: "x".repeat(1_000) });
        const lines = Array.from({ length: 2_000 }, (_, index) => `${line(index + 1)}\n`);
        writeFileSync(join(recording, "events.jsonl"), lines.join(""));
        const { child, ended } = machine.start(["events", "-f", "--json", "sess_00000009"]);
        const exited = new Promise((resolve) => child.once("exit", resolve));
        await new Promise((resolve) => child.stdout?.once("data", resolve));
        child.stdout?.pause();
        child.kill(signal);
        assert.equal(await exited, 0);
        child.stdout?.resume();
        const { out, err } = await ended;
        assert.equal(err, "");
        assert.ok(out.length < 1_500_000, "all of it was read");
      });
    }

    test("whoever reads only the beginning ends the export, and nothing is wrong", async () => {
      const { child, ended } = machine.start(["export", HUGE_SESSION]);
      child.stdout?.once("data", () => child.stdout?.destroy());
      const { code, err } = await ended;
      assert.deepEqual([code, err], [0, ""]);
    });

    test("a file is written for its owner alone, under the name that says its format, and replaces none", async () => {
      const out = folder();
      const file = join(out, "a.html");
      const { code, out: stdout, err } = await exported("shop", "-o", file);
      assert.deepEqual([code, stdout], [0, ""]);
      assert.match(err, /^\/.*\/a\.html: [\d,]+ bytes\n$/);
      assert.match(readFileSync(file, "utf8"), /^<!doctype html>/i);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      writeFileSync(file, "mine");
      assert.equal((await exported("shop", "-o", file)).code, 2);
      assert.equal(readFileSync(file, "utf8"), "mine");
      assert.equal((await exported("shop", "-o", file, "--force")).code, 0);
      assert.equal((await exported("shop", "-o", `${out}/`)).code, 0);
      assert.deepEqual(readdirSync(out).sort(), ["a.html", `claude-${SESSION}.md`]);
    });

    test("of several that write one file at once, one does, and it is whole", async () => {
      const out = folder();
      const file = join(out, "a.json");
      const ends = await Promise.all([1, 2, 3].map(() => exported(HUGE_SESSION, "-o", file)));
      assert.deepEqual(ends.map(({ code }) => code).sort(), [0, 2, 2]);
      assert.equal(JSON.parse(readFileSync(file, "utf8")).messages.length, 600);
      assert.deepEqual(readdirSync(out), ["a.json"]);
    });

    for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
      test(`${signal} while the file is written leaves no half of it`, async () => {
        const out = folder();
        const file = join(out, "a.json");
        const running = machine.start(["export", HUGE_SESSION, "-o", file]);
        await begun(out, running);
        running.child.kill(signal);
        const { code, err } = await running.ended;
        const left = readdirSync(out);
        if (left.includes("a.json")) assert.equal(JSON.parse(readFileSync(file, "utf8")).messages.length, 600);
        if (signal === "SIGKILL") return;
        assert.deepEqual(left, code === 0 ? ["a.json"] : []);
        if (code !== 0)
          assert.match(err, /^agent-bridge: interrupted: (?:nothing|.*\/a\.json) was (?:not )?written\n$/);
      });
    }

    test("where there is no folder or no room, that is said, and nothing is left", async () => {
      const out = folder();
      const none = await exported("shop", "-o", join(out, "no/a.md"));
      assert.deepEqual(
        [none.code, none.err],
        [2, `agent-bridge: there is no folder ${out}/no: make it first, or give another\n`],
      );
      const full = spawned("bash", [
        "-c",
        'ulimit -f 400; exec "$@"',
        "-",
        node,
        PRODUCT,
        "export",
        LONG_SESSION,
        "-o",
        join(out, "a.md"),
      ]);
      const { code, err } = await full;
      assert.deepEqual(
        [code, err],
        [1, `agent-bridge: ${out}/a.md can't be written (EFBIG): see to its name and its folder's permissions\n`],
      );
      assert.deepEqual(readdirSync(out), []);
    });

    test("a server that runs makes no difference", async () => {
      const words = ["shop", "--json", "--subagents", "--reasoning"];
      const without = await exported(...words);
      const server = machine.start(["serve", "--port", "0"]);
      await server.printed(/serves at /);
      assert.deepEqual(await exported(...words), without);
      assert.equal((await machine.run("events", "shop", "--json")).out.split("\n").length, 4);
      server.child.kill("SIGTERM");
      assert.equal((await server.ended).code, 0);
    });

    test("bash completes what is typed, by asking the program", async () => {
      writeFileSync(join(home, "complete.sh"), (await machine.run("completion", "bash")).out);
      const typed = async (...words: string[]): Promise<string[]> => {
        const script = `source complete.sh; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _agent_bridge; printf '%s\\n' "\${COMPREPLY[@]}"`;
        const env = { PATH: process.env.PATH, HOME: home };
        const { stdout } = await run("bash", ["--norc", "-c", script, "bash", "agent-bridge", ...words], {
          cwd: home,
          env,
        });
        return stdout.split("\n").slice(0, -1);
      };
      assert.deepEqual(await typed("exp"), ["export"]);
      assert.deepEqual(await typed("export", "--format", "=", "h"), ["html"]);
      assert.deepEqual(await typed("export", "sh"), ["shop"]);
      assert.deepEqual(await typed("show", "2c"), [LONG_SESSION]);
      assert.deepEqual(await typed("export", "-o", "compl"), ["complete.sh"]);
      assert.deepEqual(await typed("export", "$(touch x)"), [""]);
      assert.equal(readdirSync(home).includes("x"), false);
      await run("bash", ["-n", "complete.sh"], { cwd: home });
    });

    /** Runs another program on the machine. */
    async function spawned(file: string, words: readonly string[]): Promise<{ code: number | null; err: string }> {
      const child = spawn(file, words, {
        cwd: home,
        env: { PATH: process.env.PATH, HOME: home },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let err = "";
      child.stderr.setEncoding("utf8").on("data", (part: string) => {
        err += part;
      });
      return new Promise((resolve) => child.once("close", (code) => resolve({ code, err })));
    }
  });
}

/** Comes back when something is in the folder, or the process has ended. */
async function begun(folder: string, { ended }: Running): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver && readdirSync(folder).length === 0) await turn();
}
