import { h } from "../dom.ts";

/** Two panes: beside each other where there is room, else one at a time under tabs. */
export interface Panes {
  readonly element: HTMLElement;
  close(): void;
}

/** A pane and what its tab says. */
export interface NamedPane {
  readonly name: string;
  readonly element: HTMLElement;
}

/** Puts panes side by side, or under tabs. */
export function panes(named: readonly NamedPane[]): Panes {
  const narrow = matchMedia("(max-width: 60rem)");
  let chosen = 0;
  const tabs = named.map(({ name, element }, place) => {
    element.id = `pane-${place}`;
    const on = { click: () => choose(place) };
    return h("button", { type: "button", role: "tab", id: `tab-${place}`, "aria-controls": element.id, on }, name);
  });
  const keydown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose((chosen + step + tabs.length) % tabs.length);
    tabs[chosen]?.focus();
  };
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Log and chat", on: { keydown } }, tabs);
  const show = (): void => {
    list.hidden = !narrow.matches;
    for (const [place, { element }] of named.entries()) {
      const isChosen = place === chosen;
      element.hidden = narrow.matches && !isChosen;
      if (narrow.matches) element.setAttribute("role", "tabpanel");
      else element.removeAttribute("role");
      tabs[place]?.setAttribute("aria-selected", String(isChosen));
      tabs[place]?.setAttribute("tabindex", isChosen ? "0" : "-1");
    }
  };
  const choose = (place: number): void => {
    chosen = place;
    show();
  };
  narrow.addEventListener("change", show);
  show();
  return {
    element: h(
      "div",
      { class: "panes" },
      list,
      named.map(({ element }) => element),
    ),
    close: () => narrow.removeEventListener("change", show),
  };
}
