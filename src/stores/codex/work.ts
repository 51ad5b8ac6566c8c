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
