import type { ExportDocument, ExportOptions } from "../export/document.ts";
import { Places } from "../platform/places.ts";
import { type AskedSource, type ExportWays, exportFrom } from "./export-source.ts";

/** Long chats that are read at a time: each takes seconds, which short ones need not wait for. */
const MOST_LONG = 4;
/** Exports that are open at a time, also those that a client is still taking: each holds memory or a file. */
const MOST_OPEN = 32;

/** What was asked for. */
export interface AskedExport extends ExportOptions {
  readonly source: AskedSource;
}

/** Where a server makes its exports: a few at a time, so that memory and work stay bounded; others wait, in order. */
export class ExportDesk {
  readonly #long = new Places(MOST_LONG);
  readonly #open = new Places(MOST_OPEN);
  readonly #folder: string;

  /** `folder`: where what is too much for memory waits; it need not be there. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A document, and what closes it. @throws what `exportFrom` throws · the signal's reason when that aborts */
  async make(
    ways: ExportWays,
    { source, ...options }: AskedExport,
    signal: AbortSignal,
  ): Promise<{ readonly document: ExportDocument; close(): Promise<void> }> {
    const leave = await this.#open.take(signal);
    let done: (() => void) | undefined;
    const long = async (): Promise<void> => {
      done ??= await this.#long.take(signal);
    };
    try {
      const document = await exportFrom(ways, source, options, { folder: this.#folder, signal, long });
      return { document, close: () => document.close().finally(leave) };
    } catch (error) {
      leave();
      throw error;
    } finally {
      done?.();
    }
  }
}
