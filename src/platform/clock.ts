declare const epochMs: unique symbol;

/** Milliseconds since the Unix epoch, a whole number within ±2^53. */
export type EpochMs = number & { readonly [epochMs]: true };

/** Where the time comes from; passed in, so that tests can hold it still. */
export interface Clock {
  now(): EpochMs;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() as EpochMs };

/** `value` as a time, its fraction dropped; undefined when it is not a finite number a `Date` can hold. */
export function epochMsOf(value: unknown): EpochMs | undefined {
  if (typeof value !== "number" || !(Math.abs(value) <= 8.64e15)) return undefined;
  return (Math.trunc(value) + 0) as EpochMs;
}

/** The time that an ISO 8601 text (or a number of milliseconds) states, or undefined. */
export function epochMsFromIso(value: unknown): EpochMs | undefined {
  if (typeof value === "number") return epochMsOf(value);
  if (typeof value !== "string" || value.length > 40) return undefined;
  const utc = utcOf(value);
  if (utc !== undefined) return utc as EpochMs;
  // `Date.parse` alone would take "x 5" for a day of 2001.
  return /^\d{4}-\d\d-\d\d(?:[T ]|$)/.test(value) ? epochMsOf(Date.parse(value)) : undefined;
}

/** The usual form, `2026-11-30T09:24:00.000Z`, read without the cost of `Date.parse`; undefined for any other. */
function utcOf(text: string): number | undefined {
  if (text.length !== 24 || text.charCodeAt(10) !== 0x54 || text.charCodeAt(23) !== 0x5a) return undefined;
  if (text[4] !== "-" || text[7] !== "-" || text[13] !== ":" || text[16] !== ":" || text[19] !== ".") return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const ms = digits(text, 20, 23);
  // Whatever is unusual (a letter, the 29th and later, hour 24) is left to `Date.parse`.
  const usual = year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour <= 23 && minute <= 59;
  return usual && second <= 59 && ms <= 999 ? Date.UTC(year, month - 1, day, hour, minute, second, ms) : undefined;
}

/** The number that the characters from `from` to `to` are; NaN when one of them is no digit. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN;
  }
  return number;
}
