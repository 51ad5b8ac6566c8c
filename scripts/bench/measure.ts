import type { OpenCodeHistory } from "../history/opencode.ts";
import type { History, WrittenBigSession, WrittenSession } from "../history.ts";

/** One line of the table. A figure is the median (or the named percentile) of interleaved rounds. */
export interface Row {
  readonly measure: string;
  readonly what: string;
  readonly unit: "ms" | "µs" | "MB" | "KB" | "nodes";
  readonly ours: number;
  /** The baseline of the same run, in the same unit. */
  readonly bare?: number;
  /** `ratio`: ours / bare; `difference`: ours − bare, where a bare figure near 0 makes a ratio meaningless. */
  readonly compare: "ratio" | "difference";
  /** Cost of an item at the larger size / at the smaller size; of memory, the peaks. 1 is linear (memory: flat). */
  readonly slope?: number;
  /** What the design asks for, in the table's words. */
  readonly aim?: string;
}

/** The sessions that single chats are read from; each size once as histories are, once without never-shown records. */
export interface Chats {
  readonly home: string;
  readonly small: WrittenSession;
  readonly large: WrittenSession;
  readonly denseSmall: WrittenSession;
  readonly denseLarge: WrittenSession;
}

/** What measures are given. */
export interface Bench {
  readonly rounds: number;
  readonly seed: number;
  /** Codex sessions that are listed. */
  readonly rollouts: number;
  /** The session that is exported. */
  readonly exportMb: number;
  /** Two histories, the large one four times the small one. */
  readonly small: History;
  readonly large: History;
  readonly chats: Chats;
  /** A session with one line that no page holds. */
  readonly big: { readonly home: string; readonly session: WrittenBigSession };
  /** Two databases of OpenCode, the large one four times the small one; made when they are asked for. */
  opencode(): { readonly small: OpenCodeHistory; readonly large: OpenCodeHistory };
  /** A new empty folder that the run removes at its end. */
  folder(name: string): string;
  /** Says on stderr what is being done. */
  progress(text: string): void;
}

/** One thing that is measured beside its own baseline. */
export interface Measure {
  readonly name: string;
  /** What is compared with what, on one line. */
  readonly about: string;
  run(bench: Bench): Promise<Row[]>;
}

/** Thrown by a measure that this machine or this build does not allow. */
export class NotMeasurable extends Error {}
