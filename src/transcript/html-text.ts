/** `text` as it may stand in an HTML document: in an element, or in an attribute between quotes. */
export function htmlText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&#38;",
  "<": "&#60;",
  ">": "&#62;",
  '"': "&#34;",
  "'": "&#39;",
};
