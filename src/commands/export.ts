import { extname } from "node:path";
import { EXPORT_FORMATS, type ExportDocument, type ExportFormat } from "../export/document.ts";
import { cacheFolder } from "../platform/environment.ts";
import { Failure } from "../platform/failure.ts";
import { letHeapGrow } from "../platform/heap.ts";
import { EXPORT_SOURCES, exportFrom } from "../routes/export-source.ts";
import { PrintableText } from "../transcript/printable.ts";
import { choice, flag, type OptionValues, text, wholeNumber } from "./arguments.ts";
import { findAsked } from "./asked.ts";
import { type Context, command, type ExitCode, home, json, ONE_SESSION } from "./command.ts";
import { checkTarget, targetFolder, writeExport } from "./export-file.ts";
import { withProgress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** The options of an export, for every command that has one. */
export const EXPORT_OPTIONS = {
  format: choice("what it is written as (else as FILE's name ends, else markdown)", EXPORT_FORMATS),
  source: choice("the agent's own store, our recording, or what there is (auto)", EXPORT_SOURCES),
  output: { ...text("FILE", "write to FILE, or to a file in FOLDER/; - is stdout", "o"), completes: "file" } as const,
  force: flag("replace FILE when it is there already"),
  subagents: flag("also what subagents did, each in its place"),
  reasoning: flag("also what the agent thought, where its store keeps that"),
  "max-tool-chars": wholeNumber("N", "cut each input (as JSON) and each output of a tool to N characters", [
    1,
    Number.MAX_SAFE_INTEGER,
  ]),
  child: text("ID", "only this subagent of the session"),
  json: { ...json, help: "as --format json" },
};

/** What was given for them. */
export type ExportValues = OptionValues<typeof EXPORT_OPTIONS & { readonly home: typeof home }>;

/** `export`: a whole session as one document. */
export const exportSession = command({
  name: "export",
  summary: "write a whole session as Markdown, JSON or HTML",
  operands: ONE_SESSION,
  options: { ...EXPORT_OPTIONS, home },
  notes: [
    "ID is as for show. Nothing is cut unless --max-tool-chars says so; turns that were taken back are folded. An HTML page needs nothing beside it, and nothing in it runs.",
    "FILE is written whole or not at all, readable for you alone, and takes the place of no other without --force; then a link of that name is replaced itself, and what it leads to stays.",
  ],
  examples: [
    ["export 4f0c > session.md", "the session whose id begins with 4f0c"],
    ["export shop --subagents -o shop.html", "a page of the session that is called shop"],
    ["export 4f0c --json | jq -r '.messages[].text'", "for a program"],
  ],
  run: (context, { options, operands: [asked = ""] }) => exportAsked(context, options, asked),
});

/**
 * Exports the session `asked`, to stdout or to a file.
 * @throws Failure as finding and reading it do · usage: the file is there already, … · failed: it can't be written
 */
export async function exportAsked(context: Context, options: ExportValues, asked: string): Promise<ExitCode> {
  const { terminal } = context;
  const environment = context.environment(options.home);
  const file = options.output === "-" ? undefined : options.output;
  if (options.force && file === undefined) throw new Failure("usage", "--force is for a file: name it with -o");
  const target = file === undefined ? undefined : { given: file, replace: options.force };
  const wanted = { ...wantedOf(options), format: formatOf(options, file) };
  if (target !== undefined) checkTarget(target);
  const { ways } = await findAsked(context, environment, asked, options.child);
  // On its way to stdout an export leaves nothing behind, so that Ctrl-C may end it as it ends anything.
  const signal = target === undefined ? new AbortController().signal : context.untilInterrupted();
  // What is too much for the memory waits on the disk that it goes to, which has room for it or fails anyway.
  const folder = target === undefined ? cacheFolder(environment) : targetFolder(target);
  letHeapGrow();
  const tools = { folder, signal };
  const document = await withProgress(terminal, "Reading the session", () =>
    unlessAborted(signal, exportFrom(ways, options.source ?? "auto", wanted, tools)),
  );
  try {
    if (target === undefined) await printDocument(terminal, document);
    else {
      const path = await withProgress(terminal, "Writing the file", () => writeExport(target, document, signal));
      await terminal.err(`${path}: ${document.size.toLocaleString("en")} bytes\n`);
    }
  } finally {
    await document.close();
  }
  return 0;
}

function wantedOf({ subagents, reasoning, "max-tool-chars": maxToolChars }: ExportValues) {
  return { subagents, reasoning, ...(maxToolChars !== undefined && { maxToolChars }) };
}

function formatOf({ format, json }: ExportValues, file: string | undefined): ExportFormat {
  if (!json) return format ?? FORMAT_OF.get(extname(file ?? "").toLowerCase()) ?? "markdown";
  if (format !== undefined && format !== "json") throw new Failure("usage", `--json is not --format ${format}`);
  return "json";
}

/** What a file's name says of its format. */
const FORMAT_OF: ReadonlyMap<string, ExportFormat> = new Map([
  [".md", "markdown"],
  [".markdown", "markdown"],
  [".json", "json"],
  [".html", "html"],
  [".htm", "html"],
]);

/** What `work` gives. @throws Failure failed: the signal aborted · as `work` does */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) throw new Failure("failed", "interrupted: nothing was written", error);
    throw error;
  }
}

/** To a pipe or a file as it is; to a terminal without what could act on it. */
async function printDocument(terminal: Terminal, document: ExportDocument): Promise<void> {
  if (terminal.columns === undefined) {
    for await (const part of document.bytes()) await terminal.out(part);
    return;
  }
  const decoder = new TextDecoder();
  const shown = new PrintableText();
  for await (const part of document.bytes()) await terminal.out(shown.add(decoder.decode(part, { stream: true })));
  await terminal.out(shown.add(decoder.decode()) + shown.end());
}
