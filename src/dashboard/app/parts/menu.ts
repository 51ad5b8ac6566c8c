import { type Child, fill, h } from "../dom.ts";

/** One thing that a menu offers. */
export interface MenuEntry {
  readonly label: string;
  /** Whether it is chosen, where it can be: one of a group, or by itself. */
  readonly checked?: boolean;
  readonly group?: boolean;
  /** The key that does the same. */
  readonly hint?: string;
  run(): void;
}

/** How a menu's button looks. */
export interface MenuButton {
  /** What it says; an icon alone wants `name` too. */
  readonly label: Child;
  /** What it is called where its label doesn't say enough. */
  readonly name?: string;
  /** `button small` when absent. */
  readonly class?: string;
}

/** A button that opens a menu; `entries` is asked each time it opens, what is false or undefined is left out. */
export function menu(button: MenuButton, entries: () => readonly (MenuEntry | false | undefined)[]): HTMLElement {
  const list = h("div", { class: "menu", role: "menu", popover: "auto", "aria-label": button.name });
  const opener = h(
    "button",
    {
      class: button.class ?? "button small",
      "aria-label": button.name,
      title: button.name,
      "aria-haspopup": "menu",
      "aria-expanded": "false",
    },
    button.label,
  );
  opener.popoverTargetElement = list;
  const close = (): void => list.hidePopover();
  const scrolled = ({ target }: Event): void => {
    if (target !== list) close();
  };
  list.addEventListener("beforetoggle", ({ newState }) => {
    const isOpen = newState === "open";
    opener.setAttribute("aria-expanded", String(isOpen));
    // Where it stands follows its button, which scrolls away.
    document[isOpen ? "addEventListener" : "removeEventListener"]("scroll", scrolled, true);
    if (!isOpen) return;
    fill(list, ...entries().map((entry) => entry && itemOf(entry, close)));
    placeBelow(list, opener.getBoundingClientRect());
  });
  list.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") itemsOf(list)[0]?.focus();
  });
  list.addEventListener("keydown", (event) => moveFocus(event, list, close));
  opener.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    list.showPopover();
  });
  return h("span", { class: "menu-at" }, opener, list);
}

function itemOf({ label, checked, group, hint, run }: MenuEntry, close: () => void): HTMLElement {
  const chosen = (): void => {
    close();
    run();
  };
  const role = checked === undefined ? "menuitem" : group ? "menuitemradio" : "menuitemcheckbox";
  const attributes = {
    class: "bare",
    role,
    "aria-checked": checked === undefined ? undefined : String(checked),
  };
  return h("button", { ...attributes, tabindex: -1, on: { click: chosen } }, label, hint && h("kbd", {}, hint));
}

function itemsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("[role^=menuitem]")];
}

/** Below its button and within the window, above it where there is more room. */
function placeBelow({ style }: HTMLElement, { top, bottom, left, right }: DOMRect): void {
  const { innerWidth: width, innerHeight: height } = window;
  style.inset = "auto";
  if (bottom > height * 0.6) style.bottom = `${height - top + 4}px`;
  else style.top = `${bottom + 4}px`;
  if ((left + right) / 2 > width / 2) style.right = `${Math.max(width - right, 4)}px`;
  else style.left = `${Math.max(left, 4)}px`;
}

/** Keys of an open menu: they are the menu's alone. */
function moveFocus(event: KeyboardEvent, list: HTMLElement, close: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.stopPropagation();
  if (event.key === "Tab") close();
  const items = itemsOf(list);
  const to = nextIndex(event.key, items.indexOf(document.activeElement as HTMLElement), items);
  if (to === undefined) return;
  event.preventDefault();
  items[to]?.focus();
}

function nextIndex(key: string, at: number, items: readonly HTMLElement[]): number | undefined {
  const count = items.length;
  switch (key) {
    case "ArrowDown":
      return (at + 1) % count;
    case "ArrowUp":
      return (Math.max(at, 0) + count - 1) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
  }
  if (!/^\p{L}$/u.test(key)) return undefined;
  const starts = (index: number): boolean =>
    items[index]?.textContent?.toLowerCase().startsWith(key.toLowerCase()) === true;
  return items.map((_, step) => (at + 1 + step) % count).find(starts);
}
