import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Clock, EpochMs } from "../../../src/platform/clock.ts";
import { dataFolder, makeDatabase, type Rows, schemaOf, temporaryFolder } from "./fixtures.ts";
import { sqlText } from "./writer.ts";

/** When the conversations of the tests begin; long before the files are written. */
export const T0 = Date.parse("2026-09-01T10:00:00Z");

/** The session of these conversations. */
export const SESSION = "ses_test";

/** A clock that stands still until it is set. */
export interface HandClock extends Clock {
  time: number;
}

/** A clock that shows `time`. */
export function handClock(time: number): HandClock {
  const clock: HandClock = { time, now: () => clock.time as EpochMs };
  return clock;
}

/** The row of the session. */
export function session(more: { readonly [column: string]: unknown } = {}): { readonly [column: string]: unknown } {
  return { id: SESSION, time_created: T0, time_updated: T0, ...more };
}

/** A message, `ms` after the beginning. */
export function message(
  id: string,
  ms: number,
  data: { readonly [key: string]: unknown },
  more: { readonly [column: string]: unknown } = {},
): { readonly [column: string]: unknown } {
  return { id, session_id: SESSION, time_created: T0 + ms, time_updated: T0 + ms, data, ...more };
}

/** A part, `ms` after the beginning. */
export function part(
  id: string,
  messageId: string,
  ms: number,
  data: unknown,
  more: { readonly [column: string]: unknown } = {},
): { readonly [column: string]: unknown } {
  const row = { id, message_id: messageId, session_id: SESSION, time_created: T0 + ms, time_updated: T0 + ms };
  return { ...row, data, ...more };
}

/** A text part. */
export function text(value: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text: value };
}

/** A home whose database (1.18.33) holds `rows`. */
export function homeWith(t: TestContext, rows: Rows, schema = schemaOf("1.18.33")): { home: string; path: string } {
  const home = temporaryFolder(t);
  const path = join(dataFolder(home), "opencode.db");
  makeDatabase(path, schema, rows);
  return { home, path };
}

/** SQL that inserts a part. */
export function insertPart(id: string, messageId: string, ms: number, data: unknown): string {
  const time = T0 + ms;
  return `INSERT INTO part VALUES (${[sqlText(id), sqlText(messageId), sqlText(SESSION), time, time, sqlText(data)].join(", ")});`;
}

/** SQL that writes a part again. */
export function updatePart(id: string, ms: number, data: unknown): string {
  return `UPDATE part SET time_updated = ${T0 + ms}, data = ${sqlText(data)} WHERE id = ${sqlText(id)};`;
}

/** A conversation of `count` turns, a second each: a prompt `u<n>` and an answer `a<n>`. */
export function turns(count: number): Rows {
  const messages: ReturnType<typeof message>[] = [];
  const parts: ReturnType<typeof part>[] = [];
  for (let n = 0; n < count; n++) {
    const ms = n * 1_000;
    const name = String(n).padStart(4, "0");
    messages.push(
      message(`msg_${name}a`, ms, { role: "user" }),
      message(`msg_${name}b`, ms + 10, { role: "assistant" }),
    );
    parts.push(part(`prt_${name}a`, `msg_${name}a`, ms, text(`u${n}`)));
    parts.push(part(`prt_${name}b`, `msg_${name}b`, ms + 10, text(`a${n}`)));
  }
  return { session: [session()], message: messages, part: parts };
}
