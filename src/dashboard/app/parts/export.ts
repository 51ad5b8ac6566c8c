import { withQuery } from "../api.ts";
import { append, h, icon } from "../dom.ts";
import { hashOf, type Place } from "../places.ts";
import type { App } from "../view.ts";
import { commandLine } from "./command.ts";
import { isWorking, select, setWorking } from "./controls.ts";
import { copy } from "./copy.ts";
import { openDialog } from "./dialog.ts";
import { download } from "./download.ts";
import { menu } from "./menu.ts";
import { reasonOf } from "./states.ts";

/** A chat that can be kept, linked to and gone on with. */
export interface Exportable {
  /** Where it is in the API, encoded: `transcriptPath(agent, id)`, `path("runs", name)`, `path("sessions", id)`, or a subagent's below them. */
  readonly path: string;
  /** Where the page shows it. */
  readonly place: Place;
  /** How its agent goes on with it. */
  readonly resume?: { readonly command: readonly string[]; readonly cwd: string };
}

/** The menu of a chat: export it, copy its link, and the command that goes on with it. `of` is asked when it opens. */
export function exportMenu(app: Pick<App, "note">, of: Exportable | (() => Exportable)): HTMLElement {
  const current = typeof of === "function" ? of : () => of;
  const label = icon("M3 8h.01M8 8h.01M13 8h.01");
  label.classList.add("dots");
  return menu({ label, name: "Export, link and more" }, () => {
    const { path, place, resume } = current();
    return [
      { label: "Export …", run: () => openExport(app, path) },
      { label: "Copy link", run: () => void copy(app, linkTo(place), "Link") },
      resume !== undefined && {
        label: "Copy resume command",
        run: () => void copy(app, commandLine(resume.command, resume.cwd), "Resume command"),
      },
    ];
  });
}

/** The address of `place` in this page. */
export function linkTo(place: Place): string {
  return new URL(hashOf(place), location.href).href;
}

/** Asks how the chat at `path` is to be exported, and has the browser keep it. */
export function openExport(app: Pick<App, "note">, path: string): void {
  const end = new AbortController();
  const says = h("p", { class: "quiet", role: "status" });
  const failed = h("p", { class: "fault", role: "alert" });
  const go = h("button", { type: "submit", class: "button main" }, "Export");
  const form = h("form", { class: "form-fields", on: { submit: (event) => void submitted(event) } }, fieldsFor(path));
  append(form, [failed, h("p", { class: "actions" }, go, says)]);
  const dialog = openDialog("Export", form, () => end.abort());

  const submitted = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isWorking(go)) return;
    setWorking(go, true);
    failed.textContent = "";
    says.textContent = "Making the document …";
    try {
      const url = withQuery(`${path}/export`, askedFor(new FormData(form)));
      const name = await download(url, end.signal, (words) => {
        says.textContent = words;
      });
      app.note(`Exported: ${name}`);
      dialog.close();
    } catch (error) {
      if (end.signal.aborted) return;
      failed.textContent = reasonOf(error);
      says.textContent = "";
      setWorking(go, false);
    }
  };
}

const FORMATS = { html: "HTML, to read in a browser", markdown: "Markdown", json: "JSON, for programs" };
const SOURCES = { auto: "whatever has it", native: "the agent’s own transcript", daemon: "the recording made here" };

function fieldsFor(path: string): HTMLElement[] {
  const fields = [labelled("Format", select({ name: "format" }, Object.entries(FORMATS)))];
  // A recording is all that there is of these.
  if (!path.startsWith("/api/transcripts/daemon/"))
    fields.push(labelled("From", select({ name: "source" }, Object.entries(SOURCES))));
  const most = h("input", { name: "maxToolChars", type: "number", min: 1, step: 1, placeholder: "nothing is cut" });
  return [
    ...fields,
    labelled("Cut tool output at … characters", most),
    check("subagents", "With what subagents said", !/\/subagents\//.test(path)),
    check("reasoning", "With the agent’s reasoning, where it is readable", false),
  ];
}

function labelled(label: string, field: HTMLElement): HTMLElement {
  return h("label", { class: "form-field" }, label, field);
}

function check(name: string, label: string, checked: boolean): HTMLElement {
  return h("label", { class: "check" }, h("input", { type: "checkbox", name, value: "1", checked }), label);
}

function askedFor(form: FormData): { [name: string]: string } {
  return Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));
}
