/** A run of `*`, `_` or `~` that may begin or end something: what it turned out to do stands in `ends`, `left`, `begins`. */
export interface Run {
  type: "run";
  char: string;
  length: number;
  canOpen: boolean;
  canClose: boolean;
  /** How many characters are text. */
  left: number;
  /** Of what it ends, from the innermost, how many of its characters belong to each: a digit each. */
  ends: string;
  /** The same of what it begins, from the innermost. */
  begins: string;
}

/** The run of `length` times the character that stands in `text` at `at`. */
export function runAt(text: string, at: number, length: number): Run {
  const char = text.charAt(at);
  const before = kindOf(text, at - 1);
  const after = kindOf(text, at + length);
  const opens = after !== "space" && (after !== "mark" || before !== "word");
  const closes = before !== "space" && (before !== "mark" || after !== "word");
  const canOpen = opens && (char !== "_" || !closes || before === "mark");
  const canClose = closes && (char !== "_" || !opens || after === "mark");
  return { type: "run", char, length, canOpen, canClose, left: length, ends: "", begins: "" };
}

/**
 * Finds what the runs from `bottom` on begin and end: each end belongs to the nearest beginning that fits. What was not
 * found once is not looked for again in the same place, so that this takes time in proportion to the runs.
 */
export function pairRuns(runs: readonly Run[], bottom: number): void {
  const openers: { run: Run; index: number }[] = [];
  const searched = new Map<number, number>();
  for (let index = bottom; index < runs.length; index++) {
    const run = runs[index];
    if (run === undefined) continue;
    const key = run.char.charCodeAt(0) * 6 + (run.length % 3) * 2 + Number(run.canOpen);
    while (run.canClose && run.left > 0) {
      const floor = searched.get(key) ?? bottom;
      let top = openers.length - 1;
      let opener = openers[top];
      while (opener !== undefined && opener.index >= floor && !fits(opener.run, run)) opener = openers[--top];
      if (opener === undefined || opener.index < floor) {
        searched.set(key, index);
        break;
      }
      const width = run.left > 1 && opener.run.left > 1 ? 2 : 1;
      opener.run.begins += width;
      run.ends += width;
      opener.run.left -= width;
      run.left -= width;
      openers.length = opener.run.left > 0 ? top + 1 : top;
    }
    if (run.canOpen && run.left > 0) openers.push({ run, index });
  }
}

function fits(opener: Run, closer: Run): boolean {
  if (opener.char !== closer.char) return false;
  if (!opener.canClose && !closer.canOpen) return true;
  return closer.char === "~" || closer.length % 3 === 0 || (opener.length + closer.length) % 3 !== 0;
}

/** What stands at `at`, where that decides whether a mark belongs to what is before or after it. */
function kindOf(text: string, at: number): "space" | "mark" | "word" {
  const unit = text.charCodeAt(at);
  if (Number.isNaN(unit) || unit <= 32) return "space";
  if (unit < 128) return (unit >= 48 && unit <= 57) || ((unit | 32) >= 97 && (unit | 32) <= 122) ? "word" : "mark";
  const second = unit >= 0xdc00 && unit <= 0xdfff && at > 0;
  const char = String.fromCodePoint(text.codePointAt(second ? at - 1 : at) ?? unit);
  if (/\s/.test(char)) return "space";
  return /[\p{P}\p{S}]/u.test(char) ? "mark" : "word";
}
