import { jsonText } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";

/** The input of a tool call in at most `most` characters, as text or JSON; what is longer becomes text that is cut. */
export function cutInput(input: unknown, most: number): { readonly input: unknown; readonly cut: boolean } {
  if (input === undefined) return { input, cut: false };
  const { text, cut } = clip(typeof input === "string" ? input : jsonText(input), most);
  return { input: cut ? text : input, cut };
}
