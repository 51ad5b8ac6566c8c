import { randomBytes } from "node:crypto";
import type { ExportDocument } from "../export/document.ts";
import { Failure } from "../platform/failure.ts";

/** A piece of a document. */
export interface Piece {
  readonly text: string;
  /** Bytes of the document before it, and with it. */
  readonly from: number;
  readonly to: number;
}

/** Documents that are held at once, to be read on. */
const MOST_HELD = 4;
/** Bytes that a character takes at most. */
const WIDEST = 4;

/** Exports that are being read in pieces: each stays as it was when it was asked for, whatever the session does meanwhile. */
export class Documents {
  /** The one that was read last stands last. */
  readonly #held = new Map<string, ExportDocument>();

  /** Holds a document from now on; the key under which it is read. */
  async add(document: ExportDocument): Promise<string> {
    const key = randomBytes(4).toString("hex");
    this.#held.set(key, document);
    const [oldest] = this.#held.keys();
    if (this.#held.size > MOST_HELD && oldest !== undefined) await this.#drop(oldest);
    return key;
  }

  /** @throws Failure conflict: it is not held any more */
  get(key: string): ExportDocument {
    const document = this.#held.get(key);
    if (document === undefined) {
      throw new Failure("conflict", "this document is no longer held: export the session again, without a cursor");
    }
    this.#held.delete(key);
    this.#held.set(key, document);
    return document;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((key) => this.#drop(key)));
  }

  async #drop(key: string): Promise<void> {
    const document = this.#held.get(key);
    this.#held.delete(key);
    await document?.close();
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
