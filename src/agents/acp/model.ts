import { Failure } from "../../platform/failure.ts";
import { clip } from "../../transcript/clip.ts";
import { printableLine } from "../../transcript/printable.ts";
import type { Choice } from "./choice.ts";

/**
 * The id of the model that `asked` means: by its id, else by its name.
 * @throws Failure bad-request: the agent does not offer it; the message lists what it does
 */
export function offeredModel(asked: string, choice: Choice | undefined): string {
  if (choice === undefined) {
    throw new Failure(
      "bad-request",
      "the agent lets nobody choose a model: leave it out, or set it where the agent is set up",
    );
  }
  const isMeant = (word: string | undefined): boolean => word?.toLowerCase() === asked.toLowerCase();
  const found =
    choice.offers.find(({ id }) => id === asked) ?? choice.offers.find(({ id, name }) => isMeant(id) || isMeant(name));
  if (found !== undefined) return found.id;
  const offered = choice.offers.map(({ id }) => printableLine(id)).join(", ");
  throw new Failure(
    "bad-request",
    `the agent offers no model "${clip(printableLine(asked), 100).text}"; it offers ${clip(offered, MOST_LISTED).text || "none"}`,
  );
}

/** Some agents offer hundreds of models: characters. */
const MOST_LISTED = 1000;
