import { errorIn, Refused, Unreachable } from "../api.ts";
import { h } from "../dom.ts";

/** Documents up to here go through the page; larger ones are the browser's to fetch, to disk. Bytes. */
const MOST_HELD = 64 * 1024 * 1024;

/**
 * Has the browser keep the document at `url`; gives the name of the file. A link alone would not do: the browser would
 * keep a refusal as if it were the document, or leave the page for it. `progress` is told how far it is, in words.
 * @throws Refused, Unreachable; the signal's reason when that ended it
 */
export async function download(url: string, signal: AbortSignal, progress: (words: string) => void): Promise<string> {
  const far = new AbortController();
  const end = AbortSignal.any([signal, far.signal]);
  try {
    const response = await fetch(url, { signal: end });
    if (!response.ok) throw new Refused(response.status, errorIn(await response.text(), response.status));
    const name = nameIn(response.headers.get("Content-Disposition") ?? "");
    const size = Number(response.headers.get("Content-Length") ?? Number.POSITIVE_INFINITY);
    if (size > MOST_HELD || response.body === null) {
      far.abort();
      save(url, name);
    } else {
      const parts = await received(response.body, (done) => progress(`${Math.floor((100 * done) / size)} %`));
      const held = URL.createObjectURL(new Blob(parts));
      save(held, name);
      setTimeout(() => URL.revokeObjectURL(held), 60_000);
    }
    return name;
  } catch (error) {
    if (signal.aborted || error instanceof Refused) throw error;
    throw new Unreachable();
  }
}

async function received(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  told: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parts.push(read.value);
    bytes += read.value.length;
    told(bytes);
  }
  return parts;
}

function save(href: string, name: string): void {
  h("a", { href, download: name }).click();
}

/** The name that the server gives the file (RFC 6266). */
function nameIn(disposition: string): string {
  const exact = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1];
  return exact === undefined ? "export" : decodeURIComponent(exact);
}
