import { h, setText } from "../dom.ts";

/** Times as people say them, in the reader's own zone and language; the exact time is the element's title. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago `at` was, in few characters: `now`, `4 min`, `3 h`, `5 d`, then the date. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} d`;
  return dateOf(at, now);
}

/** How long something took, or has taken: `0.4 s`, `12 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(ms, 0) / 1000).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / 1000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return two(ms, HOUR, "h", MINUTE, "min");
  return two(ms, DAY, "d", HOUR, "h");
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? "" : ` ${rest} ${smallName}`}`;
}

/** The day of `at`: `Today`, `Yesterday`, the weekday with the date, with its year only when that is another one. */
export function dayOf(at: number, now: number): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return formatted(at, { weekday: "long", day: "numeric", month: "long", ...yearOf(at, now) });
}

/** The date of `at`, with its year only when that is another one. */
export function dateOf(at: number, now: number): string {
  return formatted(at, { day: "numeric", month: "short", ...yearOf(at, now) });
}

/** The time of day. */
export function timeOf(at: number): string {
  return formatted(at, { hour: "2-digit", minute: "2-digit" });
}

/** Date and time to the second, with the name of the zone. */
export function exactly(at: number): string {
  return formatted(at, { dateStyle: "full", timeStyle: "long" });
}

/** The midnight before `at`, ms since the epoch, in the reader's zone. */
export function startOfDay(at: number): number {
  const date = new Date(at);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
}

function yearOf(at: number, now: number): Intl.DateTimeFormatOptions {
  return new Date(at).getFullYear() === new Date(now).getFullYear() ? {} : { year: "numeric" };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format costs a hundred times what using it does. */
function formatted(at: number, options: Intl.DateTimeFormatOptions): string {
  if (!Number.isFinite(new Date(at).getTime())) return "";
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(undefined, options);
  formats.set(key, format);
  return format.format(at);
}

/** What a `<time>` says: how long ago, the time of day, or for how long since. */
export type TimeForm = "ago" | "time" | "since";

/** A `<time>` for `at`; those that say how long ago are kept right by `refreshTimes`. */
export function time(at: number, now: number, form: TimeForm = "ago"): HTMLTimeElement {
  const date = new Date(at);
  const iso = Number.isFinite(date.getTime()) ? date.toISOString() : undefined;
  const element = h("time", { datetime: iso, title: exactly(at), "data-form": form }, wordsOf(at, now, form));
  return element;
}

/** Brings all times below `root` up to date. */
export function refreshTimes(root: ParentNode, now: number): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[data-form=ago],time[data-form=since]")) {
    setText(element, wordsOf(Date.parse(element.dateTime), now, element.dataset.form as TimeForm));
  }
}

function wordsOf(at: number, now: number, form: TimeForm): string {
  if (form === "time") return timeOf(at);
  return form === "ago" ? ago(at, now) : duration(now - at);
}
