import type { Command } from "./command.ts";
import { completion } from "./completion/completion.ts";
import { demo } from "./demo/demo.ts";
import { doctor } from "./doctor.ts";
import { events } from "./events.ts";
import { exportSession } from "./export.ts";
import { hook } from "./hook.ts";
import { jobs } from "./jobs.ts";
import { join } from "./join.ts";
import { leave } from "./leave.ts";
import { link } from "./link.ts";
import { ls } from "./ls.ts";
import { mcp } from "./mcp/mcp.ts";
import { runAgent } from "./one-turn/run.ts";
import { peers } from "./peers.ts";
import { chat } from "./repl/chat.ts";
import { runs } from "./runs.ts";
import { serve } from "./serve.ts";
import { sessions } from "./sessions/sessions.ts";
import { show } from "./show.ts";
import { tail } from "./tail.ts";
import { token } from "./token.ts";

/** Every command but help, in the order of the list. */
export const COMMANDS: readonly Command[] = [
  serve,
  token,
  link,
  ls,
  show,
  tail,
  exportSession,
  events,
  runAgent,
  sessions,
  chat,
  runs,
  jobs,
  join,
  leave,
  peers,
  mcp,
  hook,
  doctor,
  demo,
  completion(() => COMMANDS),
];
