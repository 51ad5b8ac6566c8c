/** What reading a store costs, counted: tests state how much of it an operation may do. */
export type WorkKind =
  /** A rollout opened. */
  | "open"
  /** A head or a tail read for what lists show. */
  | "head"
  | "tail"
  /** A record parsed. */
  | "parse"
  /** A folder listed. */
  | "folder"
  /** A whole file decompressed. */
  | "unpack";

/** Is told of every piece of work. */
export interface Work {
  count(kind: WorkKind): void;
}

/** Counts nothing. */
export const NO_WORK: Work = { count: () => undefined };

/** How long a loop may hold the event loop before it lets others run, in ms. */
const SLICE_MS = 8;

/** A function to await within long loops: it waits for one turn of the event loop whenever a slice is used up. */
export function breather(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
