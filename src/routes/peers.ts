import { Failure } from "../platform/failure.ts";
import { type Route, route } from "../server/route.ts";
import { AGENT_NAMES, sessionIdOf } from "../transcript/names.ts";
import { type BodyField, bodySchema, line, readBody, required, whole, word } from "./body.ts";
import type { PeerContext } from "./context.ts";
import { COUNT, ID, object, orNull, TEXT, TIME } from "./schemas.ts";
import { START_FIELDS } from "./session-fields.ts";

/** The agents whose sessions can join: those that have a store of their own. */
const AGENTS = AGENT_NAMES.filter((name) => name !== "daemon");

const SESSION_ID: BodyField<string | null> = {
  schema: { ...orNull(ID), description: "The session's id in its agent's own store; null before it has one." },
  read(value, key) {
    const id = value === null ? null : sessionIdOf(value);
    if (id === undefined) throw new Failure("bad-request", `${key} must be the id of a session, or null`);
    return id;
  },
};

/** The body with which a session joins. */
const JOIN_FIELDS = {
  name: START_FIELDS.name,
  agent: required(word("Whose session it is.", AGENTS)),
  sessionId: required(SESSION_ID),
  cwd: required({
    ...START_FIELDS.cwd,
    schema: { ...START_FIELDS.cwd.schema, description: "The folder it works in." },
  }),
  pid: required(
    whole("The process of the agent's program. When it ends, the session is no peer any more.", 1, 0x7fffffff),
  ),
  start: line("When that process started, in the system's own words (Linux: ticks since boot).", 128),
};

/** What is told of every peer. */
export const PEER_FACTS = {
  name: TEXT,
  agent: TEXT,
  sessionId: orNull({ ...TEXT, description: "The id in the agent's own store; null before it has one." }),
  cwd: TEXT,
  startedAt: TIME,
};

/** What may be told of a peer besides. */
export const PEER_MORE = {
  pid: COUNT,
  activity: { ...TEXT, description: "What it does, where that is known: `busy`, `idle`, …" },
  title: TEXT,
};

/** A live session that has a name. */
export const PEER = object(PEER_FACTS, PEER_MORE);

/** Live sessions of agents join and leave under a name. */
export function peerRoutes({ peers }: Pick<PeerContext, "peers">): readonly Route[] {
  return [
    route({
      method: "POST",
      pattern: "/api/peers",
      summary: "Gives a live session of an agent a name; a session that joins again is renamed",
      query: {},
      body: bodySchema(JOIN_FIELDS),
      answer: PEER,
      status: 201,
      refuses: [409],
      access: "key",
      handle: async ({ body }) => {
        const peer = await peers.join(readBody(JOIN_FIELDS, body));
        return { kind: "json", status: 201, body: peer };
      },
    }),
    route({
      method: "DELETE",
      pattern: "/api/peers/:name",
      summary: "Takes the name of a session that joined away again",
      query: {},
      answer: object({ name: TEXT }),
      refuses: [409],
      access: "key",
      handle: async ({ params: { name = "" } }) => {
        await peers.leave(name);
        return { kind: "json", body: { name } };
      },
    }),
  ];
}
