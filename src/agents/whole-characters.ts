/**
 * How many bytes at the end of `bytes` (up to `end`) are the beginning of a character of UTF-8 whose rest may still come: 0
 * to 3. Bytes that no character can begin with are not waited for.
 */
export function unfinishedBytes(bytes: Uint8Array, end: number = bytes.length): number {
  for (let count = 1; count <= 3 && count <= end; count++) {
    const byte = bytes[end - count] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return lengthOf(byte) > count && mayFollow(byte, count > 1 ? bytes[end - count + 1] : undefined) ? count : 0;
  }
  return 0;
}

/** The first place at or after `at` that is not inside a character of UTF-8. */
export function characterStart(bytes: Uint8Array, at: number, end: number): number {
  const begun = unfinishedBytes(bytes, at);
  if (begun === 0) return at;
  const after = at - begun + lengthOf(bytes[at - begun] ?? 0);
  for (let place = at; place < after; place++) {
    // Not the character that its first byte announced: what stands here is one of its own.
    if (place >= end || ((bytes[place] ?? 0) & 0xc0) !== 0x80) return place;
  }
  return after;
}

/** Hands on bytes in whole characters of UTF-8, so that what two streams print can be put together. */
export class WholeCharacters {
  #begun: Uint8Array = new Uint8Array(0);

  /** `bytes` and what was kept before them, without the character that they leave unfinished. */
  add(bytes: Uint8Array): Uint8Array {
    const all = this.#begun.length === 0 ? bytes : Buffer.concat([this.#begun, bytes]);
    const whole = all.length - unfinishedBytes(all);
    this.#begun = all.slice(whole);
    return all.subarray(0, whole);
  }

  /** What is kept, at the end. */
  rest(): Uint8Array {
    return this.#begun;
  }
}

/** How many bytes the character has that begins with `byte`; 1 also where none begins so. */
function lengthOf(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** Whether the second byte may follow the first: overlong forms, surrogates and numbers past Unicode's last are no UTF-8. */
function mayFollow(first: number, second: number | undefined): boolean {
  if (second === undefined) return true;
  switch (first) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second <= 0x9f;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second <= 0x8f;
    default:
      return true;
  }
}
