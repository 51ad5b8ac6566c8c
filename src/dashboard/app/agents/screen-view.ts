import { styledSpan } from "../content/styled.ts";
import { type Child, fill, h } from "../dom.ts";
import type { WindowRow } from "../standing-rows.ts";
import { WindowList } from "../window-list.ts";
import { Screen, type ScreenOptions } from "./screen.ts";
import type { Line, LineRun } from "./screen-line.ts";

/** A screen as it is seen. */
export interface ScreenView {
  /** What scrolls. */
  readonly box: HTMLElement;
  readonly screen: Screen;
  /** Takes what was printed. */
  write(text: string): void;
  /** The terminal is of another size from now on. */
  resize(columns: number, rows: number): void;
  /** Nothing more comes: there is no cursor. */
  end(): void;
  /** Shows the end. */
  toEnd(): void;
  close(): void;
}

/** Shows a screen in `box`: once a frame at most, and only the lines around the view that changed. */
export function screenView(box: HTMLElement, options: ScreenOptions, moved: (pinned: boolean) => void): ScreenView {
  const screen = new Screen(options);
  const list = h("div", { class: "screen-lines" });
  box.append(list);
  const rows = new WindowList({ box, list, follows: () => true, pinned: moved });
  let frame = 0;
  let ended = false;

  const show = (): void => {
    frame = 0;
    const cursor = ended || options.newline ? undefined : screen.cursor;
    // Blank lines below are of a screen that a program may go to, not of what was printed.
    const lines = ended || options.newline ? withoutEnd(screen.lines) : screen.lines;
    rows.set(lines.map((line) => rowOf(line, line === cursor?.line ? cursor.column : undefined)));
  };
  const plan = (): void => {
    if (frame === 0) frame = requestAnimationFrame(show);
  };
  plan();
  return {
    box,
    screen,
    write(text) {
      screen.write(text);
      plan();
    },
    resize(columns, rows) {
      screen.resize(columns, rows);
      plan();
    },
    end() {
      ended = true;
      plan();
    },
    toEnd: () => rows.toEnd(),
    close() {
      cancelAnimationFrame(frame);
      rows.close();
    },
  };
}

function rowOf(line: Line, cursor: number | undefined): WindowRow {
  const write = (element: HTMLElement): true => {
    fill(element, line.runs(cursor).map(runElement));
    return true;
  };
  return {
    key: line.key,
    version: `${line.version} ${cursor ?? ""}`,
    make() {
      const element = h("div", { class: "screen-line" });
      write(element);
      return element;
    },
    update: write,
  };
}

function runElement({ text, style, wide, cursor }: LineRun): Child {
  const styled = styledSpan(text, style);
  if (!wide && !cursor) return styled;
  return h("span", { class: `${wide ? "wide" : ""} ${cursor ? "cursor" : ""}`.trim() }, styled);
}

function withoutEnd(lines: readonly Line[]): readonly Line[] {
  return lines.slice(0, lines.findLastIndex((line) => line.text !== "") + 1);
}
