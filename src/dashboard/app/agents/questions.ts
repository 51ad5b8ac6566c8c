import { readable, readableLine } from "../../../transcript/printable.ts";
import { type Attributes, fill, h } from "../dom.ts";
import { button, setWorking } from "../parts/controls.ts";
import type { Question } from "../wire.ts";
import { inputWords, meaningOf, orderedOptions, questionKeys } from "./standing.ts";

/** The questions of a session that wait for an answer. */
export interface QuestionCards {
  readonly element: HTMLElement;
  /** Makes `questions` those that wait; the titles of those that are new. */
  update(questions: readonly Question[]): readonly string[];
}

/** Sends an answer; false when it was not taken. */
type Answer = (toolCallId: string, optionId: string) => Promise<boolean>;

/** Shows each question with its options as buttons. `left` is told when a card that had the focus is gone. */
export function questionCards(answer: Answer, left: () => void): QuestionCards {
  const element = h("div", { class: "drive-questions" });
  const cards = new Map<string, HTMLElement>();
  return {
    element,
    update(questions) {
      const keys = questionKeys(questions);
      const had = element.contains(document.activeElement);
      for (const [key, card] of cards) {
        if (keys.includes(key)) continue;
        cards.delete(key);
        card.remove();
      }
      const fresh: string[] = [];
      questions.forEach((question, place) => {
        const key = keys[place] ?? "";
        if (cards.has(key)) return;
        const card = cardOf(question, answer);
        cards.set(key, card);
        element.append(card);
        fresh.push(titleOf(question));
      });
      if (had && !element.contains(document.activeElement)) {
        const next = element.querySelector("button");
        if (next === null) left();
        else next.focus();
      }
      return fresh;
    },
  };
}

function titleOf({ title, toolCallId }: Question): string {
  return readableLine(title ?? "") || readableLine(toolCallId) || "something";
}

/** So many characters fit into a box of a card on any screen. */
const FITS = 60;

/** What is longer than its box is scrolled, also by keys. */
function scrolling(text: string): Attributes {
  return { tabindex: text.length > FITS ? 0 : undefined };
}

function cardOf(question: Question, answer: Answer): HTMLElement {
  const title = titleOf(question);
  const input = readable(inputWords(question.input ?? ""));
  const buttons = orderedOptions(question.options).map(({ optionId, name, kind }) => {
    const isNo = kind.startsWith("reject");
    const click = async (): Promise<void> => {
      for (const button of buttons) setWorking(button, true);
      if (await answer(question.toolCallId, optionId)) return;
      for (const button of buttons) setWorking(button, false);
    };
    const words = readableLine(name) || readableLine(optionId) || kind;
    const means = readableLine(meaningOf(kind));
    return button(
      [h("bdi", { class: "clip" }, words), h("small", { "aria-hidden": "true" }, means)],
      () => void click(),
      `${isNo ? "danger" : ""}`,
      { "data-kind": kind, "aria-description": means, title: words },
    );
  });
  const card = h("div", { class: "question", role: "group", "aria-label": `Permission: ${title}` });
  fill(
    card,
    h(
      "div",
      { class: "asks" },
      h("p", scrolling(title), h("strong", {}, "Asks for permission: "), h("bdi", {}, title)),
      input !== "" && h("pre", { dir: "ltr", ...scrolling(input) }, input),
    ),
    h("div", { class: "actions" }, buttons),
  );
  return card;
}
