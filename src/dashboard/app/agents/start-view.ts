import { read, send } from "../api.ts";
import { type Child, fill, h, setText } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import { commandLine } from "../parts/command.ts";
import { isWorking, select, setWorking } from "../parts/controls.ts";
import { failure, loading, reasonOf } from "../parts/states.ts";
import type { Place } from "../places.ts";
import type { App, View } from "../view.ts";
import type { OwnSession, State } from "../wire.ts";
import { wordsOf } from "./command-line.ts";
import { recentFolders } from "./recent-folders.ts";
import { PERMITS } from "./standing.ts";
import { type StartForm, startBody } from "./start-body.ts";

type Agents = NonNullable<State["agents"]>;

/** The form that starts a session. */
export function openStart(place: Place & { readonly view: "start" }, app: App): View {
  const left = new AbortController();
  const content = h("div", {}, loading());
  const element = h("main", { class: "own start" }, h("h1", {}, "Start"), content);
  app.title("Start");

  const open = async (): Promise<void> => {
    fill(content, loading());
    try {
      const [state, folders] = await Promise.all([
        read<State>("/api/state", {}, left.signal),
        // A list to choose from is a help only: a folder can be typed without it.
        recentFolders(left.signal).catch(() => []),
      ]);
      if (!left.signal.aborted) fill(content, startForm(place, state.agents ?? [], folders, app, left.signal));
    } catch (error) {
      if (!left.signal.aborted)
        fill(
          content,
          failure("It is not known what can be started", error, () => void open()),
        );
    }
  };
  void open();
  return { element, close: () => left.abort() };
}

function startForm(
  place: Place & { readonly view: "start" },
  agents: Agents,
  folders: readonly string[],
  app: App,
  left: AbortSignal,
): HTMLElement {
  const kind = select({ id: "start-kind" }, [
    ["agent", "An agent"],
    ["terminal", "A program on a terminal"],
    ["command", "A program without a terminal"],
  ]);
  const agent = agentField(agents, place.agent);
  const cwd = h("input", {
    id: "start-cwd",
    type: "text",
    list: "start-folders",
    required: true,
    value: place.cwd ?? folders[0],
  });
  const prompt = h("textarea", { id: "start-prompt", rows: 4, dir: "auto" });
  const permit = permitField();
  const model = h("input", { id: "start-model", type: "text", autocomplete: "off" });
  const name = h("input", { id: "start-name", type: "text", autocomplete: "off", maxlength: 128, dir: "auto" });
  const line = h("input", { id: "start-line", type: "text", class: "mono", autocomplete: "off", spellcheck: "false" });
  const words = h("p", { class: "quiet mono", role: "status" });
  const button = h("button", { type: "submit", class: "button main" }, "Start");
  const note = h("span", { class: "quiet", role: "status" });
  const fault = h("p", { class: "fault", role: "alert" });
  const options = folders.map((path) => h("option", { value: path }));
  const ofAgent = h(
    "div",
    { class: "fields" },
    labelled("Agent", agent.field, agent.remedies),
    labelled("First prompt", prompt, hint("May be empty: it then waits for one.")),
    permit.field,
    labelled("Model", model, hint("By the agent's own name for it; empty: its usual one.")),
  );
  const ofProgram = h(
    "div",
    { class: "fields", hidden: true },
    labelled("Command line", line, [
      hint("No shell reads it: quotes and \\ hold words together, nothing else is special."),
      words,
    ]),
  );
  const form = h(
    "form",
    { class: "fields", novalidate: true },
    labelled("What", kind),
    ofAgent,
    ofProgram,
    labelled("Folder", [cwd, h("datalist", { id: "start-folders" }, options)]),
    labelled("Name", name, hint("Under which others find it; may be empty.")),
    fault,
    h("div", { class: "actions" }, button, note),
  );
  const given = (): StartForm => ({
    kind: kind.value as StartForm["kind"],
    agent: agent.field.value,
    cwd: cwd.value,
    prompt: prompt.value,
    permit: permit.value(),
    model: model.value,
    name: name.value,
    line: line.value,
  });
  const submit = async (): Promise<void> => {
    const made = startBody(given());
    setText(fault, "error" in made ? made.error : "");
    if ("error" in made || isWorking(button)) return;
    setWorking(button, true);
    setText(note, "Starting, which takes up to 10 seconds …");
    try {
      const { id } = await send<OwnSession>("/api/sessions", made.body);
      if (!left.aborted) app.go({ view: "agent", id });
    } catch (error) {
      setText(fault, reasonOf(error));
    }
    setText(note, "");
    setWorking(button, false);
  };
  kind.addEventListener("change", () => {
    ofAgent.hidden = kind.value !== "agent";
    ofProgram.hidden = kind.value === "agent";
  });
  line.addEventListener("input", () => {
    const found = wordsOf(line.value);
    setText(
      words,
      "error" in found ? found.error : found.words.length === 0 ? "" : `Runs: ${commandLine(found.words)}`,
    );
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  return form;
}

function agentField(agents: Agents, wanted: string | undefined): { field: HTMLSelectElement; remedies: Child } {
  const usual =
    agents.find(({ name, installed }) => installed && name === wanted) ?? agents.find(({ installed }) => installed);
  const field = h(
    "select",
    { id: "start-agent" },
    usual === undefined && h("option", { value: "", selected: true }, "None is installed"),
    agents.map(({ name, installed }) => {
      const words = installed ? agentName(name) : `${agentName(name)} (not installed)`;
      return h("option", { value: name, disabled: !installed, selected: name === usual?.name }, words);
    }),
  );
  const missing = agents.filter(({ installed }) => !installed);
  if (missing.length === 0) return { field, remedies: undefined };
  const remedies = h(
    "details",
    { open: usual === undefined },
    h("summary", {}, `${missing.length} not installed`),
    h(
      "dl",
      {},
      missing.map(({ name, remedy }) => [
        h("dt", {}, agentName(name)),
        h("dd", { class: "quiet", dir: "auto" }, remedy ?? "not installed"),
      ]),
    ),
  );
  return { field, remedies };
}

function permitField(): { field: HTMLElement; value(): string } {
  const inputs = PERMITS.map(({ permit }, place) =>
    h("input", { type: "radio", name: "permit", id: `start-${permit}`, value: permit, checked: place === 0 }),
  );
  const field = h(
    "fieldset",
    {},
    h("legend", {}, "Permission"),
    PERMITS.map(({ permit, name, does }, place) =>
      h(
        "label",
        { class: "choice", for: `start-${permit}` },
        inputs[place],
        h("span", {}, `${name}. `, h("span", { class: "quiet" }, does)),
      ),
    ),
  );
  return { field, value: () => inputs.find(({ checked }) => checked)?.value ?? "ask" };
}

function hint(words: string): HTMLElement {
  return h("p", { class: "quiet" }, words);
}

/** A field, or the first of several things, with its label. */
function labelled(words: string, field: HTMLElement | readonly HTMLElement[], more?: Child): HTMLElement {
  const all = Array.isArray(field) ? field : [field];
  return h("div", { class: "field" }, h("label", { for: all[0].id }, words), all, more);
}
