import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import { HermesStore } from "../../../src/stores/hermes/store.ts";
import { storeContract } from "../contract.ts";
import { insert, NEWEST, TEN, writeDatabase } from "./home.ts";

const fixtures = realpathSync(mkdtempSync(join(tmpdir(), "hermes-contract-")));
after(() => rmSync(fixtures, { recursive: true, force: true }));

const LATER: Clock = { now: () => ((TEN + 86_400) * 1000) as EpochMs };

const calls = (...names: string[]): string =>
  JSON.stringify(names.map((name) => ({ id: `c-${name}`, function: { name, arguments: '{"command":"ls"}' } })));

writeDatabase(join(fixtures, "state.db"), (database) => {
  database.exec(NEWEST);
  const session = (id: string, fields: object): void =>
    insert(database, "sessions", { id, source: "cli", started_at: TEN, ...fields });
  const say = (id: string, second: number, role: string, content: string | null, fields: object = {}): void =>
    insert(database, "messages", { session_id: id, role, content, timestamp: TEN + second, ...fields });
  session("split1", { end_reason: "compression", ended_at: TEN + 20, input_tokens: 10 });
  session("split2", { parent_session_id: "split1", started_at: TEN + 20, output_tokens: 5 });
  session("kid", { parent_session_id: "split1", started_at: TEN + 3, model_config: '{"_delegate_from":"split1"}' });
  session("other", {});
  say("split1", 0, "system", "You are helpful.");
  say("split1", 1, "user", "go");
  say("split1", 2, "assistant", "On it.", { reasoning: "Hm.", tool_calls: calls("terminal", "delegate_task") });
  say("split1", 3, "tool", "a", { tool_call_id: "c-terminal" });
  say("kid", 3, "user", "look");
  say("kid", 4, "assistant", "Nothing.");
  say("split1", 5, "tool", "Nothing.", { tool_call_id: "c-delegate_task" });
  say("split1", 6, "user", "taken back", { active: 0 });
  say("other", 6, "user", "hello");
  say("split2", 21, "user", "Summary", { _compressed_summary: 1 });
  say("split2", 5, "tool", "Nothing.", { tool_call_id: "c-delegate_task" });
  say("split2", 22, "user", "more");
  say("split2", 23, "assistant", "x".repeat(2_000));
});

storeContract({
  fixtures,
  sessions: ["split2", "other"],
  open: (home, clock = LATER) =>
    new HermesStore({
      environment: environmentFrom({ home: join(home, "nowhere"), variables: { HERMES_HOME: home } }),
      clock,
      watcher: createWatcher(),
      extraRoots: [],
    }),
  foreignCursors: ["j:1:0", "o:1:prt_1", "h:", "h:-1", "h:1.5", "h:01", "h:1:0", "h:9007199254740993", "x"],
});
