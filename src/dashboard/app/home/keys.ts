import { placeAfter } from "../parts/list-keys.ts";
import type { SessionList } from "./list.ts";
import type { Now } from "./now.ts";

/** Takes the keys that move through what goes on now and the list below it; true when a key did something. */
export function homeKeys(list: SessionList, now: Now): (event: KeyboardEvent) => boolean {
  return ({ key, shiftKey }) => {
    if (shiftKey) return false;
    if (key === "ArrowRight" || key === "ArrowLeft") return list.fold(key === "ArrowRight");
    const { rows } = list;
    const { stops } = now;
    const above = stops.length;
    const active = stops.findIndex((stop) => stop.matches(":focus"));
    const at = rows.focused === -1 ? active : above + rows.focused;
    if (at === -1 && rows.isReadingOn() && (key === "ArrowDown" || key === "j")) return rows.focusInView();
    const to = placeAfter(key, at, above + rows.length, rows.pageLength());
    if (to === undefined) return false;
    if (key === "Home") rows.toStart();
    stops[to]?.focus();
    return to < above || rows.focusAt(to - above);
  };
}
