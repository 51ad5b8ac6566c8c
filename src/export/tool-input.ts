import { asArray, asObject } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";

/** The input of a tool call with each text in it cut to `most` characters, and whether anything was. */
export function cutInput(input: unknown, most: number): { readonly input: unknown; readonly cut: boolean } {
  if (typeof input === "string") {
    const { text, cut } = clip(input, most);
    return { input: text, cut };
  }
  const values = asArray(input);
  if (values !== undefined) {
    const parts = values.map((value) => cutInput(value, most));
    return { input: parts.map((part) => part.input), cut: parts.some(({ cut }) => cut) };
  }
  const fields = asObject(input);
  if (fields === undefined) return { input, cut: false };
  const parts = Object.entries(fields).map(([name, value]) => [name, cutInput(value, most)] as const);
  return {
    input: Object.fromEntries(parts.map(([name, part]) => [name, part.input])),
    cut: parts.some(([, { cut }]) => cut),
  };
}
