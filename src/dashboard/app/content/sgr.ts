/** A colour of a terminal: one of its 256 by number, or red, green and blue of 0–255 each. */
export type Colour = number | readonly [red: number, green: number, blue: number];

/** How a piece of what a terminal prints looks. */
export interface Style {
  /** Absent where the terminal's own colour is meant. */
  readonly fg?: Colour;
  readonly bg?: Colour;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
}

/** How a terminal prints that was told nothing. */
export const PLAIN: Style = {};

/**
 * `style` after the sequence `ESC [ params m`, in which `params` are numbers between semicolons, or colons within one. What
 * is not known, or has no look here (blinking, fonts), changes nothing.
 */
export function applySgr(style: Style, params: string): Style {
  const codes = params.split(";");
  let next = style;
  for (let at = 0; at < codes.length; at++) {
    const parts = (codes[at] ?? "").split(":").map(Number);
    const [code = 0, kind] = parts;
    if (code === 38 || code === 48 || code === 58) {
      const rest = kind === undefined ? codes.slice(at + 1, at + 5).map(Number) : withoutSpace(parts.slice(1));
      if (kind === undefined) at += rest[0] === 2 ? 4 : rest[0] === 5 ? 2 : 0;
      const colour = colourOf(rest);
      if (colour !== undefined && code !== 58) next = { ...next, [code === 38 ? "fg" : "bg"]: colour };
    } else if (code === 4 && kind !== undefined) next = { ...next, underline: kind !== 0 };
    else next = withCode(next, code);
  }
  return next;
}

/** The colon form of a true colour may name a colour space before the red. */
function withoutSpace(parts: readonly number[]): readonly number[] {
  return parts[0] === 2 && parts.length > 4 ? [2, ...parts.slice(2)] : parts;
}

function colourOf([kind, ...values]: readonly number[]): Colour | undefined {
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN] = values;
  if (kind === 5) return isByte(a) ? a : undefined;
  return kind === 2 && isByte(a) && isByte(b) && isByte(c) ? [a, b, c] : undefined;
}

function isByte(value: number): boolean {
  return value >= 0 && value <= 255;
}

function withCode(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  const set = SET[code];
  if (set !== undefined) return { ...style, ...set };
  const ten = Math.floor(code / 10);
  const colour = code % 10;
  if (colour > 7) return style;
  if (ten === 3 || ten === 9) return { ...style, fg: ten === 3 ? colour : colour + 8 };
  if (ten === 4 || ten === 10) return { ...style, bg: ten === 4 ? colour : colour + 8 };
  return style;
}

const SET: { readonly [code: number]: Style } = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: undefined },
  49: { bg: undefined },
};
