/**
 * How many cells of a terminal `character` takes: 1, or 2 for East Asian and emoji ones; 0 when it joins the one before it;
 * undefined when nothing of it may be shown: controls, marks that turn the direction of what follows, what has no width.
 */
export function widthOf(character: string): 0 | 1 | 2 | undefined {
  if (character < "\u0300") return UNSEEN.test(character) ? undefined : 1;
  if (JOINS.test(character)) return 0;
  if (UNSEEN.test(character)) return undefined;
  return WIDE.test(character) ? 2 : 1;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const JOINS = /[\p{M}\u1160-\u11ff\u200c\u200d]/u;
// The letters that flags are spelled in take one cell each.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18fff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/u;
