/*
 * A scripted ACP agent for tests: `node test/support/fake-agent.mjs [SETTING]...`. It does what its prompt says, line by
 * line, well or badly, and needs nothing but Node.
 *
 * TEXT below may be written as a JSON text ("a\nb") to hold newlines; else it is taken as it stands. JSON is one line.
 *
 * SETTINGS, one an argument, or one a line in the variable FAKE_AGENT:
 *   session ID              the id of new sessions (else fake-<8 hex>)
 *   load | resume           announces session/load | session/resume
 *   replay TEXT             while a session is loaded: a user's message and this answer
 *   late-replay TEXT        the same, sent after session/load was answered
 *   store DIR               keeps each session's prompts in DIR/<id>.json, so that a later process knows them (`recall`)
 *   models A,B,…            offers these by a config option of the category "model"; A is the first choice
 *   old-models A,B,…        offers these as `models` with session/set_model
 *   modes A,B,…             offers these by a config option of the category "mode"; A is the first choice
 *   old-modes A,B,…         offers these as `modes` with session/set_mode
 *   refuse-mode             answers whoever sets a mode with an error
 *   version N               answers initialize with that protocolVersion (a JSON value)
 *   name NAME               names itself so (else fake-agent)
 *   refuse-initialize TEXT  answers initialize with an error
 *   silent-initialize | silent-new | silent-load | silent-model     never answers that request
 *   refuse-new TEXT         answers session/new with the error -32603
 *   auth-required           answers session/new (and load, resume) with the error -32000, with two authMethods announced
 *   banner TEXT             prints a line on stdout before anything else
 *   stderr TEXT             prints a line on stderr at the start
 *   exit CODE               ends at once
 *   ignore-cancel           session/cancel has no effect
 *   ignore-term             SIGTERM and SIGINT have no effect
 *   ignore-eof              lives on when its stdin is closed
 *   linger MS FILE          when its stdin is closed, closes its stdout, takes so long, writes FILE and ends well
 *   log FILE                appends every line that it is sent to FILE
 *   first STEP              does STEP (see below) at the beginning of every prompt
 *
 * STEPS, one a line of the prompt; a prompt without any is answered with `You said: <prompt>`; other lines mean nothing:
 *   say TEXT | think TEXT   a chunk of the reply | of the reasoning
 *   cut TEXT                as say, each byte written by itself
 *   call ID [JSON]          tool_call {title: ID, kind: "other", status: "pending", …JSON}
 *   change ID JSON          tool_call_update {…JSON}
 *   done ID [TEXT] | fail ID [TEXT]      tool_call_update completed | failed, with that content
 *   ask ID [JSON]           asks for permission {toolCall: {toolCallId: ID, title: ID}, options: allow, always, reject, …JSON};
 *                           then says `ID: <optionId>` and completes the call (fails it when a reject was chosen); the
 *                           answer "cancelled" ends the turn as cancelled
 *   read PATH [LINE [LIMIT]]             says `read: <content>` or `read: error <code> <message>`
 *   write PATH TEXT                      says `written` or `write: error <code> <message>`
 *   plan JSON               the entries of a plan
 *   usage USED SIZE [COST]  usage_update
 *   spend JSON              the `usage` of the prompt's answer
 *   update JSON             any session/update, as it stands
 *   elsewhere JSON          the same, for the session "another"
 *   notify METHOD JSON | request METHOD JSON             sends any notification | request, and says the request's answer
 *   raw TEXT                writes TEXT and a newline, whatever it is
 *   half TEXT               writes TEXT without a newline
 *   big BYTES               a message chunk whose line is about that long
 *   flood N [TEXT]          N chunks as fast as they are taken, each TEXT (else "x\n")
 *   wait MS                 takes its time; a cancel ends it
 *   until-cancel            goes on when session/cancel comes, also with `ignore-cancel`
 *   stop REASON             the stopReason of the answer (else end_turn)
 *   error CODE TEXT         answers the prompt with an error
 *   silent                  goes no further until it is cancelled
 *   hang                    goes no further, also when it is cancelled
 *   twice                   answers the prompt twice
 *   late TEXT               says TEXT after the prompt was answered
 *   both                    the answer has a result and an error
 *   exit CODE | kill        ends | ends itself by SIGKILL
 *   close                   closes its stdout and lives on
 *   deaf                    reads its stdin no more
 *   stderr TEXT             prints a line on stderr
 *   grandchild [detached] [holding] [stubborn]   starts a process that lives on, and says `grandchild <pid>`: in a process
 *                           group of its own, holding this one's stdout and stderr, ignoring SIGTERM
 *   pid | cwd | args | recall | model | mode | env NAME     says its process id, folder, settings as JSON, the session's
 *                           prompts so far as JSON, the model set, the mode set, a variable's value
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const settings = [...process.argv.slice(2), ...(process.env.FAKE_AGENT ?? "").split("\n")]
  .map((line) => line.trim())
  .filter((line) => line !== "");

/** What follows the word `name` in the settings; "" where nothing does; undefined without such a setting. */
function setting(name) {
  const line = settings.find((each) => each === name || each.startsWith(`${name} `));
  return line?.slice(name.length + 1);
}

const has = (name) => setting(name) !== undefined;

/** A TEXT of a script: a JSON text, else itself. */
function textOf(word) {
  return word.startsWith('"') ? JSON.parse(word) : word;
}

/** The first word of `line`, and the rest. */
function split(line) {
  const at = line.indexOf(" ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

const models = (setting("models") ?? setting("old-models"))?.split(",");
let model = models?.[0];
const modes = (setting("modes") ?? setting("old-modes"))?.split(",");
let mode = modes?.[0];
const sessions = new Map();

/** Writes to stdout and comes back when it was taken. */
function write(bytes) {
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve()));
}

const send = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, update) => send({ method: "session/update", params: { sessionId, update } });
const chunk = (kind, text) => ({ sessionUpdate: kind, content: { type: "text", text } });

const waiting = new Map();
let lastId = 0;

/** Asks the client; its answer, as `{result}` or `{error}`. */
function ask(method, params) {
  const id = ++lastId % 2 === 0 ? `fake-${lastId}` : lastId;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ id, method, params });
  });
}

function configOptions() {
  const option = (id, category, currentValue, values) => {
    const options = values.map((value) => ({ value, name: value }));
    return { type: "select", id, name: category, category, currentValue, options };
  };
  return [
    ...(has("models") ? [option("the-model", "model", model, models)] : []),
    ...(has("modes") ? [option("the-mode", "mode", mode, modes)] : []),
  ];
}

function described() {
  return {
    ...((has("models") || has("modes")) && { configOptions: configOptions() }),
    ...(has("old-models") && {
      models: { currentModelId: model, availableModels: models.map((modelId) => ({ modelId, name: modelId })) },
    }),
    ...(has("old-modes") && {
      modes: { currentModeId: mode, availableModes: modes.map((id) => ({ id, name: id })) },
    }),
  };
}

/** The prompts of the session `id`; kept on disk where a store was set. */
function promptsOf(id) {
  const folder = setting("store");
  if (!sessions.has(id) && folder !== undefined) {
    try {
      sessions.set(id, JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8")));
    } catch {
      return undefined;
    }
  }
  return sessions.get(id);
}

function keep(id, prompts) {
  sessions.set(id, prompts);
  const folder = setting("store");
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.json`), JSON.stringify(prompts));
}

/** A refusal of a request. */
class Refusal extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const never = () => new Promise(() => {});

const methods = {
  async initialize() {
    if (has("silent-initialize")) await never();
    if (has("refuse-initialize")) throw new Refusal(-32603, textOf(setting("refuse-initialize")));
    return {
      protocolVersion: JSON.parse(setting("version") ?? "1"),
      agentInfo: { name: setting("name") ?? "fake-agent", version: "0.0.1" },
      agentCapabilities: {
        loadSession: has("load"),
        sessionCapabilities: { ...(has("resume") && { resume: {} }) },
      },
      authMethods: has("auth-required")
        ? [
            { id: "login", name: "Log in", description: "Run `fake login` in a terminal" },
            { id: "key", name: "API key", description: null },
          ]
        : [],
    };
  },
  async "session/new"() {
    if (has("silent-new")) await never();
    if (has("refuse-new")) throw new Refusal(-32603, textOf(setting("refuse-new")));
    authenticated();
    const sessionId = setting("session") ?? `fake-${randomBytes(4).toString("hex")}`;
    keep(sessionId, []);
    return { sessionId, ...described() };
  },
  async "session/load"({ sessionId }) {
    if (has("silent-load")) await never();
    if (!has("load")) throw new Refusal(-32601, "Method not found");
    authenticated();
    await known(sessionId);
    if (has("replay")) await replay(sessionId, textOf(setting("replay")));
    return described();
  },
  async "session/resume"({ sessionId }) {
    if (!has("resume")) throw new Refusal(-32601, "Method not found");
    authenticated();
    await known(sessionId);
    return described();
  },
  async "session/set_config_option"({ configId, value }) {
    if (has("silent-model")) await never();
    if (has("modes") && configId === "the-mode") setMode(value);
    else if (has("models") && configId === "the-model" && models.includes(value)) model = value;
    else throw new Refusal(-32602, "Invalid params");
    return { configOptions: configOptions() };
  },
  async "session/set_mode"({ modeId }) {
    if (!has("old-modes")) throw new Refusal(-32601, "Method not found");
    setMode(modeId);
    return {};
  },
  async "session/set_model"({ modelId }) {
    if (!has("old-models") || !models.includes(modelId)) throw new Refusal(-32602, "Invalid params");
    model = modelId;
    return {};
  },
};

function setMode(id) {
  if (has("refuse-mode") || !modes.includes(id)) throw new Refusal(-32602, "Invalid params");
  mode = id;
}

function authenticated() {
  if (has("auth-required")) throw new Refusal(-32000, "Authentication required");
}

async function known(sessionId) {
  if (promptsOf(sessionId) !== undefined) return;
  if (has("store")) throw new Refusal(-32002, "Resource not found", { uri: sessionId });
  keep(sessionId, []);
}

async function replay(sessionId, text) {
  await update(sessionId, chunk("user_message_chunk", "replayed question"));
  await update(sessionId, chunk("agent_message_chunk", text));
}

/** Ends the turn that `cancel` was told of. */
class Cancelled extends Error {}

/** One turn: what its steps need to know. */
class Turn {
  constructor(id, sessionId, text) {
    this.id = id;
    this.sessionId = sessionId;
    this.text = text;
    this.answer = { stopReason: "end_turn" };
    this.after = [];
    this.controller = new AbortController();
    this.told = new Promise((resolve) => {
      this.tell = resolve;
    });
  }

  /** `promise`, unless the turn is cancelled first. */
  async orCancelled(promise) {
    const { signal } = this.controller;
    if (signal.aborted) throw new Cancelled();
    await Promise.race([
      promise,
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Cancelled()), { once: true })),
    ]);
  }
}

const say = (turn, text) => update(turn.sessionId, chunk("agent_message_chunk", text));
const call = (turn, toolCallId, fields) =>
  update(turn.sessionId, { sessionUpdate: "tool_call_update", toolCallId, ...fields });
const content = (text) => [{ type: "content", content: { type: "text", text } }];
const sayAnswer = (turn, name, { result, error }, text) =>
  say(turn, error === undefined ? text(result) : `${name}: error ${error.code} ${error.message}`);

const steps = {
  say: (turn, rest) => say(turn, textOf(rest)),
  think: (turn, rest) => update(turn.sessionId, chunk("agent_thought_chunk", textOf(rest))),
  async cut(turn, rest) {
    const message = { method: "session/update", params: { sessionId: turn.sessionId } };
    message.params.update = chunk("agent_message_chunk", textOf(rest));
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    for (const byte of bytes) {
      await write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  call(turn, rest) {
    const [id, json] = split(rest);
    const fields = { title: id, kind: "other", status: "pending", ...JSON.parse(json || "{}") };
    return update(turn.sessionId, { sessionUpdate: "tool_call", toolCallId: id, ...fields });
  },
  change(turn, rest) {
    const [id, json] = split(rest);
    return call(turn, id, JSON.parse(json || "{}"));
  },
  done(turn, rest) {
    const [id, text] = split(rest);
    return call(turn, id, { status: "completed", content: content(textOf(text)) });
  },
  fail(turn, rest) {
    const [id, text] = split(rest);
    return call(turn, id, { status: "failed", content: content(textOf(text)) });
  },
  async ask(turn, rest) {
    const [id, json] = split(rest);
    const options = [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "always", name: "Always allow", kind: "allow_always" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ];
    const params = { sessionId: turn.sessionId, toolCall: { toolCallId: id, title: id }, options };
    const { result, error } = await ask("session/request_permission", { ...params, ...JSON.parse(json || "{}") });
    if (error !== undefined) return say(turn, `ask: error ${error.code} ${error.message}`);
    if (result.outcome.outcome === "cancelled") throw new Cancelled();
    const { optionId } = result.outcome;
    await say(turn, `${id}: ${optionId}`);
    const status = optionId.startsWith("reject") ? "failed" : "completed";
    await call(turn, id, { status, content: content(optionId) });
  },
  async read(turn, rest) {
    const [path, line, limit] = rest.split(" ");
    const range = { ...(line && { line: Number(line) }), ...(limit && { limit: Number(limit) }) };
    const answer = await ask("fs/read_text_file", { sessionId: turn.sessionId, path, ...range });
    await sayAnswer(turn, "read", answer, (result) => `read: ${result.content}`);
  },
  async write(turn, rest) {
    const [path, text] = split(rest);
    const answer = await ask("fs/write_text_file", { sessionId: turn.sessionId, path, content: textOf(text) });
    await sayAnswer(turn, "write", answer, () => "written");
  },
  plan: (turn, rest) => update(turn.sessionId, { sessionUpdate: "plan", entries: JSON.parse(rest) }),
  usage(turn, rest) {
    const [used, size, cost] = rest.split(" ").map(Number);
    const priced = cost === undefined ? {} : { cost: { amount: cost, currency: "USD" } };
    return update(turn.sessionId, { sessionUpdate: "usage_update", used, size, ...priced });
  },
  spend(turn, rest) {
    turn.answer.usage = JSON.parse(rest);
  },
  update: (turn, rest) => update(turn.sessionId, JSON.parse(rest)),
  elsewhere: (_turn, rest) => update("another", JSON.parse(rest)),
  notify(_turn, rest) {
    const [method, json] = split(rest);
    return send({ method, params: JSON.parse(json || "{}") });
  },
  async request(turn, rest) {
    const [method, json] = split(rest);
    const answer = await ask(method, JSON.parse(json || "{}"));
    await sayAnswer(turn, method, answer, (result) => `${method}: ${JSON.stringify(result)}`);
  },
  raw: (_turn, rest) => write(`${textOf(rest)}\n`),
  half: (_turn, rest) => write(textOf(rest)),
  big: (turn, rest) => say(turn, "x".repeat(Number(rest))),
  async flood(turn, rest) {
    const [count, text] = split(rest);
    const message = chunk("agent_message_chunk", text === "" ? "x\n" : textOf(text));
    for (let i = 0; i < Number(count); i++) await update(turn.sessionId, message);
  },
  wait: (turn, rest) => turn.orCancelled(sleep(Number(rest))),
  "until-cancel": (turn) => turn.told,
  stop(turn, rest) {
    turn.answer.stopReason = rest;
  },
  error(_turn, rest) {
    const [code, text] = split(rest);
    throw new Refusal(Number(code), textOf(text));
  },
  // Something must keep the process alive while nothing happens: its input does not, once that is closed.
  silent: (turn) => turn.orCancelled(sleep(2 ** 31 - 1)),
  hang: () => sleep(2 ** 31 - 1),
  twice(turn) {
    turn.after.push(() => send({ id: turn.id, result: turn.answer }));
  },
  late(turn, rest) {
    turn.after.push(() => say(turn, textOf(rest)));
  },
  async both(turn) {
    await send({ id: turn.id, result: turn.answer, error: { code: -32603, message: "both" } });
    await never();
  },
  exit: (_turn, rest) => process.exit(Number(rest)),
  kill: () => process.kill(process.pid, "SIGKILL"),
  close: () => new Promise((resolve) => process.stdout.end(resolve)),
  deaf() {
    process.stdin.pause();
  },
  stderr(_turn, rest) {
    process.stderr.write(`${textOf(rest)}\n`);
  },
  grandchild(turn, rest) {
    const how = rest.split(" ");
    const deafness = how.includes("stubborn") ? 'process.on("SIGTERM", () => {});' : "";
    const out = how.includes("holding") ? "inherit" : "ignore";
    const child = spawn(process.execPath, ["-e", `${deafness} setInterval(() => {}, 1000)`], {
      detached: how.includes("detached"),
      stdio: ["ignore", out, out],
    });
    child.unref();
    return say(turn, `grandchild ${child.pid}`);
  },
  pid: (turn) => say(turn, `${process.pid}`),
  cwd: (turn) => say(turn, process.cwd()),
  args: (turn) => say(turn, JSON.stringify(settings)),
  recall: (turn) => say(turn, JSON.stringify(promptsOf(turn.sessionId).slice(0, -1))),
  model: (turn) => say(turn, `${model}`),
  mode: (turn) => say(turn, `${mode}`),
  env: (turn, rest) => say(turn, `${process.env[rest]}`),
};

const turns = new Set();

async function prompted(id, { sessionId, prompt }) {
  const text = prompt.map((block) => block.text ?? "").join("\n");
  const turn = new Turn(id, sessionId, text);
  turns.add(turn);
  keep(sessionId, [...(promptsOf(sessionId) ?? []), text]);
  try {
    await script(turn);
    await send({ id, result: turn.answer });
  } catch (error) {
    if (error instanceof Cancelled) await send({ id, result: { ...turn.answer, stopReason: "cancelled" } });
    else await refuse(id, error);
  } finally {
    turns.delete(turn);
  }
  for (const step of turn.after) await step();
}

async function script(turn) {
  const first = settings.filter((line) => line.startsWith("first ")).map((line) => line.slice("first ".length));
  const own = turn.text.split("\n").filter((line) => Object.hasOwn(steps, split(line.trimEnd())[0]));
  if (own.length === 0) own.push(`say ${JSON.stringify(`You said: ${turn.text}`)}`);
  for (const line of [...first, ...own]) {
    const [name, rest] = split(line.trimEnd());
    await steps[name](turn, rest);
  }
}

function refuse(id, error) {
  const code = error instanceof Refusal ? error.code : -32603;
  const data = error instanceof Refusal && error.data !== undefined ? { data: error.data } : {};
  return send({ id, error: { code, message: error.message, ...data } });
}

async function requested(id, method, params) {
  if (method === "session/prompt") return await prompted(id, params);
  if (!Object.hasOwn(methods, method)) return await refuse(id, new Refusal(-32601, "Method not found"));
  try {
    await send({ id, result: await methods[method](params) });
    if (method === "session/load" && has("late-replay")) await replay(params.sessionId, textOf(setting("late-replay")));
  } catch (error) {
    await refuse(id, error);
  }
}

function took(line) {
  const log = setting("log");
  if (log !== undefined) appendFileSync(log, `${line}\n`);
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.({ result, error });
    waiting.delete(id);
  } else if (id !== undefined) {
    requested(id, method, params);
  } else if (method === "session/cancel") {
    for (const turn of [...turns].filter((each) => each.sessionId === params.sessionId)) {
      turn.tell();
      if (!has("ignore-cancel")) turn.controller.abort();
    }
  }
}

function linger(ms, file) {
  process.stdout.end();
  setTimeout(() => {
    writeFileSync(file, "in order");
    process.exit(0);
  }, Number(ms));
}

if (has("exit")) process.exit(Number(setting("exit")));
if (has("banner")) await write(`${textOf(setting("banner"))}\n`);
if (has("stderr")) process.stderr.write(`${textOf(setting("stderr"))}\n`);
if (has("ignore-term")) for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
// Who closed the pipe no longer listens.
process.stdout.on("error", () => {});

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  .on("line", took)
  .on("close", () => {
    if (has("linger")) return linger(...split(setting("linger")));
    if (!has("ignore-eof")) process.exit(0);
    setInterval(() => {}, 1000);
  });
