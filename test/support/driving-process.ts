/*
 * A process that drives a session in another's home: `node test/support/driving-process.ts HOME LINES [SETTING]...`. It
 * prints the session's id and lives until it is killed.
 */
import { supervisorOf } from "../../src/commands/sessions-wiring.ts";
import { openOwnSessions } from "../../src/peers/own-sessions-file.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { FAKE_AGENT } from "./fake-agent.ts";

const [home = "", lines = "", ...settings] = process.argv.slice(2);
const environment = environmentFrom({ home, variables: { PATH: process.env.PATH, HOME: home } });
const { bridgeHome } = environment;
const sessions = supervisorOf({
  environment,
  clock: systemClock,
  timer: systemTimer,
  version: "0.0.0",
  agents: new Map([["fake", { command: process.execPath, args: [FAKE_AGENT, ...settings], env: {} }]]),
  own: openOwnSessions({ bridgeHome, clock: systemClock }),
  isNameTaken: async () => false,
  warn: (message) => console.error(message),
});
const permit = settings.includes("permit-ask") ? "ask" : "deny";
const { id } = await sessions.start({ kind: "agent", agent: "fake", cwd: home, name: "theirs", permit });
await sessions.prompt(id, lines);
console.log(id);
setInterval(() => {}, 1000);
