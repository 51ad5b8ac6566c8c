import { Failure } from "../../platform/failure.ts";
import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";
import { clip } from "../../transcript/clip.ts";
import { printableLine } from "../../transcript/printable.ts";

/** A model that can be chosen: its id, and what the agent calls it. */
interface OfferedModel {
  readonly id: string;
  readonly name: string | undefined;
}

/** The models that an agent offers for a session, and how one is set. */
export interface ModelChoice {
  readonly current: string | undefined;
  readonly models: readonly OfferedModel[];
  /** The request that sets the model `id` of the session `sessionId`. */
  request(sessionId: string, id: string): { readonly method: string; readonly params: object };
}

/**
 * The choice that `answer` (to a request for a session, or an update of its options) holds, if any: an option of the
 * category "model", else the `models` that agents offered before there were options.
 */
export function modelChoiceOf(answer: JsonObject): ModelChoice | undefined {
  return (
    (asArray(answer.configOptions) ?? []).map(optionChoice).find((choice) => choice !== undefined) ??
    olderChoice(asObject(answer.models))
  );
}

/**
 * The id of the model that `asked` means: by its id, else by its name.
 * @throws Failure bad-request: the agent does not offer it; the message lists what it does
 */
export function offeredModel(asked: string, choice: ModelChoice | undefined): string {
  if (choice === undefined) {
    throw new Failure(
      "bad-request",
      "the agent lets nobody choose a model: leave it out, or set it where the agent is set up",
    );
  }
  const isMeant = (word: string | undefined): boolean => word?.toLowerCase() === asked.toLowerCase();
  const found =
    choice.models.find(({ id }) => id === asked) ?? choice.models.find(({ id, name }) => isMeant(id) || isMeant(name));
  if (found !== undefined) return found.id;
  const offered = choice.models.map(({ id }) => printableLine(id)).join(", ");
  throw new Failure(
    "bad-request",
    `the agent offers no model "${clip(printableLine(asked), 100).text}"; it offers ${clip(offered, MOST_LISTED).text || "none"}`,
  );
}

/** Some agents offer hundreds of models: characters. */
const MOST_LISTED = 1000;

function optionChoice(value: unknown): ModelChoice | undefined {
  const option = asObject(value);
  const configId = asText(option?.id);
  if (option?.category !== "model" || configId === undefined || !Array.isArray(option.options)) return undefined;
  const single = option.options.flatMap((each) => asArray(asObject(each)?.options) ?? [each]);
  return {
    current: asText(option.currentValue),
    models: single.flatMap((each) => offered(each, "value") ?? []),
    request: (sessionId, value) => ({ method: "session/set_config_option", params: { sessionId, configId, value } }),
  };
}

function olderChoice(models: JsonObject | undefined): ModelChoice | undefined {
  if (models === undefined) return undefined;
  return {
    current: asText(models.currentModelId),
    models: (asArray(models.availableModels) ?? []).flatMap((each) => offered(each, "modelId") ?? []),
    request: (sessionId, modelId) => ({ method: "session/set_model", params: { sessionId, modelId } }),
  };
}

function offered(value: unknown, key: string): OfferedModel | undefined {
  const fields = asObject(value);
  const id = asText(fields?.[key]);
  return id === undefined ? undefined : { id, name: asText(fields?.name) };
}
