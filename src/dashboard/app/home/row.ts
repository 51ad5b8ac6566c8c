import { readableLine } from "../../../transcript/printable.ts";
import { type Child, fill, h, icon, setText } from "../dom.ts";
import { agentBadge, folder } from "../parts/agent.ts";
import { counted, size } from "../parts/measures.ts";
import { time } from "../parts/time.ts";
import { activityBadge, bdi, quiet, statusBadge } from "../parts/words.ts";
import { type HomeFilter, hashOf } from "../places.ts";
import type { Row } from "../wire.ts";
import type { Line } from "./lines.ts";

/** What a row needs besides its line. */
export interface RowContext {
  now(): number;
  /** What the list is narrowed to. */
  readonly filter: HomeFilter;
  /** Opens or closes the project of a line. */
  fold(project: string): void;
  /** Reads more of a project's sessions. */
  more(project: string): void;
}

/** Sessions of fewer bytes than this are small, which need not be said. */
const LARGE_BYTES = 1_000_000;
const BRANCH = "M5 3.5v9M11 3.5v3a3 3 0 0 1-3 3H5M5 3.5a1 1 0 1 0 0-.01M11 3.5a1 1 0 1 0 0-.01M5 12.5a1 1 0 1 0 0-.01";

/** An empty element for a line of the list; `paintLine` fills it. */
export function lineElement(line: Line): HTMLElement {
  const focusable =
    line.kind === "session"
      ? h("a", { class: "go clamp", dir: "auto", "data-main": true })
      : h("button", {
          class: line.kind === "rest" ? "button small" : "bare fold go",
          "data-main": true,
        });
  const title = line.kind === "project" ? h("h3", {}, focusable) : focusable;
  return h(
    "div",
    { class: `row ${line.kind}`, role: "listitem" },
    line.kind === "session" && h("h3", { class: "day", hidden: true }),
    h("div", { class: "entry" }, title, h("span", { class: "when" }), h("div", { class: "facts" })),
  );
}

/** Makes `element` show `line`, leaving in place what may have the focus. */
export function paintLine(element: HTMLElement, line: Line, context: RowContext): void {
  const main = part(element, "[data-main]");
  if (line.kind === "session") paintSession(element, main, line, context);
  else if (line.kind === "project") paintProject(element, main, line, context);
  else {
    setText(
      main,
      line.error !== undefined ? "Try again" : line.loading ? "Loading …" : `${line.left.toLocaleString()} more`,
    );
    main.onclick = () => context.more(line.project);
    fill(
      part(element, ".facts"),
      line.error !== undefined && `The sessions could not be listed. ${String(line.error)}`,
    );
    return;
  }
  element.setAttribute("aria-posinset", String(line.place));
  element.setAttribute("aria-setsize", String(line.of));
}

function paintSession(
  element: HTMLElement,
  main: HTMLElement,
  { row, day, project }: Line & { readonly kind: "session" },
  context: RowContext,
): void {
  element.dataset.row = `${row.agent}/${row.id}`;
  element.classList.toggle("inner", project !== undefined);
  const heading = part(element, ".day");
  heading.hidden = day === undefined;
  setText(heading, day ?? "");
  main.setAttribute("href", hashOf({ view: "session", agent: row.agent, id: row.id }));
  setText(main, readableLine(row.title) || "Untitled");
  fill(part(element, ".when"), time(row.updatedAt, context.now()));
  const meta = part(element, ".facts");
  const focused = meta.contains(document.activeElement);
  fill(
    meta,
    row.live && activityBadge(row.live.activity),
    agentBadge(row.agent),
    folderLink(row, project, context.filter),
    branch(row),
    details(row),
  );
  if (focused) meta.querySelector("a")?.focus({ preventScroll: true });
}

function folderLink({ cwd }: Row, project: string | undefined, filter: HomeFilter): HTMLElement | false {
  if (cwd === "" || cwd === project) return false;
  const { by: _, ...rest } = filter;
  const href = hashOf({ view: "home", ...rest, project: cwd });
  return h("a", { class: "by-folder over", href }, h("span", { class: "hidden" }, "Only sessions in "), folder(cwd));
}

function branch({ branch }: Row): HTMLElement | false {
  const name = readableLine(branch ?? "");
  return name !== "" && h("span", { class: "branch quiet", title: "Branch" }, icon(BRANCH), h("bdi", {}, name));
}

function details({ model, bytes = 0 }: Row): Child[] {
  return [model && bdi(model, "quiet model"), bytes >= LARGE_BYTES && quiet(size(bytes))];
}

function paintProject(
  element: HTMLElement,
  main: HTMLElement,
  { project: { project, sessions, live, updatedAt, agents }, key, open }: Line & { readonly kind: "project" },
  context: RowContext,
): void {
  element.dataset.row = key;
  main.setAttribute("aria-expanded", String(open));
  main.onclick = () => context.fold(project);
  if (project === "") fill(main, "No folder known");
  else fill(main, folder(project));
  fill(part(element, ".when"), time(updatedAt, context.now()));
  fill(
    part(element, ".facts"),
    live > 0 && statusBadge("live", `${live.toLocaleString()} live`),
    quiet(counted(sessions, "session")),
    agents.map(agentBadge),
    project !== "" && bdi(project, "quiet clip"),
  );
}

function part(element: HTMLElement, selector: string): HTMLElement {
  const found = element.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`a row has no ${selector}`);
  return found;
}
