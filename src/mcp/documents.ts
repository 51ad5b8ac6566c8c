import type { ExportDocument } from "../export/document.ts";

/** A piece of a document. */
export interface Piece {
  readonly text: string;
  /** Bytes of the document before it, and with it. */
  readonly from: number;
  readonly to: number;
}

/** Documents that are held at once, to be read on, and bytes of them together. */
const MOST_HELD = 16;
const MOST_BYTES = 256 * 1024 * 1024;
/** Bytes that a character takes at most. */
const WIDEST = 4;

interface Held {
  readonly document: ExportDocument;
  /** Who reads it now: as long it is not closed. */
  readers: number;
  isDropped: boolean;
}

/** Exports that are being read in pieces: each stays as it was when it was asked for, whatever the session does meanwhile. */
export class Documents {
  /** The one that was read last stands last. */
  readonly #held = new Map<string, Held>();

  /** Holds a document from now on, as long as there is room; one of the same key is the same, and stays. */
  async add(key: string, document: ExportDocument): Promise<void> {
    if (this.#held.has(key)) return document.close();
    this.#held.set(key, { document, readers: 0, isDropped: false });
    while (this.#held.size > MOST_HELD || (this.#held.size > 1 && this.#bytes() > MOST_BYTES)) {
      const [oldest = ""] = this.#held.keys();
      await this.#drop(oldest);
    }
  }

  /** What `read` makes of the document; undefined when it is not held (any more). */
  async use<T>(key: string, read: (document: ExportDocument) => Promise<T>): Promise<T | undefined> {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, held);
    held.readers++;
    try {
      return await read(held.document);
    } finally {
      held.readers--;
      if (held.isDropped && held.readers === 0) await held.document.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((key) => this.#drop(key)));
  }

  #bytes(): number {
    return [...this.#held.values()].reduce((sum, { document }) => sum + document.size, 0);
  }

  async #drop(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#held.delete(key);
    held.isDropped = true;
    if (held.readers === 0) await held.document.close();
  }
}

/** About `characters` of a document from the byte `from` on: whole lines, where they are not too long. */
export async function pieceFrom(document: ExportDocument, from: number, characters: number): Promise<Piece> {
  const bytes = await bytesFrom(document, from, characters * WIDEST);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
  const isRest = text.length <= characters && from + bytes.length >= document.size;
  const end = isRest ? text.length : endOfPiece(text, characters);
  const piece = text.slice(0, end);
  return { text: piece, from, to: from + Buffer.byteLength(piece) };
}

async function bytesFrom(document: ExportDocument, from: number, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let at = 0;
  let length = 0;
  for await (const chunk of document.bytes()) {
    const start = Math.max(0, from - at);
    at += chunk.length;
    if (start >= chunk.length) continue;
    const part = chunk.subarray(start, start + most - length);
    chunks.push(part);
    length += part.length;
    if (length >= most) break;
  }
  return Buffer.concat(chunks);
}

function endOfPiece(text: string, characters: number): number {
  const line = text.lastIndexOf("\n", characters - 1) + 1;
  // A very long line is cut, rather than a few short ones given alone.
  if (line > characters / 2) return line;
  const splits = /[\ud800-\udbff]/.test(text.charAt(characters - 1));
  return splits ? characters - 1 : Math.min(characters, text.length);
}
