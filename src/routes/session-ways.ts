import type { SavedSession } from "../peers/own-sessions.ts";
import { Failure } from "../platform/failure.ts";
import { sessionIdOf } from "../transcript/names.ts";
import type { ExportWays } from "./export-source.ts";
import type { Chat } from "./follow.ts";
import { savedSessions } from "./saved-sessions.ts";
import type { OwnChatTools } from "./session-chat.ts";

/** What finding the sources of a session takes. */
type WaysTools = Pick<OwnChatTools, "stores" | "own">;

/** The ways to a session of ours: the agent's own store, and our recording. */
export function waysOfSession({ stores }: WaysTools, { id, agent, nativeSessionId }: SavedSession): ExportWays {
  return {
    async native() {
      const store = stores.find((each) => each.agent === agent && each.agent !== "daemon");
      if (store === undefined) throw noNative(`sessions of ${agent ?? "this agent"} are read from our recording alone`);
      const native = sessionIdOf(nativeSessionId);
      if (native === undefined) throw noNative("the agent has not said under which id it keeps this session");
      const ref = await store.find(native);
      if (ref === undefined) throw noNative("its transcript is not in the agent's own store");
      return { store, ref, source: "native" };
    },
    async daemon() {
      const store = stores.find((each) => each.agent === "daemon");
      const recorded = sessionIdOf(id);
      const ref = recorded && (await store?.find(recorded));
      if (store === undefined || ref === undefined) throw noRecording();
      return { store, ref, source: "daemon", ...(agent !== undefined && { agent }) };
    },
  };
}

/** The ways to the chat of a store, or of a subagent: itself, and for a session that we run the other source of it. */
export function waysOfChat(tools: WaysTools, { store, ref }: Pick<Chat, "store" | "ref">): ExportWays {
  const isRecording = store.agent === "daemon";
  const saved = savedSessions(tools.own).find((each) =>
    isRecording ? each.id === ref.id : each.agent === store.agent && each.nativeSessionId === ref.id,
  );
  const ours = saved === undefined || ref.child !== undefined ? undefined : waysOfSession(tools, saved);
  if (!isRecording) {
    return {
      native: async () => ({ store, ref, source: "native" }),
      daemon: async () => {
        if (ours === undefined) throw noRecording();
        return ours.daemon();
      },
    };
  }
  return {
    native: async () => {
      if (ours === undefined) throw noNative("of this recording it is not known where the agent keeps the session");
      return ours.native();
    },
    daemon: async () => ({ store, ref, source: "daemon", ...(saved?.agent !== undefined && { agent: saved.agent }) }),
  };
}

function noNative(why: string): Failure {
  return new Failure("not-found", `there is nothing of the agent's own to export: ${why}`);
}

function noRecording(): Failure {
  return new Failure("not-found", "nothing of this session was recorded by agent-bridge");
}
