/** What may stand in an element: text is never read as HTML. Nothing stands for what is absent. */
export type Child = Node | string | number | undefined | null | false | readonly Child[];

/** Attributes of an element: true sets one without a value, false and undefined leave it out. `on` holds its listeners. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined | Listeners;
  readonly on?: Listeners;
}

/** Listeners by the name of their event. */
export type Listeners = { readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

/**
 * An element. Attributes that could run or style anything (`style`, `on…`, `src`, `srcdoc`) are refused: no foreign text
 * gets there by mistake. A button sends no form unless its `type` says so. @throws Error for those
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on" || value === undefined || value === false) continue;
    if (REFUSED.test(name)) throw new Error(`the attribute ${name} is not set like this`);
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [event, listener] of Object.entries(attributes.on ?? {})) {
    element.addEventListener(event, listener as EventListener);
  }
  append(element, children);
  return element;
}

const REFUSED = /^(?:style|on.*|src|srcdoc|action|formaction)$/i;

/** Puts `children` at the end of `parent`. */
export function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Makes `children` all that stands in `parent`. */
export function fill(parent: Node & ParentNode, ...children: readonly Child[]): void {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  parent.replaceChildren(fragment);
}

/** Sets the text of `element`, touching nothing when it says that already. */
export function setText(element: Node, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** One of the page's own icons: `path` is the `d` of strokes in a 16 × 16 box. It says nothing to a screen reader. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of [
    ["viewBox", "0 0 16 16"],
    ["class", "icon"],
    ["aria-hidden", "true"],
  ] as const) {
    svg.setAttribute(name, value);
  }
  const stroke = document.createElementNS(SVG, "path");
  stroke.setAttribute("d", path);
  svg.append(stroke);
  return svg;
}

const SVG = "http://www.w3.org/2000/svg";
