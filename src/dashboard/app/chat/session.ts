import { readableLine } from "../../../transcript/printable.ts";
import { drivePanel } from "../agents/drive.ts";
import { Refused } from "../api.ts";
import { fill, h, setText } from "../dom.ts";
import { agentBadge, folder } from "../parts/agent.ts";
import { exportMenu } from "../parts/export.ts";
import { CHAT_KEYS } from "../parts/keys.ts";
import { time } from "../parts/time.ts";
import { activityBadge } from "../parts/words.ts";
import { hashOf, type Place } from "../places.ts";
import type { App, View } from "../view.ts";
import type { AgentName, SessionEntry } from "../wire.ts";
import { facts } from "./facts.ts";
import { ChatPane } from "./pane.ts";
import { SessionWatch } from "./session-watch.ts";
import { transcriptSource } from "./source.ts";

type SessionPlace = Place & { readonly view: "session" };

/** The view of a session, with one of its subagents beside it where the place names one. */
export function openSession(place: SessionPlace, app: App): View {
  return new SessionView(place, app);
}

class SessionView implements View {
  readonly element: HTMLElement;
  readonly keys = CHAT_KEYS;
  readonly #app: App;
  readonly #agent: AgentName;
  readonly #id: string;
  readonly #title = h("h1", { class: "clamp", dir: "auto", tabindex: -1 }, "…");
  readonly #facts = h("div", { class: "facts" });
  readonly #actions = h("div", { class: "actions" });
  readonly #panes = h("div", { class: "panes" });
  readonly #foot = h("div", { class: "session-foot" });
  readonly #main: ChatPane;
  readonly #watch: SessionWatch;
  #drive: ReturnType<typeof drivePanel> | undefined;
  #beside: { readonly child: string; readonly pane: ChatPane } | undefined;

  constructor(place: SessionPlace, app: App) {
    this.#app = app;
    this.#agent = place.agent;
    this.#id = place.id;
    app.title("");
    this.#main = this.#pane(place.child === undefined ? place.ref : undefined);
    this.#watch = new SessionWatch(app, place.agent, place.id, {
      entry: (entry) => this.#showEntry(entry),
      failed: (error) => this.#showFailure(error),
      own: (own) => {
        if (own === undefined) return;
        if (this.#drive !== undefined) return this.#drive.update(own);
        this.#drive = drivePanel({ app, session: own });
        fill(this.#foot, this.#drive.element);
      },
    });
    const head = h(
      "header",
      { class: "session-head" },
      h("div", { class: "heading" }, this.#title, this.#facts),
      this.#actions,
    );
    this.#panes.append(this.#main.element);
    this.element = h("main", { class: "session" }, head, this.#panes, this.#foot);
    this.#moveBeside(place);
  }

  move(place: Place): boolean {
    if (place.view !== "session" || place.agent !== this.#agent || place.id !== this.#id) return false;
    this.#moveBeside(place);
    if (place.child === undefined && place.ref !== undefined) void this.#main.show(place.ref);
    return true;
  }

  key(event: KeyboardEvent): boolean {
    const pane = this.#beside?.pane.element.contains(document.activeElement) ? this.#beside.pane : this.#main;
    return pane.key(event);
  }

  focus(): void {
    this.#title.focus({ preventScroll: true });
  }

  close(): void {
    this.#watch.close();
    this.#drive?.close();
    this.#beside?.pane.close();
    this.#main.close();
  }

  #pane(ref: string | undefined, child?: string): ChatPane {
    const [agent, id] = [this.#agent, this.#id];
    const place = { view: "session" as const, agent, id, ...(child !== undefined && { child }) };
    return new ChatPane({
      app: this.#app,
      source: transcriptSource(agent, id, child),
      label: child === undefined ? "Conversation" : "Subagent's conversation",
      hashOf: (at) => hashOf({ ...place, ref: at }),
      // Claude keeps all agents of a session under it; elsewhere a subagent's subagents are its own.
      childHash: (of) => hashOf({ view: "session", agent, id: this.#parentOf(child), child: of }),
      childSource: (of) => transcriptSource(agent, this.#parentOf(child), of),
      ...(ref !== undefined && { ref }),
    });
  }

  #parentOf(child: string | undefined): string {
    return this.#agent === "claude" || child === undefined ? this.#id : child;
  }

  /** Opens the subagent that `place` names beside the session, or closes it. */
  #moveBeside({ child, ref }: SessionPlace): void {
    if (child !== undefined && child === this.#beside?.child) {
      if (ref !== undefined) void this.#beside.pane.show(ref);
      return;
    }
    this.#beside?.pane.close();
    this.#beside = child === undefined ? undefined : { child, pane: this.#pane(ref, child) };
    this.#panes.classList.toggle("two", child !== undefined);
    fill(this.#panes, this.#main.element, this.#beside && this.#besideElement(this.#beside));
  }

  #besideElement({ child, pane }: { readonly child: string; readonly pane: ChatPane }): HTMLElement {
    const close = hashOf({ view: "session", agent: this.#agent, id: this.#id });
    const title = h("h2", { dir: "auto" }, "Subagent");
    const status = h("span", { class: "status", role: "status" });
    this.#watch.followChild(child, (found) => {
      setText(title, readableLine(found.title) || "Subagent");
      setText(status, found.status === "unknown" ? "" : found.status);
      status.dataset.status = found.status;
    });
    const path = transcriptSource(this.#agent, this.#id, child).base;
    const place = { view: "session" as const, agent: this.#agent, id: this.#id, child };
    const actions = h(
      "div",
      { class: "actions" },
      exportMenu(this.#app, { path, place }),
      h("a", { class: "button small", href: close }, "Close"),
    );
    return h("div", { class: "beside-pane" }, h("div", { class: "beside-head" }, title, status, actions), pane.element);
  }

  #showFailure(error: unknown): void {
    if (this.#actions.childElementCount === 0) {
      const title = error instanceof Refused && error.status === 404 ? "This session is not there" : this.#id;
      this.#app.title(title);
      setText(this.#title, title);
    }
    this.#main.failed(error);
  }

  #showEntry(entry: SessionEntry): void {
    const title = readableLine(entry.title) || "Untitled session";
    this.#app.title(title);
    setText(this.#title, title);
    const { agent, id } = entry;
    fill(
      this.#facts,
      agentBadge(agent),
      entry.live && activityBadge(entry.live.activity),
      entry.cwd !== "" && folder(entry.cwd),
      facts(entry),
      time(entry.updatedAt, this.#app.now()),
    );
    const path = transcriptSource(agent, id).base;
    const resume = entry.resume;
    if (this.#actions.childElementCount === 0) {
      fill(
        this.#actions,
        exportMenu(this.#app, { path, place: { view: "session", agent, id }, ...(resume && { resume }) }),
      );
    }
  }
}
