/** The bounds of the contract (§3). Characters are UTF-16 code units, as `String.length` counts them. */

/** Characters of an item's `text`. */
export const TEXT_CHARACTERS = 16_000;
/** Characters of a tool's output preview, and of a `summary`. */
export const PREVIEW_CHARACTERS = 1_200;
/** Characters of a title. */
export const TITLE_CHARACTERS = 160;
/** Bytes of JSONL, or of SQLite part data, that one read consumes; a record that is longer is oversized. */
export const PAGE_BYTES = 512 * 1024;
/** Rows of SQLite part data in one page. */
export const PAGE_PARTS = 200;
/** Bytes before a record in which its tool's name or its time is looked for. */
export const LOOK_BACK_BYTES = 8 * 1024 * 1024;
/** UTF-8 bytes of each value that `GET …/item` answers. */
export const UNCUT_BYTES = 1024 * 1024;
/** Bytes of the largest record that `GET …/item` parses; a longer one stays the item `oversized`. */
export const UNCUT_RECORD_BYTES = 32 * 1024 * 1024;
/** Bytes of the largest record that an export holds whole; a longer one is named in its place. */
export const EXPORT_RECORD_BYTES = 128 * 1024 * 1024;
/** Characters of a cursor. */
export const CURSOR_CHARACTERS = 256;
/** Children in one list. */
export const CHILDREN = 200;
/** How long a spawn call waits for its child's first record before its place in the chat is settled. */
export const SETTLE_MS = 5_000;
