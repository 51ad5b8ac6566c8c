/** What is left of an output that may be long: its end. */
export interface OutputChunk {
  readonly text: string;
  /** Where `text` begins and ends, counted in bytes since the session began. */
  readonly from: number;
  readonly next: number;
  /** Something between the place asked for and `from` is no longer kept. */
  readonly cut?: true;
}

/** The last 500 lines, or 64 KiB, of what a session printed. */
export interface Output {
  /** Adds what was printed, as bytes just as they came or as text. */
  write(part: Uint8Array | string): void;
  /** What was printed from the byte `since` on, or as much of it as is kept. A character is never cut in two. */
  read(since?: number): OutputChunk;
  /** Nothing more will be printed. */
  end(): void;
  readonly ended: boolean;
  /** What is printed from the byte `since` on, as it comes; ends with the output or the signal. A slow reader misses what is no longer kept, and is told so. */
  follow(since: number, signal: AbortSignal): AsyncIterable<OutputChunk>;
}
