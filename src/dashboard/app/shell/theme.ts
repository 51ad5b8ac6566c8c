import { keep, kept } from "../parts/kept.ts";

/** How the page looks: `auto` as the system does. */
export type Theme = "auto" | "light" | "dark";

const NAME = "theme";

/** The theme that was chosen in this browser. */
export function theme(): Theme {
  const chosen = kept(NAME);
  return chosen === "light" || chosen === "dark" ? chosen : "auto";
}

/** Chooses a theme, for this browser. */
export function setTheme(chosen: Theme): void {
  keep(NAME, chosen === "auto" ? undefined : chosen);
  applyTheme(chosen);
}

/** Has the page look as it was chosen. */
export function applyTheme(chosen = theme()): void {
  const { dataset } = document.documentElement;
  if (chosen === "auto") delete dataset.theme;
  else dataset.theme = chosen;
}

/** What was chosen in another tab holds in this one too. */
export function followTheme(): void {
  addEventListener("storage", ({ key }) => {
    if (key === NAME || key === null) applyTheme();
  });
}
