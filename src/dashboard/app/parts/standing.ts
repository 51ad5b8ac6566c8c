/** How something that goes on stands. */
export type LiveStatus = "awaiting-input" | "busy" | "running" | "starting" | "live" | "idle";

const KNOWN: readonly LiveStatus[] = ["awaiting-input", "busy", "running", "starting", "live", "idle"];

/** A status as people say it. */
export function statusWord(status: string): string {
  return status === "awaiting-input" ? "waiting for you" : status;
}

/** What a live session does, as far as it says so; a word that is not known here stays as it is. */
export function standing(activity: string | undefined): { readonly status: LiveStatus; readonly word: string } {
  const status = liveStatus(activity);
  return { status, word: status === "live" && activity ? activity : statusWord(status) };
}

/** The status of what says that it does `activity`: just live where that is not known. */
export function liveStatus(activity: string | undefined): LiveStatus {
  if (activity === "waiting") return "awaiting-input";
  return KNOWN.find((status) => status === activity) ?? "live";
}
