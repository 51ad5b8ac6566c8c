import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { assistant, SESSION, writeHistory } from "./history.ts";
import { ask, Machine, NODES } from "./product.ts";

for (const { name, node } of NODES) {
  describe(`the commands of the built file on ${name}`, () => {
    const machine = new Machine(node);

    before(() => writeHistory(machine));
    after(() => machine.remove());

    test("ls, show and tail work without a server", async () => {
      const { transcripts, total } = JSON.parse((await machine.run("ls", "--json")).out);
      assert.deepEqual([total, transcripts.length], [2, 2]);
      assert.match(
        (await machine.run("ls", "--q", "redirect")).out,
        new RegExp(`^ID .*\n${SESSION} +claude .*Fix the redirect\n$`),
      );
      const shown = await machine.run("show", "1b0e");
      assert.match(
        shown.out,
        /^Fix the redirect\nclaude\/1b0e4c52[-0-9a-f]+ · \/home\/dev\/work · main · 2026-11-30 09:00:01\n\n── 2026-11-30 ──\n\nuser {2}09:00:01\nFix it\.\n\nassistant {2}09:00:02\nI will\. x+…\n/,
      );
      assert.deepEqual([shown.code, shown.err], [0, ""]);
      const last = (await machine.run("tail", "-n", "1", "--json", `claude/${SESSION}`)).out;
      assert.equal(JSON.parse(last).text, "Seen.");
      assert.equal(existsSync(join(machine.home, ".agent-bridge")), false);
    });

    test("tail -f prints what is appended, until Ctrl-C", async () => {
      const tail = machine.start(["tail", "-f", "-n", "1", SESSION]);
      await tail.printed(/Seen\./);
      machine.append(SESSION, [assistant(30, [{ type: "text", text: "appended" }])]);
      await tail.printed(/appended/);
      tail.child.kill("SIGINT");
      const { code, err } = await tail.ended;
      assert.deepEqual([code, err], [0, ""]);
    });

    test("a reader that goes away ends a command quietly", async () => {
      const show = machine.start(["show", "2c7f"]);
      await show.printed(/prompt 0/);
      show.child.stdout?.destroy();
      const { code, err } = await show.ended;
      assert.deepEqual([code, err], [0, ""]);
    });

    test("doctor finds nothing broken, and says what it is that is", async () => {
      const { code, out, err } = await machine.run("doctor", "--json");
      assert.deepEqual([code, err], [0, ""]);
      const { stores, problems } = JSON.parse(out);
      assert.deepEqual([stores[0].agent, stores[0].sessions, problems], ["claude", 2, []]);
      const odd = join(machine.home, "odd");
      mkdirSync(odd);
      writeFileSync(join(odd, "config.json"), '{"version":1,"port":"x"}');
      const broken = await machine.run("doctor", "--home", odd);
      assert.equal(broken.code, 1);
      assert.match(broken.out, /broken: .*config\.json.*port/);
    });

    test("link without a server says how to start one", async () => {
      const { code, err } = await machine.run("link");
      assert.equal(code, 1);
      assert.match(err, /^agent-bridge: no server runs on .*; start one with node agent-bridge\.mjs serve\n$/);
    });

    test("of two serves that start at once one serves, and the other says where", async () => {
      const home = join(machine.home, "raced");
      const both = [1, 2].map(() => machine.start(["serve", "--port", "0", "--home", home]));
      const refused = await Promise.race(both.map(async (each) => ({ each, end: await each.ended })));
      const serving = both.find((each) => each !== refused.each);
      assert.ok(serving);
      const [, url = ""] = await serving.printed(/serves at (\S+)\n/);
      assert.equal(refused.end.code, 1);
      assert.ok(refused.end.err.includes(url), refused.end.err);
      serving.child.kill("SIGKILL");
      await serving.ended;
      // It left its notice behind, which is no obstacle.
      assert.equal(existsSync(join(home, "dashboard.json")), true);
      const next = machine.start(["serve", "--port", "0", "--home", home]);
      await next.printed(/serves at/);
      next.child.kill("SIGINT");
      assert.equal((await next.ended).code, 0);
    });

    test("what is printed to paste reads the key of the home that is served, from anywhere", async () => {
      const own = join(machine.home, "it's <mine>");
      const server = machine.start(["serve", "--port", "0", "--home", "it's <mine>"]);
      const [, port] = await server.printed(/\/\/127\.0\.0\.1:(\d+)\/\?t=/);
      const key = readFileSync(join(own, "dashboard-key"), "utf8");
      const api = { port: Number(port), key };
      const [, words = ""] = await server.printed(/ab_ui=\$\((.*)\) http/);
      const { stdout } = await promisify(execFile)("sh", ["-c", words], { cwd: "/", env: { PATH: process.env.PATH } });
      assert.equal(stdout, `${key}\n`);
      const stranger = await ask({ ...api, key: "" }, "/");
      assert.equal(wordsIn(stranger.text), "node agent-bridge.mjs token --home DIR");
      assert.ok(!stranger.text.includes(machine.home));
      server.child.kill("SIGTERM");
      await server.ended;
    });

    test("a store that does not answer does not keep the server from ending, nor what it has left undone", async () => {
      const stuck = `
        import promises from "node:fs/promises";
        import { syncBuiltinESMExports } from "node:module";
        const { readdir } = promises;
        promises.readdir = (path, ...rest) =>
          String(path).includes("projects") ? new Promise(() => setInterval(() => {}, 1000)) : readdir(path, ...rest);
        syncBuiltinESMExports();`;
      const own = join(machine.home, "stuck");
      const server = machine.start(["serve", "--port", "0", "--home", own], {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(stuck)}`,
      });
      await server.printed(/ API .*\n/);
      server.child.kill("SIGTERM");
      const { code, err } = await server.ended;
      assert.deepEqual([code, err, existsSync(join(own, "dashboard.json"))], [0, "", false]);
    });

    test("demo serves a made-up history on localhost and leaves nothing behind", async () => {
      const temporary = join(machine.home, "tmp");
      mkdirSync(temporary);
      const demo = machine.start(["demo"], { TMPDIR: temporary, TEMP: temporary });
      const [, port, path = ""] = await demo.printed(/http:\/\/localhost:(\d+)(\/\?t=\S+)/);
      const entry = await ask({ port: Number(port), key: "" }, path);
      const key = /ab_ui=([0-9a-f]{48})/.exec(entry.headers["set-cookie"]?.[0] ?? "")?.[1] ?? "";
      const { json } = await ask({ port: Number(port), key }, "/api/transcripts");
      assert.equal(json.total, 6);
      demo.child.kill("SIGTERM");
      const { code, err } = await demo.ended;
      assert.deepEqual([code, err, existsSync(join(machine.home, ".agent-bridge"))], [0, "", false]);
      assert.deepEqual(readdirSync(temporary), []);
    });
  });
}

/** The words that a page says print the key. */
function wordsIn(page: string): string {
  const [, words = ""] = /ab_ui=\$\((.+)\) /.exec(page) ?? [];
  return words.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
