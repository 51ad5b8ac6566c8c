import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { finishedLog, put } from "../runs/home.ts";
import { CHILD, SESSION, writeHistory } from "./history.ts";
import { type Api, ask, events, Machine, NODES, open, type Running } from "./product.ts";

const RUN = "2026-10-05-14-05-09-claude-4be1a7d2";
const OLD = Date.UTC(2026, 9, 5, 15);

for (const { name, node } of NODES) {
  describe(`runs and jobs of the built file on ${name}`, () => {
    const machine = new Machine(node);
    const bridgeHome = join(machine.home, ".agent-bridge");
    let server: Running;
    let api: Api;

    before(async () => {
      writeHistory(machine);
      put(bridgeHome, `runs/${RUN}.log`, finishedLog("Tidy."), OLD);
      put(bridgeHome, `runs/${RUN}.json`, { job: "claude-job-4be1a7d2", session: SESSION }, OLD);
      put(bridgeHome, "runs/archive/old.log-1790000200000-7", finishedLog("Old.", "no such model"), OLD - 7_200_000);
      put(
        bridgeHome,
        "jobs.json",
        [{ id: "1", name: "lost", agent: "claude", threadId: SESSION, status: "done" }],
        OLD,
      );
      put(bridgeHome, "archive/jobs-1-a.json", "{", OLD);
      server = machine.start(["serve", "--port", "0"]);
      const [, port] = await server.printed(/serves at http:\/\/127\.0\.0\.1:(\d+)\n/);
      api = { port: Number(port), key: (await machine.run("token")).out.trim() };
    });

    after(() => machine.remove());

    test("they are in the state, paged, and have logs and chats", async () => {
      const { json: state } = await ask(api, "/api/state");
      const names = state.runs.map((run: { name: string; status: string }) => [run.name, run.status]);
      assert.deepEqual(names, [
        [RUN, "done"],
        ["old", "failed"],
        ["lost", "done"],
      ]);
      assert.deepEqual(
        [state.runsTotal, state.runsNext, state.running, Object.keys(state.jobs)],
        [3, null, [], ["lost"]],
      );
      const first = (await ask(api, "/api/runs?limit=1")).json;
      const rest = (await ask(api, `/api/runs?before=${encodeURIComponent(first.next)}`)).json;
      assert.deepEqual([...first.runs, ...rest.runs], state.runs);
      assert.equal((await ask(api, "/api/runs/old?from=9")).json.text, finishedLog("Old.", "no such model").slice(9));
      const { json: chat } = await ask(api, `/api/runs/${RUN}/chat`);
      assert.deepEqual(chat, (await ask(api, `/api/transcripts/claude/${SESSION}/chat`)).json);
      assert.equal((await ask(api, "/api/runs/lost/chat")).json.items.length, chat.items.length);
      for (const parent of [`runs/${RUN}`, "jobs/lost"]) {
        assert.equal((await ask(api, `/api/${parent}/subagents`)).json.subagents[0].id, CHILD);
        assert.equal((await ask(api, `/api/${parent}/subagents/${CHILD}`)).json.items.length, 2);
      }
    });

    test("what can't be answered has its status", async () => {
      for (const [path, status] of [
        ["/api/runs?limit=0", 400],
        ["/api/runs?before=x", 400],
        [`/api/runs/${RUN}/chat?from=o:1:prt_1`, 400],
        ["/api/runs/nothing", 404],
        ["/api/jobs/nothing/subagents", 404],
        [`/api/jobs/lost/subagents/${SESSION}`, 404],
        ["/api/runs/old/chat", 409],
      ] as const) {
        const { status: got, json } = await ask(api, path);
        assert.deepEqual([got, Object.keys(json)], [status, ["error"]], path);
      }
      assert.equal((await ask(api, "/api/runs", {}, "POST")).status, 405);
    });

    test("an unchanged list is a 304, and a new run is told at once", async () => {
      const { etag = "" } = (await ask(api, "/api/runs")).headers;
      assert.match(etag, /^W\/"/);
      assert.equal((await ask(api, "/api/runs", { "If-None-Match": etag })).status, 304);
      const stream = await open(api, "/api/events");
      const told = events(stream);
      await told.next();
      put(bridgeHome, "runs/new.log", finishedLog("New."));
      for (let ids = ""; !ids.includes("new"); ) ids = JSON.stringify((await told.next()).value?.data);
      stream.destroy();
      assert.equal((await ask(api, "/api/runs", { "If-None-Match": etag })).status, 200);
    });

    test("the commands give the same, and doctor names what is damaged", async () => {
      const { runs } = JSON.parse((await machine.run("runs", "--json")).out);
      assert.deepEqual(runs, (await ask(api, "/api/runs")).json.runs);
      assert.equal(
        (await machine.run("runs", "tail", "-n", "1", "old")).out,
        "14:05:12 finished after 3s · no such model\n",
      );
      assert.equal(JSON.parse((await machine.run("jobs", "show", "lost", "--json")).out).status, "done");
      assert.match((await machine.run("doctor")).out, /archive\/jobs-1-a\.json$/m);
      const { code } = await machine.run("runs", "show", "nothing");
      assert.equal(code, 2);
    });
  });
}
