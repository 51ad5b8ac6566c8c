import { applyTheme } from "./theme.ts";

// Runs before anything is painted, so that nobody who wants it dark sees a flash of light.
applyTheme();
