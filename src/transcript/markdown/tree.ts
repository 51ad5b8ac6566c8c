/** A piece of a text in Markdown that stands on lines of its own. */
export type Block = Heading | Paragraph | CodeBlock | Quote | List | Rule | Table;

/** A heading, of the level that the text gives it. */
export interface Heading {
  type: "heading";
  level: 1 | 2 | 3 | 4 | 5 | 6;
  children: Inline[];
}

/** Text on its own. */
export interface Paragraph {
  type: "paragraph";
  children: Inline[];
}

/** Fenced or indented code. */
export interface CodeBlock {
  type: "code";
  /** The first word after the fence, as written; empty without one. */
  language: string;
  /** The lines, each with its newline. */
  text: string;
}

/** What was quoted with `>`. */
export interface Quote {
  type: "quote";
  children: Block[];
}

/** A list of points, or of steps with a number each. */
export interface List {
  type: "list";
  /** The number of the first item; absent when the items have none. */
  start?: number;
  /** Whether the items stand close together, so that their paragraphs are lines. */
  tight: boolean;
  items: ListItem[];
}

/** One item of a list. */
export interface ListItem {
  /** Whether the task is done; absent when the item is no task. */
  checked?: boolean;
  children: Block[];
}

/** A line across. */
export interface Rule {
  type: "rule";
}

/** A table. */
export interface Table {
  type: "table";
  /** How each column is aligned, as many as the table has columns. */
  align: Align[];
  head: TableCell[];
  /** The rows; none has more cells than the table has columns, but some may have fewer. */
  rows: TableCell[][];
}

/** How a column is aligned, if the text says so. */
export type Align = "left" | "center" | "right" | undefined;

/** What stands in one cell. */
export type TableCell = Inline[];

/** A piece of text within a line. A newline within `Text` is where the source breaks a line that needs no break. */
export type Inline = Text | Code | Break | Styled | Link | Image;

/** Plain text. */
export interface Text {
  type: "text";
  text: string;
}

/** A code span. */
export interface Code {
  type: "code";
  text: string;
}

/** A break that the text asks for. */
export interface Break {
  type: "break";
}

/** Emphasised, strong or struck out. */
export interface Styled {
  type: Style;
  children: Inline[];
}

/** The ways to set off a text. */
export type Style = "emphasis" | "strong" | "strike";

/** A link; never within another one. The target is foreign: only what `safeTarget` gives for it may be followed. */
export interface Link {
  type: "link";
  target: string;
  title: string;
  children: Inline[];
}

/** An image, never to be loaded; its target is as foreign as a link's. */
export interface Image {
  type: "image";
  target: string;
  title: string;
  /** The text that stands for it. */
  alt: string;
}

/** How many quotes, items, or styles may stand in each other: what is deeper is shown as the text it is. */
export const MOST_DEPTH = 32;
