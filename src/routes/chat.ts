import { Failure } from "../platform/failure.ts";
import { type Answer, type QueryParameter, type Route, route } from "../server/route.ts";
import { PAGE_BUDGET, type Pages } from "../stores/pages.ts";
import { type Cursor, cursorOf, START } from "../transcript/cursor.ts";
import { pageItems, toItems, wholeLimits } from "../transcript/item.ts";
import type { RouteContext } from "./context.ts";
import { exportRoute } from "./export.ts";
import type { ExportWays } from "./export-source.ts";
import { childWays } from "./export-ways.ts";
import { findChild, StoreMissing } from "./find.ts";
import type { Chat } from "./follow.ts";
import { CURSOR_SCHEMA, cursor, cursorOrTail, flag, once } from "./query.ts";
import { PAGE, SUBAGENTS, UNCUT_ITEMS } from "./schemas.ts";
import { chatEvents } from "./stream.ts";

type Params = { readonly [name: string]: string };

/** Where chats hang in the tree of routes: the same routes stand below sessions and runs as below transcripts. */
export interface ChatMount {
  /** The path before `/chat`, with its parameters. */
  readonly prefix: string;
  /** What the path names, for descriptions: "a transcript". */
  readonly what: string;
  /**
   * The chat that the path names. A cursor (`given`) of another store's kind is told before a transcript that is missing.
   * @throws Failure not-found, conflict, bad-request
   */
  find(params: Params, given: Cursor | "tail" | undefined): Promise<Chat>;
  /** The ways to that chat for an export. @throws Failure not-found */
  ways(params: Params): Promise<ExportWays>;
}

const FROM = cursorOrTail(
  "from",
  "Where to read on: the `next` of an earlier page. Absent or 0: the start. `tail`: the last page.",
);
const BEFORE = cursor(
  "before",
  "Reads backward instead: the `prev` of an earlier page, or a `ref`. Not beside `from`.",
);
const NO_REF = "ref must be the ref of an item of this chat";
const REF: QueryParameter<Cursor> = {
  ...once("ref", "The `ref` of an item.", CURSOR_SCHEMA, (text) => {
    try {
      return cursorOf(text);
    } catch (error) {
      throw new Failure("bad-request", NO_REF, error);
    }
  }),
  required: true,
};
const ANSI = flag(
  "ansi",
  "1: what tools and commands printed keeps its colours and style (`ESC [ … m`), and no other escape sequence.",
);
const STREAM_FROM = cursorOrTail(
  "from",
  "Where to read on, unless a Last-Event-ID is given. Absent or 0: the start. `tail`: the last page, then what follows.",
);

/** Finds the chat of a path; a cursor of another store (`given`) is told before a subagent that is not there. */
type FindOne = (params: Params, given: Cursor | "tail" | undefined) => Promise<Chat>;

/** The routes of a chat and of its subagents' chats. */
export function chatRoutes(mount: ChatMount, context: RouteContext): readonly Route[] {
  const { prefix, what, find, ways } = mount;
  const own = [
    chatRoute(`${prefix}/chat`, what, find, context.pages),
    streamRoute(`${prefix}/chat/stream`, what, find, context),
    itemRoute(`${prefix}/item`, what, find),
    exportRoute(`${prefix}/export`, what, ways, context.exports),
  ];
  return [...own.map(refusing), ...subagentRoutes(mount, context)];
}

/** The routes of the subagents of a chat alone. */
export function subagentRoutes(mount: ChatMount, context: RouteContext): readonly Route[] {
  const { prefix, what, find, ways } = mount;
  const { pages, exports } = context;
  const child = `${prefix}/subagents/:child`;
  const findOwn: FindOne = async (params, given) =>
    findChild(await find(params, given), params.child ?? "", pages, given);
  const own = [
    subagentsRoute(`${prefix}/subagents`, what, find),
    chatRoute(child, `a subagent of ${what}`, findOwn, pages),
    streamRoute(`${child}/stream`, `a subagent of ${what}`, findOwn, context),
    itemRoute(`${child}/item`, `a subagent of ${what}`, findOwn),
    exportRoute(
      `${child}/export`,
      `a subagent of ${what}`,
      async (params) => childWays(await ways(params), params.child ?? ""),
      exports,
    ),
  ];
  return own.map(refusing);
}

/** There may be no session yet, or a database that can't be read now. */
function refusing(one: Route): Route {
  return { ...one, refuses: [409] };
}

function chatRoute(pattern: string, what: string, find: FindOne, pages: Pages): Route {
  return route({
    method: "GET",
    pattern,
    summary: `A page of the chat of ${what}`,
    query: { from: FROM, before: BEFORE },
    answer: PAGE,
    conditional: true,
    access: "key",
    handle: async ({ params, query: { from, before } }) => {
      if (from !== undefined && before !== undefined) {
        throw new Failure("bad-request", "from and before can't stand together");
      }
      const chat = await find(params, from ?? before);
      if (before !== undefined) return pageBefore(chat, before);
      return from === "tail" ? lastPage(chat) : pageFrom(chat, from ?? START, pages);
    },
  });
}

function streamRoute(pattern: string, what: string, find: FindOne, context: RouteContext): Route {
  return route({
    method: "GET",
    pattern,
    summary: `The pages of the chat of ${what} as they come, as server-sent events`,
    query: { from: STREAM_FROM },
    answer: PAGE,
    media: "text/event-stream",
    access: "key",
    handle: async ({ params, query, lastEventId, signal }) => {
      const from = lastEventId ? cursorOf(lastEventId) : (query.from ?? START);
      const chat = await find(params, from);
      // Read before the stream begins, so that what is wrong with the request still gets its status.
      if (from !== "tail") await context.pages.from(chat.store, chat.ref, from);
      return { kind: "events", events: chatEvents(chat, from, context, signal) };
    },
  });
}

function itemRoute(pattern: string, what: string, find: FindOne): Route {
  return route({
    method: "GET",
    pattern,
    summary: `The items of one record in the chat of ${what}, uncut, calls with their input`,
    query: { ref: REF, ansi: ANSI },
    answer: UNCUT_ITEMS,
    access: "key",
    handle: async ({ params, query: { ref, ansi = false } }) => {
      if (ref === undefined) throw new Failure("bad-request", "ref is missing: give the ref of an item");
      const { store, ref: session } = await find(params, ref).catch(wrongRef);
      const entries = await store.record(session, ref).catch(wrongRef);
      return { kind: "json", body: { items: toItems(entries, wholeLimits({ ansi })) } };
    },
  });
}

function subagentsRoute(pattern: string, what: string, find: FindOne): Route {
  return route({
    method: "GET",
    pattern,
    summary: `The subagents of ${what}, newest first`,
    query: {},
    answer: SUBAGENTS,
    conditional: true,
    access: "key",
    handle: async ({ params }) => {
      const chat = await find(params, undefined).catch(nothingWithoutStore);
      if (chat === undefined) return { kind: "json", body: { subagents: [] } };
      const { children, uses, settled } = await chat.store.children(chat.ref);
      // A status may change with a process alone, which no file tells.
      const facts = [...children.map(({ id, status }) => `${id} ${status}`), ...(chat.standing?.facts ?? [])];
      return { kind: "json", body: { subagents: children }, validity: { facts, uses, settled } };
    },
  });
}

/** Throws `error`; a refusal of a cursor as that of a ref, which can't be left out as a cursor can. */
export function wrongRef(error: unknown): never {
  throw error instanceof Failure && error.kind === "bad-request" ? new Failure(error.kind, NO_REF, error) : error;
}

/** Where there is no store at all, there are no subagents. */
function nothingWithoutStore(error: unknown): undefined {
  if (!(error instanceof StoreMissing)) throw error;
}

// A page that starts again has no ETag: to the same cursor and of the same files the next answer is another page.

async function pageFrom({ store, ref, standing }: Chat, from: Cursor, pages: Pages): Promise<Answer> {
  const { page, uses, settled } = await pages.from(store, ref, from);
  return { kind: "json", body: page, validity: { uses, settled: settled && !page.reset, ...standing } };
}

async function lastPage({ store, ref, standing }: Chat): Promise<Answer> {
  const page = await store.before(ref, "tail", PAGE_BUDGET);
  const { next, prev, uses, settled } = page;
  return { kind: "json", body: { items: pageItems(page), next, prev }, validity: { uses, settled, ...standing } };
}

async function pageBefore({ store, ref, standing }: Chat, before: Cursor): Promise<Answer> {
  const page = await store.before(ref, before, PAGE_BUDGET);
  const { prev, reset, uses, settled } = page;
  const body = { items: pageItems(page), prev, ...(reset && { reset }) };
  return { kind: "json", body, validity: { uses, settled: settled && !reset, ...standing } };
}
