/**
 * An id of OpenCode (1.18.33) is a prefix, `_`, 12 hex digits and 14 random characters. The digits are the low 48 bits of
 * milliseconds × 4096 + a counter, so they start again at 0 every 2^36 ms; the last time was 2026-08-14T11:19:55.136Z.
 */
const ID = /^[a-z]+_([0-9a-f]{12})/;
const RANGE = 2 ** 48;
const STEPS_PER_MS = 4096;

/**
 * The parts of one message in their order: by id, where an id counts from the message's own time, so that parts written
 * after the ids started again stand behind those from before. Ids of another form come last, by text.
 */
export function inIdOrder<T extends { readonly id: string }>(parts: readonly T[], messageTime: number): T[] {
  const base = modulo(Math.trunc(messageTime) * STEPS_PER_MS);
  return parts
    .map((part) => ({ part, distance: distanceFrom(base, part.id) }))
    .sort((a, b) => a.distance - b.distance || (a.part.id < b.part.id ? -1 : 1))
    .map(({ part }) => part);
}

/** How far an id lies from `base`, the shorter way round. */
function distanceFrom(base: number, id: string): number {
  const digits = ID.exec(id)?.[1];
  if (digits === undefined) return RANGE;
  const distance = modulo(Number.parseInt(digits, 16) - base);
  return distance < RANGE / 2 ? distance : distance - RANGE;
}

function modulo(value: number): number {
  return ((value % RANGE) + RANGE) % RANGE;
}
