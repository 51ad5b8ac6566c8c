import { h } from "../dom.ts";

/** Panes beside each other where there is room, else one at a time under tabs. */
export function sides(named: { readonly [name: string]: HTMLElement }): {
  readonly element: HTMLElement;
  close(): void;
} {
  const narrow = matchMedia("(max-width: 60rem)");
  const panes = Object.values(named);
  const tabs = Object.keys(named).map((name, place) =>
    h("button", { class: "bare", role: "tab", on: { click: () => choose(place) } }, name),
  );
  let chosen = 0;
  const show = (): void => {
    list.hidden = !narrow.matches;
    for (const [place, pane] of panes.entries()) {
      const tab = tabs[place];
      pane.hidden = narrow.matches && place !== chosen;
      tab?.setAttribute("aria-selected", String(place === chosen));
      tab?.setAttribute("tabindex", place === chosen ? "0" : "-1");
      if (narrow.matches) {
        pane.setAttribute("role", "tabpanel");
        pane.setAttribute("aria-label", tab?.textContent ?? "");
      } else for (const name of ["role", "aria-label"]) pane.removeAttribute(name);
    }
  };
  const choose = (place: number): void => {
    chosen = place;
    show();
  };
  const keydown = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    // There are two, so both ways lead to the other.
    choose((chosen + 1) % tabs.length);
    tabs[chosen]?.focus();
  };
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": "What is shown", on: { keydown } }, tabs);
  narrow.addEventListener("change", show);
  show();
  return {
    element: h("div", { class: "sides" }, list, panes),
    close: () => narrow.removeEventListener("change", show),
  };
}
