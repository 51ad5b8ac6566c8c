/** The tags of a text in HTML, in their order, as they are written. */
export function tagsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? [];
}

/** What is left of a text in HTML when its tags are taken out. */
export function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:#(\d+)|([a-z]+));/g, (entity, code, name) =>
      code === undefined ? (ENTITIES[name] ?? entity) : String.fromCodePoint(Number(code)),
    );
}

const ENTITIES: { readonly [name: string]: string } = { lt: "<", gt: ">", quot: '"', amp: "&" };
