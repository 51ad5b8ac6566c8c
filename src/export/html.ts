import { createHash } from "node:crypto";
import { clip } from "../transcript/clip.ts";
import { markdownToHtml } from "../transcript/markdown/html.ts";
import { printable, printableLine } from "../transcript/printable.ts";
import { callParts, callSummary } from "./call-parts.ts";
import { fitting, MOST_RENDERED } from "./html-fit.ts";
import { STYLE } from "./html-style.ts";
import { escaped, folded, inlined, preformatted, timed } from "./html-text.ts";
import type { ExportedCall, ExportedMessage, ExportMeta } from "./model.ts";
import { eventOf, factsOf, NO_MESSAGES, remarksOn, roleWords, takenBackWords, titleOf } from "./words.ts";
import type { DocumentWriter, MessagePlace } from "./writer.ts";

/**
 * Writes one page that needs nothing besides itself: no script, no request; what is foreign is escaped, and what an agent
 * answered is made of the elements that Markdown has. The policy holds that should anything be overlooked. `most` is how many
 * characters one message may become, see `fitting`.
 */
export function htmlWriter(most?: number): DocumentWriter {
  const hash = createHash("sha256").update(STYLE).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return {
    type: "text/html; charset=utf-8",
    extension: "html",
    // These two can't be said in the page.
    headers: { "Content-Security-Policy": `${policy}; frame-ancestors 'none'; sandbox` },
    head: (meta) => head(meta, policy),
    message: (whole, place) => {
      const message = fitting(whole, most);
      return article(message, place, said(message));
    },
    beginSubagent: (message, place) =>
      `<article class="message"><details class="fold agent"><summary class="line">${agentLine(message, place)}</summary><div class="inner">\n`,
    endSubagent: () => "</div></details></article>\n",
    takenBack: {
      kind: "fold",
      begin: (messages) =>
        `<details class="fold undone"><summary class="line"><span class="kind">${takenBackWords(messages)}</span></summary>\n`,
      end: () => "</details>\n",
    },
    foot: (meta) =>
      `${meta.messageCount === 0 ? `<p class="event">${NO_MESSAGES}</p>\n` : ""}</main>\n<footer>Exported by agent-bridge.</footer>\n</body>\n</html>\n`,
  };
}

function head(meta: ExportMeta, policy: string): string {
  const title = titleOf(meta);
  const facts = factsOf(meta).map(
    ({ label, text, isForeign, at }) =>
      `<div><dt>${label}</dt><dd>${at !== undefined ? timed(at) : isForeign ? inlined(text) : escaped(text)}</dd></div>\n`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${inlined(title)}</h1>
<dl class="facts">
${facts.join("")}</dl>
</header>
<main>
`;
}

/** A message by its kind: an output is a folded line, a subagent a line, an event stands in the middle. */
function article(message: ExportedMessage, place: MessagePlace, content: string): string {
  if (message.role === "tool") return `<article class="message tool">${output(message)}</article>\n`;
  if (message.subagent !== undefined) {
    return `<article class="message">${folded("agent", agentLine(message, place), "")}</article>\n`;
  }
  if (message.marker === "compact-summary") {
    const line = `${timed(message.at)}${heading(place.depth, roleWords(message))}`;
    return `<article class="message">${folded("summary", line, content)}</article>\n`;
  }
  const kind = message.role === "system" ? (message.isError ? "event bad" : "event") : message.role;
  return `<article class="message ${kind}">${role(message, place)}${content}</article>\n`;
}

function role(message: ExportedMessage, { depth }: MessagePlace): string {
  const beside = inlined(message.model) || inlined(eventOf(message).line);
  const note = beside === "" ? "" : `<span class="note">${beside}</span>`;
  return `<header class="role">${heading(depth, roleWords(message))}${note}${timed(message.at)}</header>`;
}

function heading(depth: number, content: string): string {
  const tag = `h${Math.min(6, depth + 2)}`;
  return `<${tag}>${content}</${tag}>`;
}

function said(message: ExportedMessage): string {
  const { reasoning } = message;
  const { text } = eventOf(message);
  const thought = preformatted(reasoning);
  const shown =
    message.role === "assistant" ? answer(text) : message.role === "user" ? typed(text) : preformatted(text);
  return [
    thought === "" ? "" : folded("thought", '<span class="kind">Reasoning</span>', thought),
    shown,
    ...(message.toolCalls ?? []).map(called),
    note(remarksOn(message)),
  ].join("");
}

/** Markdown, each block of it in its own direction. */
function answer(text: string | undefined): string {
  if (text === undefined || text === "") return "";
  return text.length > MOST_RENDERED ? typed(text) : `<div class="md" lang="" dir="auto">${markdownToHtml(text)}</div>`;
}

/** As it was typed. */
function typed(text: string | undefined): string {
  const shown = escaped(text ?? "");
  return shown === "" ? "" : `<div class="text" lang="" dir="auto">${shown}</div>`;
}

/** The tool and what it was to do; unfolded, its input. */
function called(call: ExportedCall): string {
  const name = inlined(call.name) || "a tool without a name";
  const summary = inlined(callSummary(call));
  const brief = summary === "" ? "" : ` <span class="brief">${summary}</span>`;
  const parts = callParts(call.input).map(({ name: field, text }) => {
    const label = inlined(field);
    return `${label === "" ? "" : `<p class="field">${label}</p>`}${preformatted(text)}`;
  });
  return folded("call", `<b>${name}</b>${brief}`, parts.join(""));
}

/** What a tool gave back, under the first of its lines. */
function output(message: ExportedMessage): string {
  const { text = "", toolName, isError, isRunning, at } = message;
  const tool = inlined(toolName);
  const whole = preformatted(text);
  const first = inlined(firstLine(text)) || (isRunning ? "" : whole === "" ? "nothing was printed" : "blank");
  const line = [
    `<span class="kind">${roleWords(message)}</span>`,
    tool === "" ? "" : `<b>${tool}</b>`,
    `<span class="brief">${first}</span>`,
  ];
  const content = `${whole}${note(remarksOn(message))}`;
  const kind = isError ? "output bad" : "output";
  return folded(kind, timed(at) + line.filter((part) => part !== "").join(" "), content);
}

/** The characters of an output's first line that are shown before it is unfolded. */
const FIRST_LINE_CHARACTERS = 120;

/** The first line that is not blank, of a beginning that is long enough for one. */
function firstLine(text: string): string {
  const beginning = printable(text.slice(0, 4_000)).trimStart();
  return clip(printableLine(beginning.split("\n", 1)[0] ?? ""), FIRST_LINE_CHARACTERS).text;
}

function agentLine(message: ExportedMessage, { depth }: MessagePlace): string {
  const title = inlined(message.subagent?.title) || inlined(message.subagent?.id);
  const agent = `<span class="note">${inlined(message.subagent?.agent)}</span>`;
  const named = `<span class="kind">${roleWords(message)}</span> <b>${title}</b> ${agent}`;
  return `${timed(message.at)}${heading(depth, named)}`;
}

function note(words: string): string {
  return words === "" ? "" : `<p class="note">${words}</p>`;
}
