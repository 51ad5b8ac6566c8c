// Takes a picture of every view of the page over a made-up home, light and dark, wide and small, for a person to look at.
//
//   npm run screenshots -- FOLDER      then open FOLDER/index.html

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Dashboard } from "../test/browser/dashboard/harness.ts";
import { writeCalls, writeHome, writeLong } from "../test/browser/dashboard/home-folder.ts";
import { PLACES, SCREENS, settled, unfold } from "../test/browser/dashboard/pages.ts";

/** Things that are unfolded for a picture. */
const UNFOLDED = 20;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("name the folder that the pictures are to be in");
  process.exit(2);
}
const out = resolve(folder);
mkdirSync(out, { recursive: true });

let long = "";
const dashboard = new Dashboard({
  home({ home }) {
    writeHome(home);
    writeCalls(home);
    long = writeLong(home);
  },
});
const rows: string[] = [];
try {
  await dashboard.begin();
  const places = [...PLACES, ["long", `#/claude/${long}`], ["run", await runAddress()]] as const;
  for (const [name, hash] of places) {
    rows.push(await picturesOf(name, hash));
    process.stderr.write(`${name} `);
  }
} finally {
  await dashboard.end();
}
process.stderr.write("\n");
writeFileSync(join(out, "index.html"), indexOf(rows));
console.log(join(out, "index.html"));

/** The address of the newest run that is done. */
async function runAddress(): Promise<string> {
  const { port, key } = dashboard.api;
  const response = await fetch(`http://127.0.0.1:${port}/api/runs`, { headers: { cookie: `ab_ui=${key}` } });
  const { runs } = (await response.json()) as { runs: readonly { readonly name: string; readonly status: string }[] };
  return `#/runs/${encodeURIComponent(runs.find(({ status }) => status === "done")?.name ?? "")}`;
}

/** Takes the pictures of one place, as it opens and unfolded, and gives the part of the index that shows them side by side. */
async function picturesOf(name: string, hash: string): Promise<string> {
  const figures: string[][] = [[], []];
  for (const [screen, settings] of Object.entries(SCREENS)) {
    const window = await dashboard.guest({ ...settings, reducedMotion: "reduce" });
    const page = await window.openTab(hash);
    for (const [at, what] of ["", "unfolded, "].entries()) {
      if (what !== "") await unfold(page, UNFOLDED);
      await settled(page);
      const file = `${name}, ${what}${screen}.png`.replaceAll(/[ ,]+/g, "-");
      await page.screenshot({ path: join(out, file), animations: "disabled" });
      const image = `<a href="${file}"><img src="${file}" alt=""></a>`;
      figures[at]?.push(`<figure>${image}<figcaption>${what}${screen}</figcaption></figure>`);
    }
    await window.context.close();
  }
  return `<section><h2>${name}</h2>${figures.map((row) => `<div>${row.join("")}</div>`).join("")}</section>`;
}

function indexOf(sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The page</title>
<style>
body { font: 14px system-ui; margin: 1rem; background: #888; }
div { display: flex; gap: 1rem; overflow: auto; align-items: start; }
figure { margin: 0; } img { height: 70vh; display: block; }
</style>
${sections.join("\n")}
`;
}
