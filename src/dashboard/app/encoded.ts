/** `text` as a part of an address. Half a character, of which no address can tell, is told as one that is not known. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
