/** An address that links without a link being written. */
export interface Address {
  target: string;
  /** What it is written as. */
  text: string;
  /** Where it ends. */
  end: number;
}

/** The address in angle brackets at `at`, of any scheme or of mail. */
export function readAngle(text: string, at: number): Address | undefined {
  const [all, address, mail] = here(ANGLE, text, at) ?? [];
  if (all === undefined) return undefined;
  return { target: address ?? `mailto:${mail}`, text: address ?? mail ?? "", end: at + all.length };
}

/**
 * The address on the web that stands at `at` without brackets. What ends a sentence is not part of it, nor what closes a
 * bracket that is not in it.
 */
export function readBare(text: string, at: number): Address | undefined {
  const [all] = /[a-z0-9.+-]/i.test(text.charAt(at - 1)) ? [] : (here(BARE, text, at) ?? []);
  if (all === undefined) return undefined;
  let unopened = all.split(")").length - all.split("(").length;
  let end = all.length;
  for (; ; end--) {
    const char = all.charAt(end - 1);
    if (char === ")" && unopened > 0) unopened--;
    else if (char === ")" || !"?!.,:;*_~'…’”»".includes(char)) break;
  }
  const address = all.slice(0, end);
  return { target: /^w/i.test(address) ? `http://${address}` : address, text: address, end: at + end };
}

/** What a sticky expression finds at `at`. */
export function here(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

const ANGLE =
  /<(?:([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)|([a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*))>/iy;

const BARE = /(?:https?:\/\/|www\.)[\p{L}\p{N}][^\s<>[\]"`\\\u3000-\u303f\uff01-\uffef]*/iuy;
