/**
 * A sum of costs in US dollars, to a billionth: sums of decimal fractions carry the error of their binary form, far below
 * any price.
 */
export function roundedUsd(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}
