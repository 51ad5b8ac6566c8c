/** The words of a command line, or what is wrong with it. */
export type Words = { readonly words: readonly string[] } | { readonly error: string };

/**
 * Splits a command line into its words as a shell does, and does nothing else that a shell does: `'…'` and `"…"` hold words
 * together, `\` takes away the meaning of the next character (between `"` only that of `"`, `\`, `$` and a backtick).
 */
export function wordsOf(line: string): Words {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (quote !== "" && character === quote) quote = "";
    else if (character === "\\" && quote !== "'") {
      const next = line.charAt(at + 1);
      if (next === "") return { error: "Nothing follows the last \\." };
      const isKept = quote === '"' && !'"\\$`'.includes(next);
      if (next !== "\n") word = (word ?? "") + (isKept ? character : "") + next;
      at++;
    } else if (quote === "" && (character === "'" || character === '"')) {
      quote = character;
      word ??= "";
    } else if (quote === "" && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== "") return { error: `The ${quote} is not closed.` };
  if (word !== undefined) words.push(word);
  return words[0] === "" ? { error: "It must begin with a program." } : { words };
}
