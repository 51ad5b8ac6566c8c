import { path, Refused, read, remove, send } from "../api.ts";
import { fill, h, setText } from "../dom.ts";
import { button, setWorking } from "../parts/controls.ts";
import { focusOn, keepingFocus } from "../parts/focus.ts";
import { isLive } from "../parts/own-sessions.ts";
import { reasonOf } from "../parts/states.ts";
import type { App } from "../view.ts";
import type { OwnSession } from "../wire.ts";
import { composer, type Fate } from "./composer.ts";
import { questionCards } from "./questions.ts";
import { isAtWork, isOurs } from "./standing.ts";
import { statusLine } from "./status-line.ts";
import { sureButton } from "./sure-button.ts";

/** What drives a session: how it stands, its questions, the next prompt, and what ends it. */
export interface DrivePanel {
  readonly element: HTMLElement;
  /** The session as it is now; whoever shows the panel follows that (see `followSession`). */
  update(session: OwnSession): void;
  close(): void;
}

/** What a panel drives. */
interface Driven {
  readonly app: App;
  readonly session: OwnSession;
  /** Told when something that was done here has changed the session. */
  readonly changed?: () => void;
}

/** The panel of `session`, which was started from here. Of commands and terminals there is no prompt. */
export function drivePanel({ app, session, changed }: Driven): DrivePanel {
  const at = path("sessions", session.id);
  let now = session;
  let closed = false;

  const fault = h("p", { class: "fault", role: "alert" });
  const line = h("p", { class: "facts" });
  const why = h("p", { class: "fault", dir: "auto" });

  /** Does something with the session and shows what became of it; the error where it was refused. */
  const attempt = async (work: () => Promise<OwnSession>): Promise<unknown> => {
    setText(fault, "");
    try {
      take(await work());
      if (!closed) changed?.();
      return undefined;
    } catch (error) {
      if (!closed) setText(fault, reasonOf(error));
      return error;
    }
  };
  /** What is refused is often refused since things are not as they were shown. */
  const look = async (): Promise<void> => {
    const found = await read<OwnSession>(at).catch(() => undefined);
    if (found !== undefined) take(found);
  };

  const prompt = async (text: string, interrupt: boolean): Promise<Fate> => {
    if (!interrupt && isAtWork(now)) {
      setText(fault, "A turn is under way: to send this now means to cancel that turn.");
      return "busy";
    }
    const error = await attempt(async () => {
      await send(`${at}/prompt`, { prompt: text, ...(interrupt && { interrupt }) });
      return now;
    });
    if (error === undefined) {
      void look();
      return "taken";
    }
    if (!(error instanceof Refused) || error.status !== 409) return "refused";
    await look();
    return isAtWork(now) ? "busy" : "refused";
  };
  const answer = async (toolCallId: string, optionId: string): Promise<boolean> => {
    const error = await attempt(() => send(`${at}/permissions`, { toolCallId, optionId }));
    if (error instanceof Refused) await look();
    return error === undefined;
  };
  const cancel = async (): Promise<void> => {
    setWorking(cancelButton, true);
    setText(cancelButton, "Cancelling …");
    await attempt(() => send(`${at}/cancel`));
    setText(cancelButton, "Cancel turn");
    setWorking(cancelButton, false);
  };
  const restart = async (): Promise<void> => {
    await attempt(async () => {
      const next = await send<OwnSession>(`${at}/restart`);
      if (!closed) app.go({ view: "agent", id: next.id });
      return read<OwnSession>(at).catch(() => now);
    });
  };

  const field = session.kind === "agent" && isOurs(session) ? composer(session.id, prompt) : undefined;
  const cards = questionCards(answer, () => rest());
  const cancelButton = button("Cancel turn", () => void cancel());
  const stop = sureButton(
    { label: "Stop", question: "End it and all that it runs?", yes: "Yes, stop it", working: "Stopping …" },
    async () => {
      await attempt(() => remove(at));
    },
  );
  const again = sureButton(
    { label: "Restart", question: "End it and start it anew?", yes: "Yes, restart it", working: "Starting …" },
    restart,
  );
  const buttons = h("div", { class: "actions" }, cancelButton, stop.element, again.element);
  const element = h(
    "section",
    { class: "drive", "aria-label": "This session" },
    cards.element,
    h("div", { class: "drive-head" }, line, buttons),
    why,
    fault,
    field?.element,
  );

  /** Goes on where the next thing is done, else reads how the session stands. */
  const rest = (): void => {
    if (field === undefined || field.element.hidden) focusOn(line);
    else field.focus();
  };
  const show = (): void => keepingFocus(element, paint, rest);
  const paint = (): void => {
    fill(line, statusLine(now, app.now()));
    setText(why, now.error ?? "");
    const live = isLive(now);
    const ours = isOurs(now);
    cancelButton.hidden = !(now.kind === "agent" && isAtWork(now));
    stop.hide(!live || !ours);
    again.hide(!ours || now.status === "starting");
    again.asks(live);
    field?.allow(live && now.status !== "starting", isAtWork(now));
    if (field !== undefined) field.element.hidden = !live;
    const fresh = cards.update(live ? (now.permissions ?? []) : []);
    if (fresh.length > 0) app.announce(`Asks for permission: ${fresh.join(", ")}`);
  };
  const take = (next: OwnSession): void => {
    if (closed || JSON.stringify(next) === JSON.stringify(now)) return;
    if (next.status !== now.status) setText(fault, "");
    now = next;
    show();
  };
  show();
  return {
    element,
    update: take,
    close() {
      closed = true;
    },
  };
}
