import { type Child, fill, h } from "../dom.ts";
import type { Live } from "../live/live.ts";
import { button } from "../parts/controls.ts";
import { reasonOf } from "../parts/states.ts";
import { signInWith } from "./sign-in.ts";

/** The bar that says that the server is gone, or lets this browser in no more, and what to do about it; empty while all is well. */
export function linkBar(live: Live): HTMLElement {
  const bar = h("div", { class: "link-bar", role: "status" });
  const show = (): void => {
    const { status } = live;
    bar.dataset.status = status;
    if (status === "gone") fill(bar, ...gone(live));
    else if (status === "shut-out") fill(bar, ...shutOut(live));
    else fill(bar);
  };
  live.onStatus(show);
  show();
  return bar;
}

function gone(live: Live): HTMLElement[] {
  const again = button("Try now", () => live.retry());
  return [h("p", {}, "The server does not answer. Trying again …"), again];
}

function shutOut(live: Live): HTMLElement[] {
  const field = h("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "http://127.0.0.1:…/?t=…",
  });
  const failed = h("p", { class: "fault", role: "alert" });
  const submitted = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await signInWith(field.value);
      live.retry();
    } catch (error) {
      failed.textContent = reasonOf(error);
      field.focus();
      field.select();
    }
  };
  const form = h(
    "form",
    { class: "actions", on: { submit: (event) => void submitted(event) } },
    h("label", { class: "actions" }, "A fresh link", field),
    h("button", { type: "submit", class: "button small main" }, "Go on"),
    button("Reload", () => location.reload()),
    failed,
  );
  return [h("p", {}, h("b", {}, "This browser is let in no more. "), reasonTold(live)), form];
}

/** The server's words are for programs too; the first that stands between backticks is the command that makes a link. */
function reasonTold({ reason = "" }: Live): Child {
  const [, command] = reason.split("`");
  if (command === undefined) return ["The server says: ", reason];
  return ["Run ", h("code", {}, command), " and give the link that it prints:"];
}
