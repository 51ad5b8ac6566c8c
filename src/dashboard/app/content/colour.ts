import type { Colour } from "./sgr.ts";

/** Red, green and blue, 0–255 each. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** The grounds that a text can stand on here, near enough: the page's own in the light and in the dark. */
export const LIGHT: Rgb = [242, 240, 236];
export const DARK: Rgb = [27, 32, 39];

/** `colour` in red, green and blue. */
export function rgbOf(colour: Colour): Rgb {
  if (typeof colour !== "number") return colour;
  if (colour < 16) return BASE[colour] ?? WHITE;
  if (colour > 231) {
    const grey = 8 + (colour - 232) * 10;
    return [grey, grey, grey];
  }
  const step = (of: number): number => (of === 0 ? 0 : 55 + of * 40);
  const index = colour - 16;
  return [step(Math.floor(index / 36)), step(Math.floor(index / 6) % 6), step(index % 6)];
}

/** Black or white, which can be read best on `ground`. */
export function plainOn(ground: Rgb): Rgb {
  return contrast(WHITE, ground) > contrast(BLACK, ground) ? WHITE : BLACK;
}

/** `colour`, as much lighter or darker as it must be to be read on `ground`. */
export function readableOn(colour: Rgb, ground: Rgb): Rgb {
  const towards = plainOn(ground);
  let best = colour;
  for (let part = 0.1; contrast(best, ground) < ENOUGH && part < 1.05; part += 0.1) {
    best = mixed(colour, towards, Math.min(part, 1));
  }
  return best;
}

/** How well two colours can be told apart, 1–21, as WCAG reckons it. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** `colour` as CSS writes it. */
export function cssOf(colour: Rgb): string {
  return `rgb(${colour.join(" ")})`;
}

/** The contrast that a text needs. */
const ENOUGH = 4.5;

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/** The 16 colours that have names, as grounds of a text; as colours of a text they are the page's own. */
const BASE: readonly Rgb[] = [
  [0, 0, 0],
  [187, 41, 41],
  [36, 128, 64],
  [160, 110, 0],
  [46, 92, 184],
  [140, 60, 160],
  [16, 124, 132],
  [204, 204, 204],
  [102, 102, 102],
  [240, 100, 90],
  [90, 200, 120],
  [230, 190, 70],
  [110, 160, 245],
  [205, 130, 225],
  [90, 200, 200],
  WHITE,
];

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map(linear);
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function linear(value: number): number {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

function mixed([r, g, b]: Rgb, [r2, g2, b2]: Rgb, part: number): Rgb {
  const mix = (from: number, to: number): number => Math.round(from + (to - from) * part);
  return [mix(r, r2), mix(g, g2), mix(b, b2)];
}
