import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, ask, events, open } from "../built/product.ts";
import { type NumberedItem, Received } from "./received.ts";
import { type Agent, marksIn, SESSIONS } from "./tapes.ts";

/** How long the clients go on. */
export interface Course {
  /** Whether a client has everything that it will ever get. */
  isComplete(received: Received): boolean;
  /** When all stop, whatever they have: in the time of `performance.now()`. */
  readonly deadline: number;
  /** Whether the chat may be missing at times. */
  readonly mayBeGone?: true;
  /** Whether connections are held to the end; else they are left now and then. */
  readonly holds?: boolean;
}

/** A client's chats by agent. */
export type Chats = ReadonlyMap<Agent, Received>;

/** A client that has been given nothing yet of the chats of `agents`. */
export function newChats(name: string, agents: readonly Agent[]): Chats {
  return new Map(agents.map((agent) => [agent, new Received(`${name} ${agent}`)]));
}

/** What a client has been given of an agent's chat. */
export function receivedOf(chats: Chats, agent: Agent): Received {
  const received = chats.get(agent);
  if (received === undefined) throw new Error(`no chat of ${agent}`);
  return received;
}

const POLL_MS = 100;
const WALK_PAUSE_MS = 1_000;
/** How long a connection is held before the client leaves it and comes back. */
const CONNECTION_MS = 1_500;
const MOST_WALK_PAGES = 3_000;

/** Where an agent's session is served. */
export function sessionPath(agent: Agent): string {
  return `/api/transcripts/${agent}/${SESSIONS[agent]}`;
}

/** Reads a chat page by page, and then asks for what is new, with the ETag of the last page that brought nothing. */
export async function pollChat(api: Api, agent: Agent, received: Received, course: Course): Promise<void> {
  let from = "0";
  let etag: string | undefined;
  while (goesOn(course, [received])) {
    const path = `${sessionPath(agent)}/chat?from=${encodeURIComponent(from)}`;
    const { status, headers, json, text } = await ask(api, path, etag === undefined ? {} : { "If-None-Match": etag });
    const isGone = status === 404 && course.mayBeGone === true;
    if (status === 200) {
      if (json.reset) received.reset();
      received.take(json.items);
    } else if (status !== 304 && !isGone) received.fault(`${status} for ${path}: ${text}`);
    const next = status === 200 ? json.next : from;
    if (next === from) await sleep(POLL_MS);
    if (status !== 304) etag = next === from ? headers.etag : undefined;
    from = next;
  }
}

/** Follows `chat/stream`, and comes back with the last event's id. */
export async function streamChat(api: Api, agent: Agent, received: Received, course: Course): Promise<void> {
  let last = "0";
  while (goesOn(course, [received])) {
    const path = `${sessionPath(agent)}/chat/stream`;
    const response = await open(api, path, { "Last-Event-ID": last });
    if (response.statusCode !== 200) {
      response.resume();
      if (response.statusCode !== 404 || !course.mayBeGone) received.fault(`${response.statusCode} for ${path}`);
      await sleep(POLL_MS);
      continue;
    }
    await listen(response, course, [received], ({ event, id, data }) => {
      if (event === "reset") received.reset();
      else received.take(JSON.parse(data).items);
      if (id === undefined) received.fault(`an event without an id: ${event}`);
      else last = id;
    });
  }
}

/** Follows all the chats on one connection of `/api/events`, and comes back with their cursors. */
export async function followEvents(api: Api, chats: Chats, course: Course): Promise<void> {
  const cursors = new Map<string, string>([...chats.keys()].map((agent) => [agent, "0"]));
  const all = [...chats.values()];
  while (goesOn(course, all)) {
    const named = Array.from(cursors, ([agent, cursor]) => `chat=${chatName(agent as Agent, cursor)}`);
    const response = await open(api, `/api/events?${named.join("&")}`);
    if (response.statusCode !== 200) {
      response.resume();
      all[0]?.fault(`${response.statusCode} for /api/events`);
      await sleep(POLL_MS);
      continue;
    }
    await listen(response, course, all, ({ event, data }) => {
      const told = JSON.parse(data);
      const received = chats.get(told.agent);
      if (event === "chat-error" && !course.mayBeGone) received?.fault(`chat-error: ${told.error}`);
      if (event !== "chat") return;
      if (told.reset) received?.reset();
      received?.take(told.items);
      cursors.set(told.agent, told.next);
    });
  }
}

/** Walks back from the tail to the start again and again: all that `known` had when a walk began must be met, once. */
export async function walkBack(api: Api, agent: Agent, known: Received, told: Received, course: Course): Promise<void> {
  while (goesOn(course, [known])) {
    await walkOnce(api, agent, known.unbroken, told);
    await sleep(WALK_PAUSE_MS);
  }
}

/** One walk from the tail to the start, on which the records before `expected` must be met, once. Gives its pages. */
export async function walkOnce(api: Api, agent: Agent, expected: number, told: Received): Promise<number> {
  const places = new Map<number, string>();
  let query = "from=tail";
  for (let pages = 1; pages <= MOST_WALK_PAGES; pages++) {
    const { status, json, text } = await ask(api, `${sessionPath(agent)}/chat?${query}`);
    if (status !== 200 || json.reset) {
      told.fault(`${status}${json?.reset ? " reset" : ""} for ${query}: ${status === 200 ? "" : text}`);
      return pages;
    }
    for (const item of json.items as NumberedItem[]) {
      for (const { n } of marksIn(item.text ?? "")) {
        const place = places.get(n);
        if (place !== undefined && place !== item.id) told.fault(`record ${n} twice on a walk: ${place}, ${item.ref}`);
        places.set(n, item.id ?? item.ref);
      }
    }
    if (json.prev === null) {
      const missing = Array.from({ length: expected }, (_, n) => n).filter((n) => !places.has(n));
      if (missing.length > 0) told.fault(`${missing.length} of ${expected} not on a walk, first ${missing[0]}`);
      return pages;
    }
    query = `before=${encodeURIComponent(json.prev)}`;
  }
  told.fault(`a walk of more than ${MOST_WALK_PAGES} pages`);
  return MOST_WALK_PAGES;
}

/** Reads the list, and each row's own entry, with the ETags of the last answers. Gives how many were 304. */
export async function pollLists(
  api: Api,
  agents: readonly Agent[],
  told: Received,
  isOver: () => boolean,
): Promise<number> {
  const etags = new Map<string, string>();
  const wanted = agents.map((agent) => `${agent}/${SESSIONS[agent]}`).sort();
  let unchanged = 0;
  for (const paths = ["/api/transcripts", ...agents.map(sessionPath), "/api/state"]; !isOver(); ) {
    for (const path of paths) {
      const etag = etags.get(path);
      const { status, headers, json, text } = await ask(api, path, etag === undefined ? {} : { "If-None-Match": etag });
      if (status === 304) unchanged++;
      else if (status !== 200) told.fault(`${status} for ${path}: ${text}`);
      else if (path === "/api/transcripts") {
        const rows = json.transcripts.map(({ agent, id }: { agent: string; id: string }) => `${agent}/${id}`);
        const times = json.transcripts.map(({ updatedAt }: { updatedAt: number }) => updatedAt);
        if (rows.sort().join() !== wanted.join()) told.fault(`the list holds ${rows.join(", ")}`);
        if (times.some((time: number, index: number) => time > times[index - 1]))
          told.fault(`the list's order: ${times}`);
      }
      if (headers.etag !== undefined) etags.set(path, headers.etag);
      else etags.delete(path);
    }
    await sleep(POLL_MS);
  }
  return unchanged;
}

function chatName(agent: Agent, cursor: string): string {
  return encodeURIComponent(`${agent}/${SESSIONS[agent]}@${cursor}`);
}

function goesOn(course: Course, received: readonly Received[]): boolean {
  return performance.now() < course.deadline && !received.every((each) => course.isComplete(each));
}

/** Takes events until a connection has been held long enough, or nothing more is wanted. */
async function listen(
  response: IncomingMessage,
  course: Course,
  received: readonly Received[],
  take: (event: { event?: string; id?: string; data: string }) => void,
): Promise<void> {
  const left = course.deadline - performance.now();
  const timer = setTimeout(() => response.destroy(), course.holds ? left : Math.min(left, CONNECTION_MS));
  try {
    for await (const event of events(response)) {
      take(event);
      if (!goesOn(course, received)) return;
    }
  } catch (error) {
    // The reader is told of its own leaving as of an error.
    if (!response.destroyed) throw error;
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}
