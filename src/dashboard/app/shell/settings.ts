import { icon } from "../dom.ts";
import { menu } from "../parts/menu.ts";
import { setTheme, type Theme, theme } from "./theme.ts";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["auto", "As the system: light or dark"],
  ["light", "Light"],
  ["dark", "Dark"],
];

/** The menu of what can be set for this browser. */
export function settingsMenu(options: {
  readonly notices: { readonly isOn: boolean; toggle(): void };
  help(): void;
}): HTMLElement {
  const sliders = icon("M2 5h6M12 5h2M2 11h2M8 11h6M10 3.5v3M6 9.5v3");
  return menu({ label: sliders, name: "Settings", class: "button plain" }, () => [
    ...THEMES.map(([name, label]) => ({ label, checked: theme() === name, group: true, run: () => setTheme(name) })),
    { label: "Notices outside of this page", checked: options.notices.isOn, run: () => options.notices.toggle() },
    { label: "Keys", hint: "?", run: options.help },
  ]);
}
