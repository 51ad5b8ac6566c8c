import { join } from "node:path";
import { knownAgents } from "../agents/agent-command.ts";
import { startableAgents } from "../agents/startable.ts";
import { isServerAt } from "../client/holder.ts";
import { DASHBOARD } from "../dashboard/assets.ts";
import type { OwnSessions } from "../peers/own-sessions.ts";
import { openOwnSessions, SESSIONS_FILE } from "../peers/own-sessions-file.ts";
import { PeerRegistry } from "../peers/registry.ts";
import { pause } from "../platform/bell.ts";
import type { Clock } from "../platform/clock.ts";
import { type Config, readConfig } from "../platform/config.ts";
import { cacheFolder, type Environment } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { ensureKey, keyReader, resetKey } from "../platform/key.ts";
import { withLock } from "../platform/lock.ts";
import { loginLink, makeLoginCheck, makeLoginCode } from "../platform/login-code.ts";
import { closeHome } from "../platform/private-folder.ts";
import { isAlive, startOf } from "../platform/process-identity.ts";
import {
  mayBeRunning,
  newBootNonce,
  type RuntimeNotice,
  readNotice,
  removeNotice,
  writeNotice,
} from "../platform/runtime-notice.ts";
import { systemTimer } from "../platform/timer.ts";
import { createWatcher } from "../platform/watch.ts";
import type { PeerContext, SessionContext } from "../routes/context.ts";
import { eventsRoute } from "../routes/events.ts";
import { ExportDesk } from "../routes/export-desk.ts";
import { healthRoute } from "../routes/health.ts";
import { homeRoute, SIGN_IN_ASSETS } from "../routes/home.ts";
import type { CommandWords } from "../routes/home-page.ts";
import { jobRoutes } from "../routes/jobs.ts";
import { openApiRoute } from "../routes/openapi.ts";
import { peerRoutes } from "../routes/peers.ts";
import { runRoutes } from "../routes/runs.ts";
import { sessionChatRoutes } from "../routes/session-chat.ts";
import { sessionRoutes } from "../routes/sessions.ts";
import { stateRoute } from "../routes/state.ts";
import { transcriptRoutes } from "../routes/transcripts.ts";
import { followRuns } from "../runs/follow.ts";
import { RunInventory } from "../runs/inventory.ts";
import { listen } from "../server/listen.ts";
import { type ServerLog, traceOf } from "../server/log.ts";
import type { Route } from "../server/route.ts";
import { Inventory } from "../stores/inventory.ts";
import { Pages } from "../stores/pages.ts";
import { openStores } from "../stores/registry.ts";
import { AGENT_NAMES } from "../transcript/names.ts";
import type { Bridge, Histories, Serving } from "./bridge.ts";
import { HomeServed } from "./home-served.ts";
import { knownSessions } from "./known-sessions.ts";
import { isUsualHome, openHome, ownFiles } from "./own-files.ts";
import type { Program } from "./program.ts";
import { OWN_WAIT, recoverOf, type SessionsParts, supervisorOf } from "./sessions-wiring.ts";

/** What the parts below are made with. */
export interface Machine {
  readonly program: Program;
  readonly clock: Clock;
  readonly pid: number;
  /** Tells the user what they should know. */
  warn(message: string): void;
}

/** The real stores, key and server. */
export function bridgeOfThisMachine(given: Machine): Bridge {
  const machine = { ...given, warn: once(given.warn) };
  const histories = (environment: Environment): Promise<Histories> =>
    openHistories(machine, environment, openOwnSessions({ bridgeHome: environment.bridgeHome, clock: machine.clock }));
  return {
    histories,
    async key(environment) {
      const key = await ensureKey(environment.bridgeHome, machine.warn);
      closeOwnFolder(environment, machine);
      return key;
    },
    async newKey(environment) {
      const key = await resetKey(environment.bridgeHome);
      closeOwnFolder(environment, machine);
      return key;
    },
    ownFiles,
    running: ({ bridgeHome }) => running(bridgeHome),
    timer: systemTimer,
    runs: ({ bridgeHome }) => new RunInventory({ bridgeHome, clock: machine.clock }),
    ownSessions: ({ bridgeHome }) => openOwnSessions({ bridgeHome, clock: machine.clock }),
    async drive(environment, happened) {
      const { agents } = configOf(machine, environment);
      const { bridgeHome } = environment;
      closeOwnFolder(environment, machine);
      const own = openOwnSessions({ bridgeHome, clock: machine.clock });
      requireReadable(own, bridgeHome);
      return supervisorOf({
        patienceMs: OWN_WAIT.waitMs,
        ...{ environment, clock: machine.clock, timer: systemTimer, version: machine.program.version, agents, own },
        isNameTaken: async (name) => own.read().peers.some((peer) => peer.name === name && isAlive(peer.process)),
        warn: machine.warn,
        happened: (_id, event) => happened(event),
      });
    },
    async wayIn({ bridgeHome }, { url, bootNonce }) {
      const key = await ensureKey(bridgeHome, machine.warn);
      return loginLink(url, makeLoginCode({ key, bootNonce }, machine.clock));
    },
    thisProcess: () => ({ pid: machine.pid, procStart: startOf(machine.pid) }),
    async serve(environment, port, log) {
      const own = ownOfServer(machine, environment, log);
      return startServer(machine, environment, await openHistories(machine, environment, own), own, port, log);
    },
  };
}

/** What can't be read now, no session could be saved in. @throws Failure that names the file by its path */
function requireReadable(own: OwnSessions, bridgeHome: string): void {
  try {
    own.read();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(
      error.kind,
      error.message.replace(/^sessions\.json/, () => join(bridgeHome, SESSIONS_FILE)),
      error,
    );
  }
}

/** What was told once is not told again. */
function once(warn: Machine["warn"]): Machine["warn"] {
  const told = new Set<string>();
  return (message) => {
    if (!told.has(message)) warn(message);
    told.add(message);
  };
}

function closeOwnFolder(environment: Environment, { warn }: Machine): void {
  const { bridgeHome } = environment;
  const privacy = closeHome(bridgeHome, isUsualHome(environment));
  if (privacy === "closed") warn(`others could look into ${bridgeHome}: it is closed to them now`);
  if (privacy === "open") warn(openHome(bridgeHome));
}

function configOf({ warn }: Machine, environment: Environment): Config {
  const { config, warnings } = readConfig(environment, AGENT_NAMES);
  for (const warning of warnings) warn(warning);
  return config;
}

function ownOfServer({ clock, program }: Machine, { bridgeHome }: Environment, log: ServerLog): OwnSessions {
  const dropped = once((message) => log({ level: "warn", msg: message }));
  return openOwnSessions({
    ...{ bridgeHome, clock, wait: OWN_WAIT },
    // Told the first time: from then on each new session takes the place of an old one.
    dropped: () =>
      dropped(program.said("sessions.json keeps 10,000 sessions that have ended: older ones are dropped from it")),
  });
}

async function openHistories(machine: Machine, environment: Environment, own: OwnSessions): Promise<Histories> {
  const { clock } = machine;
  const config = configOf(machine, environment);
  const extraRoots = Object.fromEntries(config.stores);
  const watcher = createWatcher();
  const sessionsFile = join(environment.bridgeHome, SESSIONS_FILE);
  const known = knownSessions(own, (signal) => watcher.file(sessionsFile, signal));
  const stores = openStores({ environment, clock, watcher, extraRoots, known });
  const inventory = new Inventory({ stores, clock, timer: systemTimer, home: environment.home });
  return { stores, inventory, tools: { pages: new Pages(clock), timer: systemTimer }, agents: config.agents };
}

async function startServer(
  machine: Machine,
  environment: Environment,
  { stores, inventory, tools, agents }: Histories,
  own: OwnSessions,
  port: number,
  log: ServerLog,
): Promise<Serving> {
  const { program, clock, pid, warn } = machine;
  const { version } = program;
  const { bridgeHome } = environment;
  await ensureKey(bridgeHome, warn);
  closeOwnFolder(environment, machine);
  const readKey = keyReader(bridgeHome);
  const key = (): string => asSaid(readKey, program);
  const words = wordsFor(program, environment);
  const runs = new RunInventory({ bridgeHome, clock });
  const bootNonce = newBootNonce();
  const fault = (route: string, error: unknown): void => log({ level: "error", route, msg: traceOf(error) });
  const peers = new PeerRegistry({
    ...{ own, stores, clock, timer: tools.timer, tidies: true },
    titleOf: (agent, id) => inventory.row(agent, id)?.title,
    watched: { bridgeHome, watcher: createWatcher() },
  });
  const sessionParts: SessionsParts = {
    ...{ environment, clock, timer: tools.timer, version, agents, own },
    isNameTaken: async (name) => ((await peers.find(name))?.origin ?? "own") !== "own",
    watcher: createWatcher(),
    warn: (message) => log({ level: "warn", msg: message }),
  };
  const sessions = supervisorOf(sessionParts);
  const exports = new ExportDesk(cacheFolder(environment));
  const base = { stores, inventory, runs, ...tools, exports, fault, version, pid, bootNonce };
  const context: SessionContext & PeerContext = { ...base, own, peers, sessions };
  const table = (): readonly Route[] => routes;
  const routes: readonly Route[] = [
    homeRoute({ key, bootNonce, checkLogin: makeLoginCheck(clock), dashboard: DASHBOARD?.html, words }),
    healthRoute(bootNonce),
    openApiRoute(table, version),
    stateRoute({ ...context, startable: startableAgents(() => knownAgents({ agents, environment }), clock) }),
    ...transcriptRoutes(context),
    ...runRoutes(context),
    ...jobRoutes(context),
    ...peerRoutes(context),
    ...sessionRoutes(context),
    ...sessionChatRoutes(context),
    eventsRoute(context),
  ];
  const assets = [...SIGN_IN_ASSETS, ...(DASHBOARD?.files ?? [])];
  const server = await listen({ routes, assets, port, key, noKey: noKey(words), version, clock, log });
  const notice = { url: server.url, port: server.port, pid, start: startOf(pid), bootNonce };
  try {
    await withLock(bridgeHome, () => claimHome(bridgeHome, notice));
  } catch (error) {
    await server.close();
    throw error;
  }
  inventory.start();
  const end = new AbortController();
  const recovered = keepRecovering({ ...sessionParts, warn: once(sessionParts.warn) }, end.signal);
  const following = followRuns(runs, bridgeHome, { watcher: createWatcher(), timer: systemTimer }, end.signal);
  return {
    ...notice,
    async reports() {
      await inventory.settled();
      return Promise.all(stores.map((store) => store.report()));
    },
    async close() {
      end.abort();
      // Those who follow a session are told how it ends.
      await Promise.all([sessions.close(), within(RECOVERY_MS, recovered)]);
      const reading = Promise.all([inventory.close(), following]);
      await Promise.all([server.close(), removeNotice(bridgeHome, bootNonce), within(READING_MS, reading)]);
    },
  };
}

/** How often is looked for what a process has left that was killed: ms. */
const RECOVER_MS = 5_000;

/** Puts in order what is left behind by processes that drove sessions, now and whenever one is killed, until the signal. */
async function keepRecovering(parts: SessionsParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await recoverOf(parts);
    await pause(parts.timer, RECOVER_MS, signal);
  }
}

/** How long what a dead server left may go on being put in order when this one ends: ms. The next one goes on with it. */
const RECOVERY_MS = 2_000;
/** How long a store that is being read is waited for when the server ends: a slow disk must not hold it. ms. */
const READING_MS = 400;

/** Comes back when `work` is done, or after `ms` milliseconds. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(resolve, ms);
    work.then(() => resolve(), reject).finally(() => clearTimeout(timeout));
  });
}

/** How the server's pages tell a person to run a command on this home. */
function wordsFor(program: Program, environment: Environment): CommandWords {
  return {
    withoutPaths: (command) => `${program.name} ${command}${isUsualHome(environment) ? "" : " --home DIR"}`,
  };
}

function noKey({ withoutPaths }: CommandWords): string {
  return (
    `the dashboard key is missing or wrong: run \`${withoutPaths("link")}\` for a browser, ` +
    `or send the cookie ab_ui=<what \`${withoutPaths("token")}\` prints>`
  );
}

/** What `read` gives; what it fails with is told to clients, in the words that call this program. */
function asSaid<T>(read: () => T, { said }: Program): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Failure ? new Failure(error.kind, said(error.message), error.cause) : error;
  }
}

/** Puts our notice into the home. @throws HomeServed when a server that runs has its own there */
async function claimHome(folder: string, notice: RuntimeNotice): Promise<void> {
  const other = await running(folder);
  if (other !== undefined) throw new HomeServed(folder, other);
  await writeNotice(folder, notice);
}

/** The server whose notice lies in `folder`, if it is one that still runs. */
async function running(folder: string): Promise<RuntimeNotice | undefined> {
  const notice = readNotice(folder);
  if (notice === undefined || !mayBeRunning(notice)) return undefined;
  // A server that is busy or stopped is still there: then its process is all that tells.
  return (await isServerAt(notice.port, notice.bootNonce)) === false ? undefined : notice;
}
