import type { ExportDocument, ExportedChat, ExportOptions } from "../export/document.ts";
import type { ExportSource } from "../export/model.ts";

/** Which source was asked for: `auto` is the agent's own store, else our recording. */
export const EXPORT_SOURCES = ["auto", "native", "daemon"] as const;
export type AskedSource = (typeof EXPORT_SOURCES)[number];

/** The ways to one session's chat. A way that there is not gives a Failure that says why. */
export interface ExportWays {
  /** @throws Failure not-found: no native strategy, no transcript there, … · conflict, unreadable */
  native(): Promise<ExportedChat>;
  /** @throws Failure not-found: nothing was recorded, … */
  daemon(): Promise<ExportedChat>;
}

/** Exports from the source that was asked for. With `auto`: native, else (also when reading it fails) the recording. */
export async function exportFrom(
  _ways: ExportWays,
  _asked: AskedSource,
  _options: ExportOptions,
  _tools: { readonly folder: string; readonly signal?: AbortSignal },
): Promise<ExportDocument> {
  throw new Error("not built yet");
}

export type { ExportSource };
