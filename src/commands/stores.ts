import type { StoreReport } from "../stores/store.ts";
import { printable } from "../transcript/printable.ts";
import { pairLines } from "./table.ts";

/** One line for each store: how many sessions it holds, and where. */
export function storeLines(reports: readonly StoreReport[], userHome: string): string[] {
  const rows = reports.map(({ agent, sessions, roots }) => {
    const found = roots.filter((root) => root.found).map((root) => shortPath(root.path, userHome));
    const where = found.length === 0 ? "nothing found" : `${counted(sessions, "session")} in ${found.join(", ")}`;
    return [agent, where] as const;
  });
  return pairLines(rows, 2);
}

/** `count` of a thing, in words. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/** A path as people write it: `~` is their home. */
export function shortPath(path: string, userHome: string): string {
  const inHome = path === userHome || path.startsWith(`${userHome}/`) || path.startsWith(`${userHome}\\`);
  return printable(inHome ? `~${path.slice(userHome.length)}` : path);
}
