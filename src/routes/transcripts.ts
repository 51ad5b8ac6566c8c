import { Failure } from "../platform/failure.ts";
import { type Answer, type Route, route } from "../server/route.ts";
import { LIST_LIMIT, LIST_STATES, parseRowCursor } from "../stores/list-query.ts";
import { parseProjectCursor } from "../stores/project-list.ts";
import { type ChatMount, chatRoutes } from "./chat.ts";
import type { RouteContext } from "./context.ts";
import { transcriptWays } from "./export-ways.ts";
import { findChat } from "./find.ts";
import { agent, flag, folder, integer, once, oneOf, text } from "./query.ts";
import { COUNT, ENTRY, list, object, orNull, PROJECT, ROW, TEXT } from "./schemas.ts";

const LIST_MOST = 500;

/** The list of every session, each session, and its chats. */
export function transcriptRoutes(context: RouteContext): readonly Route[] {
  const mount: ChatMount = {
    prefix: "/api/transcripts/:agent/:id",
    what: "a transcript",
    find: ({ agent = "", id = "" }) => findChat(context.stores, agent, id),
    ways: ({ agent = "", id = "" }) => transcriptWays(context, agent, id),
  };
  return [transcriptList(context), projectList(context), transcriptEntry(context), ...chatRoutes(mount, context)];
}

const FILTER = {
  agent: agent("Sessions of this agent only."),
  q: text("q", "Stands in the title or the folder; upper and lower case are the same."),
  state: oneOf(
    "state",
    "`live`: a process is known to have the session open now (its row has `live`). `ended`: all others.",
    LIST_STATES,
  ),
  children: flag("children", "1: also sessions that are children of another (their rows have `parent`)."),
};

function transcriptList({ inventory, bootNonce }: RouteContext): Route {
  return route({
    method: "GET",
    pattern: "/api/transcripts",
    summary: "Every session of every store, the last updated first",
    query: {
      ...FILTER,
      project: folder(
        "project",
        "Sessions that started in this folder or below. A folder in a git working tree stands for the whole tree.",
      ),
      exact: flag(
        "exact",
        "1, beside `project`: only sessions whose own project is this very folder, as `/api/projects` names it.",
      ),
      folderless: flag("folderless", "1: only sessions whose folder is not known. Not beside `project`."),
      before: once(
        "before",
        "The `next` of an earlier page. A time in milliseconds alone: sessions last updated strictly before it.",
        { type: "string" },
        parseRowCursor,
      ),
      limit: integer("limit", `Sessions at most; ${LIST_LIMIT} when absent.`, 1, LIST_MOST),
    },
    answer: object({ transcripts: list(ROW, LIST_MOST), next: orNull(TEXT), total: COUNT }),
    conditional: true,
    access: "key",
    handle: async ({ query }) => {
      const { project, exact, folderless } = query;
      if (exact && project === undefined) throw new Failure("bad-request", "exact needs a project");
      if (folderless && project !== undefined) {
        throw new Failure("bad-request", "folderless and project can't stand together");
      }
      await inventory.settled();
      const edition = (): string => (exact ? projectsEdition(inventory) : String(inventory.generation));
      return listed(edition, bootNonce, () => inventory.query(query));
    },
  });
}

function projectList({ inventory, bootNonce }: RouteContext): Route {
  return route({
    method: "GET",
    pattern: "/api/projects",
    summary: "The sessions that a filter passes by project, the last updated first",
    query: {
      ...FILTER,
      before: once(
        "before",
        "The `next` of an earlier page. A time in milliseconds alone: projects last updated strictly before it.",
        { type: "string" },
        parseProjectCursor,
      ),
      limit: integer("limit", `Projects at most; ${LIST_LIMIT} when absent.`, 1, LIST_MOST),
    },
    answer: object({ projects: list(PROJECT, LIST_MOST), next: orNull(TEXT), total: COUNT }),
    conditional: true,
    access: "key",
    handle: async ({ query }) => {
      await inventory.settled();
      return listed(
        () => projectsEdition(inventory),
        bootNonce,
        () => inventory.projects(query),
      );
    },
  });
}

/** What is told of the list besides its rows: folders may become repositories while no row changes. */
function projectsEdition({ generation, projectsRevision }: RouteContext["inventory"]): string {
  return `${generation}.${projectsRevision}`;
}

/** What `read` gives of the list; without an ETag when the list changed meanwhile. */
async function listed(edition: () => string, bootNonce: string, read: () => Promise<object>): Promise<Answer> {
  const before = edition();
  const body = await read();
  const settled = before === edition();
  return { kind: "json", body, validity: { facts: [before, bootNonce], uses: [], settled } };
}

function transcriptEntry({ inventory, stores, bootNonce }: RouteContext): Route {
  return route({
    method: "GET",
    pattern: "/api/transcripts/:agent/:id",
    summary: "A session, with its tokens and cost once they are counted",
    query: {},
    answer: ENTRY,
    conditional: true,
    refuses: [409],
    access: "key",
    handle: async ({ params }) => {
      const chat = await findChat(stores, params.agent ?? "", params.id ?? "");
      await inventory.settled();
      const row = inventory.row(chat.ref.agent, chat.ref.id) ?? (await chat.store.unlisted?.(chat.ref));
      if (row === undefined) throw new Failure("not-found", "no such transcript");
      const totals = await chat.store.totals(chat.ref);
      const body = { ...row, ...(totals ?? { counting: true }) };
      const facts = [JSON.stringify(body), bootNonce];
      return { kind: "json", body, validity: { facts, uses: [], settled: totals !== undefined } };
    },
  });
}
