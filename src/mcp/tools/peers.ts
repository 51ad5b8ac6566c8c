import { peerNameOf } from "../../peers/names.ts";
import type { Peer } from "../../peers/peer.ts";
import { Failure } from "../../platform/failure.ts";
import { PEER, PEER_FACTS, PEER_MORE } from "../../routes/peers.ts";
import { list, object, TEXT } from "../../routes/schemas.ts";
import { READS, tool } from "../tool.ts";
import { framed, moment, NOTICE, shownLine } from "../untrusted.ts";

/** `peers`: who is live. */
export const listPeers = tool({
  name: "peers",
  title: "List live sessions by name",
  description:
    "Lists the agent sessions that are live on this machine now, each under a name: those that agent-bridge runs, those that joined, and those whose agent's own files prove that they are open. Read one's chat with read_session and its name.",
  input: {},
  required: [],
  output: object({ notice: TEXT, peers: list(PEER) }),
  hints: READS,
  async run(_, { host }) {
    const peers = (await host.peers()).map(shownPeer);
    const rows = peers.map(({ name, agent, sessionId, cwd, startedAt, activity, title = "" }) => {
      const facts = [sessionId === null ? agent : `${agent}/${sessionId}`, activity ?? "", cwd];
      return `${name}  ${facts.filter((fact) => fact !== "").join(" | ")}  since ${moment(startedAt)}  ${title}`;
    });
    return {
      structured: { notice: NOTICE, peers },
      text: rows.length === 0 ? "Nobody is live." : framed(() => rows.join("\n")),
    };
  },
});

/** `join`: the session that runs this server gets a name. */
export const join = tool({
  name: "join",
  title: "Give this session a name",
  description:
    "Gives the session that you are in a name, under which others on this machine find it (peers, read_session). Needs a running `agent-bridge serve`. Joining again renames it; it is a peer until its program ends.",
  input: {
    name: {
      type: "string",
      minLength: 1,
      maxLength: 128,
      description: "The name; without it one is made from the agent and its folder.",
    },
  },
  required: [],
  output: object({ notice: TEXT, ...PEER_FACTS }, PEER_MORE),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ name }, { host }) {
    if (name !== undefined && peerNameOf(name) === undefined) {
      throw new Failure("bad-request", "name must be 1 to 128 characters without / and control characters");
    }
    const peer = shownPeer(await host.join(name));
    return {
      structured: { notice: NOTICE, ...peer },
      text: `This session (${peer.agent}/${peer.sessionId}) is known as "${peer.name}".`,
    };
  },
});

/** A peer, each text of it printable and on one line. */
function shownPeer(peer: Peer): Peer {
  const { name, agent, cwd, activity, title } = peer;
  return {
    ...peer,
    ...{ name: shownLine(name), agent: shownLine(agent), cwd: shownLine(cwd, 500) },
    ...(activity !== undefined && { activity: shownLine(activity) }),
    ...(title !== undefined && { title: shownLine(title) }),
  };
}
