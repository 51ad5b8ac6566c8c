import { EventEmitter } from "node:events";
import type { Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Bell } from "../platform/bell.ts";
import type { Poured } from "./repl/tap.ts";
import type { TypedLines } from "./typed-lines.ts";

/** Prompts that the arrow keys bring back. */
const REMEMBERED = 500;
/** What comes at once and is longer was pasted: it is put in as a whole, since each key alone costs the whole line. */
const PASTED_CHARACTERS = 32;

/**
 * Lines that are edited here, with the arrow keys and the lines before: read from the terminal `input` and shown on
 * `output` while one is asked for. What is typed meanwhile is kept for the next one, unseen. The bell rings when a line or
 * a Ctrl-C has come.
 */
export async function editedLines(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  bell: Bell,
): Promise<TypedLines> {
  const { createInterface } = await import("node:readline");
  const keys = new Keys(input);
  const shown = new Shown(output);
  const editor = createInterface({
    input: keys as unknown as NodeJS.ReadableStream,
    output: shown,
    terminal: true,
    historySize: REMEMBERED,
    prompt: "",
  });
  keys.editor = editor;
  return new EditedLines(editor, keys, shown, bell);
}

class EditedLines implements TypedLines {
  readonly #editor: Interface;
  readonly #keys: Keys;
  readonly #shown: Shown;
  readonly #lines: string[] = [];
  #stops = 0;
  #ended = false;

  constructor(editor: Interface, keys: Keys, shown: Shown, bell: Bell) {
    this.#editor = editor;
    this.#keys = keys;
    this.#shown = shown;
    editor.on("line", (line) => {
      shown.isOpen = false;
      this.#lines.push(line);
      bell.ring();
    });
    editor.on("SIGINT", () => {
      this.#clear();
      shown.isOpen = false;
      this.#stops++;
      bell.ring();
    });
    // Put to sleep by Ctrl-Z and woken.
    editor.on("SIGCONT", () => editor.resume());
    editor.on("close", () => {
      this.#ended = true;
      bell.ring();
    });
  }

  async ask(prompt: string): Promise<void> {
    const [waiting] = this.#lines;
    if (waiting !== undefined) return this.#shown.tell(`${prompt}${waiting}\n`);
    if (this.#ended) return;
    this.#shown.isOpen = true;
    // It does not know what was written meanwhile, and would go up by the rows of what nobody has seen.
    Object.assign(this.#editor, { prevRows: 0 });
    this.#editor.setPrompt(prompt);
    this.#editor.prompt(true);
  }

  take(): Poured<string> | undefined {
    const line = this.#lines.shift();
    if (line !== undefined) return { value: line };
    return this.#ended ? { value: undefined } : undefined;
  }

  takeStop(): boolean {
    if (this.#stops === 0) return false;
    this.#stops--;
    return true;
  }

  async fresh(): Promise<boolean> {
    for (let before = -1; before < this.#keys.taken; ) {
      before = this.#keys.taken;
      // What the system holds is read in the next turn of the loop.
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    }
    const isAnything = this.#lines.length > 0 || this.#editor.line !== "";
    this.#lines.length = 0;
    this.#clear();
    return isAnything;
  }

  close(): void {
    this.#shown.isOpen = false;
    if (!this.#ended) this.#editor.close();
    this.#keys.leave();
    this.#shown.leave();
  }

  /** Takes the line that is not ended away. */
  #clear(): void {
    if (this.#ended || this.#editor.line === "") return;
    this.#editor.write(null, { ctrl: true, name: "e" });
    this.#editor.write(null, { ctrl: true, name: "u" });
  }
}

/** What the terminal brings, for the editor. */
class Keys extends EventEmitter {
  readonly #input: NodeJS.ReadStream;
  readonly #decoder = new TextDecoder();
  readonly #take = (part: Uint8Array | string): void => this.#taken(part);
  readonly #end = (): void => void this.emit("end");
  editor: Interface | undefined;
  /** So many bytes have come. */
  taken = 0;

  constructor(input: NodeJS.ReadStream) {
    super();
    this.#input = input;
    input.on("data", this.#take).on("end", this.#end);
  }

  resume(): void {
    this.#input.resume();
  }

  pause(): void {
    this.#input.pause();
  }

  setRawMode(isRaw: boolean): void {
    this.#input.setRawMode(isRaw);
  }

  leave(): void {
    this.#input.off("data", this.#take).off("end", this.#end);
  }

  #taken(part: Uint8Array | string): void {
    this.taken += part.length;
    const text = typeof part === "string" ? part : this.#decoder.decode(part, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: keys that do something are no text.
    const isPasted = text.length > PASTED_CHARACTERS && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);
    if (isPasted) this.editor?.write(text);
    else if (text !== "") this.emit("data", Buffer.from(text));
  }
}

/** What the editor draws, while it may. */
class Shown extends Writable {
  readonly #output: NodeJS.WriteStream;
  readonly #resize = (): void => void this.emit("resize");
  readonly isTTY = true;
  isOpen = false;

  constructor(output: NodeJS.WriteStream) {
    super({ decodeStrings: false });
    this.#output = output;
    output.on("resize", this.#resize);
  }

  get columns(): number {
    return this.#output.columns;
  }

  /** Shows a text of ours. */
  tell(text: string): void {
    this.#output.write(text);
  }

  leave(): void {
    this.#output.off("resize", this.#resize);
  }

  override _write(text: string | Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    if (this.isOpen) this.#output.write(text);
    done();
  }
}
