/** The tags of a text in HTML, in their order, as they are written. */
export function tagsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? [];
}

/** What is left of a text in HTML when its tags are taken out. */
export function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, "").replace(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

const ENTITIES: { readonly [entity: string]: string } = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
