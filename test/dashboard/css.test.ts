import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../src/dashboard/app/css/", import.meta.url));
const sheets = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(`${folder}${name}`, "utf8").replace(/\/\*.*?\*\//gs, "")]),
);

/** The selectors of the rules that stand in no other rule but at-rules. */
function topSelectors(css: string): string[] {
  const found: string[] = [];
  const open: ("rule" | "at")[] = [];
  for (const [, before = "", end] of css.matchAll(/([^{};]*)([{};])/g)) {
    const selector = before.trim();
    if (end === "}") open.pop();
    if (end !== "{") continue;
    if (!open.includes("rule") && !selector.startsWith("@")) found.push(...selector.split(/,(?![^(]*\))/));
    // The steps of an animation are no selectors.
    open.push(/^@(?!keyframes)/.test(selector) ? "at" : "rule");
  }
  return found.map((selector) => selector.trim());
}

/** The class that says of what a selector speaks. */
const rootOf = (selector: string): string | undefined => /\.[\w-]+/.exec(selector.replace(/:not\([^)]*\)/g, ""))?.[0];

test("the selectors at the top of a sheet are told from nested ones and the steps of animations", () => {
  const css =
    ".a,.b:is(.c,.d){color:red;.e{color:red}} @media (width<1rem){.f{color:red}} @keyframes x{from{opacity:0}}";
  assert.deepEqual(topSelectors(css), [".a", ".b:is(.c,.d)", ".f"]);
});

test("no class is at the root of the styles of two sheets, so that no view changes another", () => {
  const owners = new Map<string, Set<string>>();
  for (const [name, css] of sheets) {
    for (const root of topSelectors(css).flatMap((selector) => rootOf(selector) ?? [])) {
      owners.set(root, new Set([...(owners.get(root) ?? []), name]));
    }
  }
  const shared = [...owners].filter(([, names]) => names.size > 1).map(([root, names]) => `${root}: ${[...names]}`);
  assert.ok(owners.size > 50, `only ${owners.size} classes were found`);
  assert.deepEqual(shared, []);
});

test("only the base speaks of elements that have no class", () => {
  const bare = [...sheets]
    .filter(([name]) => name !== "base.css")
    .flatMap(([name, css]) => topSelectors(css).map((selector) => ({ name, selector })))
    .filter(({ selector }) => !/^(?::is\()?\./.test(selector));
  assert.deepEqual(bare, []);
});

test("only the base overrules what is said elsewhere", () => {
  const overruling = [...sheets].filter(([name, css]) => name !== "base.css" && css.includes("!important"));
  assert.deepEqual(
    overruling.map(([name]) => name),
    [],
  );
});

test("no sheet fetches anything, and one alone takes in the others", () => {
  for (const [name, css] of sheets) {
    assert.doesNotMatch(css, /url\(/, name);
    assert.equal(css.includes("@import"), name === "style.css", name);
  }
});
