import { setTimeout as pause } from "node:timers/promises";

/** Something that happens once, and that others wait for. */
export interface Happening {
  readonly happened: Promise<void>;
  happen(): void;
}

export function happening(): Happening {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happened, happen };
}

/** How long anything may take: ms. A CLI's first start on a busy machine is the slowest. */
const DEADLINE_MS = 60_000;
/** How often a condition is looked at that tells nobody when it comes true: ms. */
const LOOK_MS = 25;

/** What `promise` comes to. @throws when it takes longer than anything may; `state` says how things stand then. */
export async function soon<T>(what: string, promise: Promise<T>, state: () => unknown = () => ""): Promise<T> {
  const late = new AbortController();
  const deadline = pause(DEADLINE_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`not in ${DEADLINE_MS} ms: ${what}; ${JSON.stringify(state())}`);
  });
  deadline.catch(() => {});
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    late.abort();
  }
}

/** The first defined answer of `look`. @throws when there is none in time */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  state: () => unknown = () => "",
): Promise<T> {
  for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await pause(LOOK_MS)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`not in ${DEADLINE_MS} ms: ${what}; ${JSON.stringify(state())}`);
}
