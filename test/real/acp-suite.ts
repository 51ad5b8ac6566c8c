import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Peer } from "../../src/peers/peer.ts";
import type { Item } from "../../src/transcript/item.ts";
import { Driver, outline, type SessionRecord, said } from "./acp-session.ts";
import type { Agent } from "./agents.ts";
import { brief, wholeChat } from "./follower.ts";
import { processesIn } from "./processes.ts";
import { Stage } from "./stage.ts";
import { eventually, soon } from "./waiting.ts";

/** How an agent differs from the others when it is spoken with over ACP. */
export interface Manner {
  /** What its user has set up besides. */
  prepare?(stage: Stage): Promise<void>;
  /** A line of a script that runs a command for which the agent asks first. */
  asks(command: string): string;
  /** The exit code of a run whose model refuses it, and what is told of it. */
  readonly refused: readonly (number | string)[];
}

/** Holds that a real agent is driven over ACP as the contract says, and leaves nothing behind. */
export function acpSuite(agent: Agent, manner: Manner): void {
  describe(`${agent.name}, driven over ACP`, () => {
    let stage: Stage;
    let session: Driver;
    let another: Driver;

    before(async () => {
      stage = await Stage.start(agent);
      await manner.prepare?.(stage);
    });
    after(() => stage?.end());

    test("a session comes up, is a peer once, and does what it is told", async () => {
      session = await Driver.start(stage, { name: "front", permit: "ask" });
      assert.equal(session.started.status, "idle");
      const reason = await session.turn(["@say Looking.", agent.shell("seq 40 43"), "@say All done."]);
      const answered = reason === "awaiting-input" ? await allowed() : reason;
      assert.equal(answered, "completed");
      const records = await session.records();
      assert.equal(said(records), "Looking.All done.", JSON.stringify(records));
      assert.deepEqual(outline(records).slice(-2), ["turn-end completed", "usage_snapshot"]);
      assert.equal(outline(records).filter((line) => line.startsWith("turn-end")).length, 1);
      const call = records.find(({ kind }) => kind === "tool-call");
      const result = records.find(({ kind }) => kind === "tool-result");
      assert.equal(result?.toolCallId, call?.toolCallId);
      assert.match(JSON.stringify(result?.result), /40\\+n41\\+n42\\+n43/);

      assert.deepEqual(await peers(), [["front", agent.name, session.started.nativeSessionId]]);
    });

    test("its chat is the one in the agent's own store, by its name, its run and its job too", async () => {
      const native = stage.chat(session.started.nativeSessionId ?? "");
      const { items } = await wholeChat(stage.api, native);
      assert.ok(
        items.some(({ text }) => text === "All done."),
        JSON.stringify(items.map(brief)),
      );
      const { runs } = await stage.get("/api/runs");
      assert.deepEqual(
        runs.map(({ status }: { status: string }) => status),
        ["done"],
      );
      const [{ name, job }] = runs;
      for (const path of ["/api/sessions/front/chat", `${session.path}/chat`, `/api/runs/${name}/chat`]) {
        assert.deepEqual((await wholeChat(stage.api, path)).items, items, path);
      }
      assert.match((await stage.get(`/api/runs/${name}`)).text, /answer: All done\.\n.*finished after \d+s · done\n$/);
      assert.deepEqual(await stage.get(`/api/jobs/${job}/subagents`), { subagents: [] });
    });

    test("it asks before it does something, and does it when it is allowed to", async () => {
      const touched = join(stage.work, "allowed");
      await session.records();
      assert.equal(await session.turn(["@say May I?", manner.asks("touch allowed"), "@say I did."]), "awaiting-input");
      assert.equal((await session.now()).status, "awaiting-input");
      assert.ok(!existsSync(touched));
      assert.equal(await allowed(), "completed");
      assert.ok(existsSync(touched));
      const records = await session.records();
      assert.deepEqual(outline(records), [
        "user-prompt",
        "agent-prompt",
        "permission-resolved approve",
        "turn-end completed",
        "usage_snapshot",
      ]);
    });

    test("what is rejected is not done", async () => {
      assert.equal(await session.turn(["@say May I?", manner.asks("touch rejected"), "@say I see."]), "awaiting-input");
      await session.answer("reject_once");
      const records = await untilTurnEnd(session);
      assert.ok(outline(records).includes("permission-resolved deny"), outline(records).join());
      assert.ok(!existsSync(join(stage.work, "rejected")));
    });

    test("a turn that is cancelled ends so, and the next one works", async () => {
      const turn = session.turn(["@say Thinking.", "@hold cancel"]);
      await soon("the model is asked", stage.model.reached("cancel"));
      assert.equal((await session.post("prompt", { prompt: "@say Too early." })).status, 409);
      assert.equal((await session.post("cancel")).status, 200);
      assert.equal(await turn, "cancelled");
      await session.records();
      assert.equal(await session.turn(["@say Again."]), "completed");
      assert.equal(said(await session.records()), "Again.");
    });

    test("a session that is started again goes on with its conversation under another id", async () => {
      const again = await session.restart();
      const before = session;
      session = again;
      const { id, restartedFrom, nativeSessionId } = again.started;
      assert.notEqual(id, before.id);
      assert.deepEqual([restartedFrom, nativeSessionId], [before.id, before.started.nativeSessionId]);
      assert.equal((await before.now()).status, "ended");
      const how = await again.turn(["@say Here again."]);
      const told = await again.records();
      assert.equal(how, "completed", JSON.stringify(told));
      assert.equal(said(told), "Here again.");
      const texts = (await chatWith(`${again.path}/chat`, "Here again.")).map(({ text }) => text);
      assert.ok(texts.indexOf("All done.") >= 0 && texts.indexOf("All done.") < texts.indexOf("Here again."));
    });

    test("a session that is stopped while a command of its runs leaves no process", async () => {
      await commandRuns(session, "tail -f /dev/null");
      assert.equal((await session.stop()).status, "ended");
      assert.deepEqual(left(), []);
      assert.deepEqual(outline(await session.records()).slice(-3), [
        "turn-end aborted",
        "usage_snapshot",
        "usage_snapshot",
      ]);
      assert.equal((await session.post("prompt", { prompt: "@say Hello." })).status, 409);
      await eventually("nobody is live", async () => ((await peers()).length === 0 ? true : undefined));
    });

    test("two of its sessions live beside each other", async () => {
      [session, another] = await Promise.all([
        Driver.start(stage, { name: "alone", permit: "deny" }),
        Driver.start(stage, { name: "free", permit: "allow" }),
      ]);
      const live = [session, another].map(({ started }, index) => [
        ["alone", "free"][index],
        agent.name,
        started.nativeSessionId,
      ]);
      assert.deepEqual((await peers()).toSorted(), live);
    });

    test("without anyone to ask, what needs a question is not done", async () => {
      await session.turn(["@say May I?", manner.asks("touch denied"), "@say I see."]);
      assert.ok(outline(await session.records()).includes("permission-resolved deny"));
      assert.ok(!existsSync(join(stage.work, "denied")));
    });

    test("where all is allowed, it is done", async () => {
      assert.equal(await another.turn(["@say Free.", manner.asks("touch free"), "@say Done."]), "completed");
      assert.ok(existsSync(join(stage.work, "free")));
    });

    test("an agent that is killed in mid-turn ends its turn and its session, and leaves nothing it started", async () => {
      await another.records();
      await commandRuns(another, "tail --follow /dev/null");
      process.kill(another.started.pid ?? 0, "SIGKILL");
      const ended = await eventually("it has failed", async () => {
        const now = await another.now();
        return now.status === "failed" ? now : undefined;
      });
      assert.equal(ended.signal, "SIGKILL");
      const told = outline(await another.records()).filter((line) => !/^(agent-prompt|permission)/.test(line));
      assert.deepEqual(told, ["user-prompt", "error", "turn-end exited", "usage_snapshot", "usage_snapshot"]);
      const { status, text } = await another.post("prompt", { prompt: "@say Hello." });
      assert.deepEqual([status, text.includes(another.id)], [409, true]);
      await eventually("only the other is live", async () => {
        const names = (await peers()).map(([name]) => name);
        return names.join() === "alone" ? true : undefined;
      });
      assert.deepEqual(
        left().filter((command) => command.includes("--follow")),
        [],
      );
    });

    test("a server that ends takes its agents along, also in mid-turn", async () => {
      const turn = session.turn(["@say Half", "@hold server"]).catch(() => "gone");
      await soon("the model is asked", stage.model.reached("server"));
      stage.server.child.kill("SIGTERM");
      const { code, err } = await soon("the server ends", stage.server.ended);
      assert.deepEqual([code, err], [0, ""]);
      assert.deepEqual(left(), []);
      await turn;
    });

    test("without a server, run prints what the agent says, and ends as the turn did", async () => {
      const hello = stage.product("run", agent.name, "-q", "--cwd", stage.work, "--", "@say Hello");
      assert.deepEqual(await hello.ended, { code: 0, out: "Hello\n", err: "" });
      const { code, out } = await stage.product("run", agent.name, "--json", "--cwd", stage.work, "--", "@error 400")
        .ended;
      const events: SessionRecord[] = out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      assert.deepEqual([code, ...outline(events).slice(1)], manner.refused, out);
      assert.deepEqual(left(), []);
      assert.deepEqual(stage.model.faults, []);
    });

    /** Who is live: name, agent and the id in the agent's own store. */
    async function peers(): Promise<readonly (string | null)[][]> {
      const found: readonly Peer[] = (await stage.get("/api/state")).peers;
      return found.map(({ name, agent: of, sessionId }) => [name, of, sessionId]);
    }

    /** Has the agent run a command that goes on, whether it asks for that or not. */
    async function commandRuns(of: Driver, command: string): Promise<void> {
      assert.equal((await of.post("prompt", { prompt: manner.asks(command) })).status, 202);
      await eventually(`${command} runs`, async () => {
        if (((await of.now()).permissions ?? []).length > 0) await of.answer("allow_once");
        return left().includes(command) ? true : undefined;
      });
    }

    /** A chat once `text` is in it: agents write their stores beside what they tell. */
    function chatWith(path: string, text: string): Promise<readonly Item[]> {
      let items: readonly Item[] = [];
      return eventually(
        `${text} is in the chat`,
        async () => {
          ({ items } = await wholeChat(stage.api, path));
          return items.some((item) => item.text === text) ? items : undefined;
        },
        () => items.map(brief),
      );
    }

    /** Answers every question with a yes until the turn has ended; how it did. */
    async function allowed(): Promise<string> {
      for (;;) {
        const { status, permissions = [] } = await session.now();
        if (permissions.length > 0) await session.answer("allow_once");
        else if (status === "idle") return "completed";
      }
    }

    /** The records of the session up to the end of its turn. */
    async function untilTurnEnd(of: Driver): Promise<readonly SessionRecord[]> {
      const records: SessionRecord[] = [];
      return eventually("the turn ends", async () => {
        records.push(...(await of.records()));
        return records.some(({ kind }) => kind === "usage_snapshot") ? records : undefined;
      });
    }

    /** The processes that are left beside the server. */
    function left(): string[] {
      return processesIn(stage.machine.home)
        .filter(({ pid }) => pid !== stage.server.child.pid)
        .map(({ command }) => command);
    }
  });
}
