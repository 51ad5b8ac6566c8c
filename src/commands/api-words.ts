/** What the server says in the words of its API, and how it is said to who types commands. */
const WORDS: readonly (readonly [api: RegExp, typed: string])[] = [
  [/cancel it, or send interrupt/, "cancel it, or prompt it with --interrupt"],
  [/^optionId must be/, "the option must be"],
  [/^toolCallId must be/, "the call must be"],
  [/no question with this toolCallId/, "no question of this call"],
  [/^cwd is no folder that is there: give one that is/, "the folder (--cwd) is not there: give one that is"],
  [/^(name|model|permit) (must|can't) be/, "--$1 $2 be"],
];

/** `message` without the words of the API. */
export function asTyped(message: string): string {
  return WORDS.reduce((text, [api, typed]) => text.replace(api, typed), message);
}
