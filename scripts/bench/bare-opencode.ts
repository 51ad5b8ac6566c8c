import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { databaseName } from "../../src/sqlite/folder.ts";

/** A message's place in a conversation: its time, ms since the epoch, and its id. */
export type Place = readonly [time: number, id: string];

/** Opens a database that nobody writes to, as the product does. */
function open(path: string): DatabaseSync {
  return new DatabaseSync(databaseName(path, "immutable"), { readOnly: true });
}

/** Opens the database, reads the messages between two places with their parts, and parses each: how many rows there are. */
export function readAndParseRows(path: string, session: string, from: Place, to: Place): number {
  const database = open(path);
  const rows = database
    .prepare(
      `SELECT m.id AS message, m.data AS facts, p.id, p.time_created, p.time_updated, p.data
       FROM message m LEFT JOIN part p ON p.message_id = m.id
       WHERE m.session_id = ? AND (m.time_created, m.id) >= (?, ?) AND (m.time_created, m.id) <= (?, ?)
       ORDER BY m.time_created, m.id`,
    )
    .iterate(session, ...from, ...to);
  let count = 0;
  let message: unknown;
  for (const row of rows) {
    if (row.message !== message && JSON.parse(String(row.facts)) !== undefined) count++;
    message = row.message;
    if (row.data !== null && JSON.parse(String(row.data)) !== undefined) count++;
  }
  database.close();
  return count;
}

/** Opens the database and looks at the time of every part of a session: how many were written at `since` or later. */
export function lookAtTimes(path: string, session: string, since: number): number {
  const database = open(path);
  const row = database
    .prepare("SELECT count(*) AS count FROM part WHERE session_id = ? AND time_updated >= ?")
    .get(session, since);
  database.close();
  return Number(row?.count);
}

/** Opens the database and reads what a list shows of every session, and when its newest message was written. */
export function readSessionRows(path: string): number {
  const database = open(path);
  const rows = database
    .prepare(
      `SELECT id, parent_id, directory, version, title, model, time_created, time_updated,
              (SELECT time_updated FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT 1) AS newest
       FROM session s`,
    )
    .all();
  database.close();
  return rows.length;
}

/** Asks for the state of the database's files. */
export function askFiles(path: string): void {
  statSync(path);
  statSync(`${path}-wal`, { throwIfNoEntry: false });
}

/** Where the messages of a session stand that hold the rows of these ids. */
export function placesOf(path: string, ids: readonly string[]): Place[] {
  const database = open(path);
  const place = database.prepare(
    "SELECT time_created, id FROM message WHERE id = coalesce((SELECT message_id FROM part WHERE id = ?), ?)",
  );
  const places = ids.map((id): Place => {
    const row = place.get(id, id);
    return [Number(row?.time_created), String(row?.id)];
  });
  database.close();
  return places;
}
