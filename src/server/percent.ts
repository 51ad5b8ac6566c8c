/**
 * `text` with its percent-escapes decoded, once. Undefined for what no client may send: a broken escape, bytes that are
 * no UTF-8, or a character that must stand escaped (a control, a space, anything that is not ASCII).
 */
export function percentDecoded(text: string): string | undefined {
  if (!/^[!-~]*$/.test(text)) return undefined;
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
