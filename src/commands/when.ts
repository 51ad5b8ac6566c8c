import type { EpochMs } from "../platform/clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time as a table shows it: how long ago within a week, else the day. */
export function ago(at: EpochMs, now: EpochMs): string {
  const passed = now - at;
  if (passed < -MINUTE || passed >= 7 * DAY) return day(at);
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  return `${Math.floor(passed / DAY)} d`;
}

/** The day, in the local time zone: `2026-11-30`. */
export function day(at: EpochMs): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The time of day, in the local time zone: `09:24:05`. */
export function timeOfDay(at: EpochMs): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
