import { readableLine } from "../../../transcript/printable.ts";
import { fill, h } from "../dom.ts";
import { button, setWorking } from "../parts/controls.ts";
import type { Question } from "../wire.ts";
import { orderedOptions, questionKeys } from "./standing.ts";

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

function cardOf(question: Question, answer: Answer): HTMLElement {
  const title = titleOf(question);
  const buttons = orderedOptions(question.options).map(({ optionId, name, kind }) => {
    const isNo = kind.startsWith("reject");
    const click = async (): Promise<void> => {
      for (const button of buttons) setWorking(button, true);
      if (await answer(question.toolCallId, optionId)) return;
      for (const button of buttons) setWorking(button, false);
    };
    const chosen = button(
      h("bdi", {}, readableLine(name) || readableLine(optionId) || kind),
      () => void click(),
      `${isNo ? "danger" : ""}`,
      { "data-kind": kind },
    );
    return chosen;
  });
  const card = h("div", { class: "question", role: "group", "aria-label": `Permission: ${title}` });
  fill(
    card,
    h("p", {}, h("strong", {}, "Asks for permission: "), h("bdi", {}, title)),
    h("div", { class: "actions" }, buttons),
  );
  return card;
}
