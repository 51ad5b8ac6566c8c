/** The middle of `values`. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The value that `percent` per cent of `values` do not exceed (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** A figure for each subject. */
export type Figures<Name extends string> = { readonly [name in Name]: number };

/**
 * Runs every subject once a round, in turn and every other round in reverse, and gives the medians of what they return.
 * The first `warm` rounds do not count. A subject is told the round, so that each can get work that was not done before.
 */
export async function interleaved<Name extends string>(
  rounds: number,
  subjects: { readonly [name in Name]: (round: number) => Promise<number> | number },
  warm = 1,
): Promise<Figures<Name>> {
  const names = Object.keys(subjects) as Name[];
  const figures = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < warm + rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figure = await subjects[name](round);
      if (round >= warm) figures.get(name)?.push(figure);
    }
  }
  return Object.fromEntries([...figures].map(([name, values]) => [name, median(values)])) as Figures<Name>;
}

/** How long `work` takes, in ms. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
