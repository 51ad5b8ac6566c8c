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
  // `Date.parse` alone would take "x 5" for a day of 2001.
  if (typeof value !== "string" || value.length > 40 || !/^\d{4}-\d\d-\d\d(?:[T ]|$)/.test(value)) return undefined;
  return epochMsOf(Date.parse(value));
}
