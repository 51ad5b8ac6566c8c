import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Peer } from "../../src/peers/peer.ts";
import type { Item } from "../../src/transcript/item.ts";
import { ask, PRODUCT } from "../built/product.ts";
import type { Agent } from "./agents.ts";
import { askEverything, commandsThatFail } from "./everything.ts";
import { brief, Follower, folded, wholeChat } from "./follower.ts";
import { ListFollower } from "./list-follower.ts";
import { processesIn } from "./processes.ts";
import { type Child, type Cli, type Row, Stage } from "./stage.ts";
import { differences, traceOf } from "./trace.ts";
import { eventually, soon } from "./waiting.ts";

/** What the store of a CLI makes of the suite's scripts. */
export interface Expected {
  /** The chat of the session with two small calls, one of which fails, and a large one. */
  readonly chat: readonly string[];
  /** Whether the store proves which process has a session open. */
  readonly tellsLive: boolean;
  /** The chat of a session whose model refused it. */
  readonly refused: readonly string[];
  /** Where the CLI keeps its sessions, below the home. */
  readonly store: string;
  /** Files in there that the CLI writes to now and then without being asked: its own log. */
  readonly log?: RegExp;
}

/** Prints 340 KB, more than any of the CLIs hands on to its model. */
const LARGE = "seq 1 60000";

const TITLE = "The job";

/** Holds that a real CLI's use shows as the contract says, and that nothing of it is touched. */
export function suite(agent: Agent, expected: Expected): void {
  describe(`${agent.name}, run for real`, () => {
    let stage: Stage;
    let list: ListFollower;
    /** The session that is resumed and forked later on. */
    let first: { readonly row: Row; readonly items: readonly Item[]; readonly next: string };

    before(async () => {
      stage = await Stage.start(agent);
      list = await ListFollower.start(stage.api);
    });

    after(async () => {
      await list?.close();
      await stage?.end();
    });

    test("a session is in the list while it runs, and its items are told as they are written", async () => {
      const script = [
        "@say Looking.",
        agent.shell("echo one"),
        "@hold first",
        "@say Now a failure.",
        agent.shell("echo two; exit 3"),
        "@hold second",
        agent.shell(LARGE),
        "@say All done.",
      ];
      const cli = stage.cli(agent.start, script.join("\n"));
      await reached("first", cli);
      const row = await stage.newRow([]);
      await list.until(row.id);
      assert.equal(row.cwd, join(stage.machine.home, "work"));
      if (expected.tellsLive) {
        const { live } = await eventually("it is live", async () => {
          const now = await stage.row(row.id);
          return now?.live && now;
        });
        assert.ok(processesIn(stage.machine.home).some(({ pid }) => pid === live?.pid));
      }

      const follower = await Follower.start(stage.api, stage.chat(row.id));
      await follower.until("the first output is told", (items) => items.some(isOutput("one")));
      assert.ok(cli.running());
      stage.model.release("first");
      await reached("second", cli);
      await follower.until("the second output is told", (items) => items.some(isOutput("two")));
      assert.ok(cli.running());
      stage.model.release("second");
      await ended(cli, 0);
      await follower.until("the last answer is told", (items) => items.some(({ text }) => text === "All done."));

      const whole = await wholeChat(stage.api, stage.chat(row.id));
      assert.deepEqual(whole.items.map(brief), expected.chat);
      await follower.until("the stream has told what pages hold", (items) => sameItems(items, whole.items));
      await follower.close();
      assert.equal(follower.resets, 0);
      assert.deepEqual(twice(follower.told), []);
      first = { row, ...whole };
    });

    test("a row says so when nobody has its session open any more", async () => {
      await eventually("it is not live", async () => ((await stage.row(first.row.id))?.live ? undefined : true));
    });

    test("a large output is a preview in the chat, and there is more of it where one item is asked for", async () => {
      const large = first.items.findLast(({ cut, text }) => cut && text !== undefined);
      assert.ok(large?.text !== undefined && large.text.length <= 1_200);
      const { length } = large.text;
      const path = `/api/transcripts/${agent.name}/${first.row.id}/item?ref=${encodeURIComponent(large.ref)}`;
      const { items } = await stage.get(path);
      assert.ok(items.some(({ text = "", cut }: Item) => text.length > length && cut === undefined));
    });

    test("a subagent is in the list while it runs, goes from running to done, and is in the chat once", async () => {
      const known = await stage.rows();
      const job = ["@say At work.", agent.shell("echo child"), "@hold child", "@say The result."].join("\n");
      const cli = stage.cli(
        agent.start,
        ["@say On it.", agent.spawn(TITLE, job), "@hold parent", "@say Over."].join("\n"),
      );
      await reached("child", cli);
      const row = await stage.newRow(known);
      const child = await childThatIs(row, "running");
      const follower = await Follower.start(stage.api, stage.childChat(row.id, child.id));
      await follower.until("what the subagent did is told", (items) => items.some(isOutput("child")));
      assert.ok(cli.running());
      stage.model.release("child");
      await follower.until("its answer is told", (items) => items.some(({ text }) => text === "The result."));
      await reached("parent", cli);
      await childThatIs(row, "done");
      assert.ok(cli.running());
      stage.model.release("parent");
      await ended(cli, 0);
      await follower.close();
      assert.deepEqual(twice(follower.told), []);

      const kinds = follower.items.map(({ kind }) => kind);
      assert.deepEqual(kinds.slice(0, 3), ["user", "assistant", "tool"]);
      const { items } = await wholeChat(stage.api, stage.chat(row.id));
      const links = items.filter(({ kind }) => kind === "subagent");
      assert.deepEqual(
        links.map(({ id, subagent }) => [id, subagent?.id, subagent?.agent]),
        [[`sub-${child.id}`, child.id, agent.name]],
      );
      assert.deepEqual(
        (await stage.rows()).filter(({ id }) => id === child.id),
        [],
      );
      assert.equal((await ask(stage.api, stage.childChat(first.row.id, child.id))).status, 404);
    });

    test("a subagent whose model refuses it has failed", async () => {
      const known = await stage.rows();
      const cli = stage.cli(agent.start, ["@say On it.", agent.spawn(TITLE, "@error 400"), "@hold refused"].join("\n"));
      await reached("refused", cli);
      const row = await stage.newRow(known);
      const child = await childThatIs(row, "failed");
      stage.model.release("refused");
      await ended(cli, 0);
      assert.equal((await childThatIs(row, "failed")).id, child.id);
    });

    test("a session that runs join is a peer under that name, by its CLI's process, until that ends", async () => {
      const known = await stage.rows();
      const named = async (): Promise<Peer | undefined> =>
        (await stage.get("/api/state")).peers.find(({ name }: Peer) => name === "front");
      const join = agent.shell(`"${process.execPath}" "${PRODUCT}" join --name front`);
      const cli = stage.cli(agent.start, ["@say Joining.", join, "@hold joined", "@say Joined."].join("\n"));
      await reached("joined", cli);
      const row = await stage.newRow(known);
      // Claude Code asks its model before it writes down what the tool has said.
      const { items } = await eventually("what join printed is in the chat", async () => {
        const chat = await wholeChat(stage.api, stage.chat(row.id));
        return chat.items.some(isOutput("front")) ? chat : undefined;
      });
      const peer = await named();
      assert.deepEqual([peer?.agent, peer?.sessionId], [agent.name, row.id]);
      const program = processesIn(stage.machine.home).find(({ pid }) => pid === peer?.pid);
      assert.match(program?.command ?? "", new RegExp(agent.command));
      assert.deepEqual((await wholeChat(stage.api, "/api/sessions/front/chat")).items, items);
      stage.model.release("joined");
      await ended(cli, 0);
      await eventually("it is no peer any more", async () => ((await named()) === undefined ? true : undefined));
    });

    test("a session whose model refuses it ends with the error", async () => {
      const known = await stage.rows();
      await soon("it ends", stage.cli(agent.start, "@error 400").ended);
      const row = await stage.newRow(known);
      await eventually("the chat is whole", async () => {
        const { items } = await wholeChat(stage.api, stage.chat(row.id));
        return items.length >= expected.refused.length ? true : undefined;
      });
      const { items } = await wholeChat(stage.api, stage.chat(row.id));
      assert.deepEqual(items.map(brief), expected.refused);
    });

    for (const signal of ["SIGKILL", "SIGINT"] as const) {
      test(`a subagent whose CLI was ended with ${signal} was interrupted`, async () => {
        const known = await stage.rows();
        const job = ["@say At work.", agent.shell("echo child"), "@say Half an answer.", `@hold ${signal}`].join("\n");
        const cli = stage.cli(agent.start, ["@say On it.", agent.spawn(TITLE, job), `@hold above${signal}`].join("\n"));
        await reached(signal, cli);
        const row = await stage.newRow(known);
        const child = await childThatIs(row, "running");
        cli.signal(signal);
        await soon("it ends", cli.ended);
        assert.equal((await childThatIs(row, "interrupted")).id, child.id);
        await eventually("it is not live", async () => ((await stage.row(row.id))?.live ? undefined : true));
      });
    }

    test("a resumed session goes on in the same chat, for whoever follows it too", async () => {
      const known = await stage.rows();
      const follower = await Follower.start(stage.api, stage.chat(first.row.id), first.next);
      const cli = stage.cli(agent.resume(first.row.id), "@say Back again.");
      await follower.until("the answer is told", (items) => items.some(({ text }) => text === "Back again."));
      await ended(cli, 0);
      const { items, next } = await wholeChat(stage.api, stage.chat(first.row.id));
      assert.deepEqual(items.slice(0, first.items.length), first.items);
      assert.deepEqual(items.slice(first.items.length).map(brief), [
        "user: @say Back again.",
        "assistant: Back again.",
      ]);
      await follower.until("the stream has told the rest", (told) =>
        sameItems(folded([...first.items, ...told]), items),
      );
      await follower.close();
      assert.equal(follower.resets, 0);
      assert.deepEqual((await stage.rows()).map(({ id }) => id).sort(), known.map(({ id }) => id).sort());
      first = { row: first.row, items, next };
    });

    test("a fork is a session of its own that begins like the one it came from", async () => {
      const known = await stage.rows();
      await ended(stage.cli(agent.fork(first.row.id), "@say On my own."), 0);
      const row = await stage.newRow(known);
      const { items } = await wholeChat(stage.api, stage.chat(row.id));
      assert.deepEqual(items.map(brief), [...first.items.map(brief), "user: @say On my own.", "assistant: On my own."]);
      assert.deepEqual((await wholeChat(stage.api, stage.chat(first.row.id))).items, first.items);
    });

    test("reading everything while the CLI has its store open changes nothing there", async () => {
      const known = await stage.rows();
      const cli = stage.cli(
        agent.start,
        ["@say Open.", agent.shell("echo open"), "@hold open", "@say Closed."].join("\n"),
      );
      await reached("open", cli);
      const row = await stage.newRow(known);
      const store = () => traceOf(join(stage.machine.home, expected.store), (path) => !expected.log?.test(path));
      let changed: string[] = [];
      // The CLI may still have something to write; what is changed by reading is changed each time.
      await eventually(
        "the store is as it was",
        async () => {
          const were = store();
          await askEverything(stage.api, agent.name);
          changed = differences(were, store());
          return changed.length === 0 ? true : undefined;
        },
        () => changed,
      );
      assert.ok(cli.running());
      const chat = stage.chat(row.id);
      await eventually("an idle chat is not answered twice", async () => {
        const { etag } = (await ask(stage.api, chat)).headers;
        if (etag === undefined) return undefined;
        return (await ask(stage.api, chat, { "If-None-Match": etag })).status === 304 ? true : undefined;
      });
      stage.model.release("open");
      await ended(cli, 0);
    });

    test("every CLI has ended, and the model had no fault", async () => {
      assert.deepEqual(await stage.endClis(), []);
      assert.deepEqual(stage.model.faults, []);
    });

    test("reading everything, with and without a server, leaves every file of the home as it was", async () => {
      const ours = /^\.agent-bridge(\/|$)/;
      const before = traceOf(stage.machine.home, (path) => !ours.test(path));
      const answered = await askEverything(stage.api, agent.name);
      assert.ok(answered.has("/api/transcripts/{agent}/{id}/subagents/{child}/stream"), [...answered].join(" "));
      assert.deepEqual(await commandsThatFail(stage.machine, first.row.id), []);
      await list.close();
      stage.server.child.kill("SIGTERM");
      const { code, err } = await soon("the server ends", stage.server.ended);
      assert.deepEqual([code, err], [0, ""]);
      assert.deepEqual(await commandsThatFail(stage.machine, first.row.id), []);
      assert.deepEqual(
        differences(
          before,
          traceOf(stage.machine.home, (path) => !ours.test(path)),
        ),
        [],
      );
    });

    /** Waits until the model has come to a hold; a CLI that ends before says why. */
    async function reached(hold: string, cli: Cli): Promise<void> {
      const early = cli.ended.then((end) => {
        throw new Error(`it ended before it came to ${hold}: ${JSON.stringify(end)}`);
      });
      await soon(`the model comes to ${hold}`, Promise.race([stage.model.reached(hold), early]));
    }

    async function ended(cli: Cli, code: number): Promise<void> {
      const end = await soon("the CLI ends", cli.ended);
      assert.equal(end.code, code, JSON.stringify(end));
    }

    /** The one subagent of a session, once its status is `status`. */
    function childThatIs(row: Row, status: string): Promise<Child> {
      let children: Child[] = [];
      return eventually(
        `the subagent is ${status}`,
        async () => {
          children = await stage.children(row.id);
          assert.ok(children.length <= 1);
          return children.find((child) => child.status === status);
        },
        () => children,
      );
    }
  });
}

function isOutput(text: string): (item: Item) => boolean {
  return (item) => item.kind === "tool" && item.text?.includes(text) === true;
}

/** Items that were told more than once though nothing lets them come again. */
function twice(told: readonly Item[]): string[] {
  const texts = told.filter(({ id }) => id === undefined).map((item) => JSON.stringify(item));
  return texts.filter((text, index) => texts.indexOf(text) !== index);
}

/** Whether both hold the same; what comes again under its id may have come first in another order. */
function sameItems(one: readonly Item[], other: readonly Item[]): boolean {
  const sorted = (items: readonly Item[]) => items.map((item) => JSON.stringify(item)).sort();
  return sorted(one).join("\n") === sorted(other).join("\n");
}
