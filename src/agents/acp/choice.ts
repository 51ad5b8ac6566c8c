import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";

/** One thing that can be chosen: its id, and what the agent calls it. */
interface Offer {
  readonly id: string;
  readonly name: string | undefined;
}

/** What an agent lets be chosen for a session, and how one is set. */
export interface Choice {
  readonly current: string | undefined;
  readonly offers: readonly Offer[];
  /** The request that sets `id` in the session `sessionId`. */
  request(sessionId: string, id: string): { readonly method: string; readonly params: object };
}

/** What is chosen from: the category of an option. */
export type ChoiceCategory = "model" | "mode";

/** How agents offered it before there were options: where it stands in the answer, and what sets it. */
interface OlderForm {
  readonly key: string;
  readonly current: string;
  readonly available: string;
  /** What the id is called in an offer | in the request. */
  readonly offered: string;
  readonly asked: string;
  readonly method: string;
}

const OLDER: { readonly [category in ChoiceCategory]: OlderForm } = {
  model: {
    key: "models",
    current: "currentModelId",
    available: "availableModels",
    offered: "modelId",
    asked: "modelId",
    method: "session/set_model",
  },
  mode: {
    key: "modes",
    current: "currentModeId",
    available: "availableModes",
    offered: "id",
    asked: "modeId",
    method: "session/set_mode",
  },
};

/**
 * The choice that `answer` (to a request for a session, or an update of its options) holds, if any: the first option of
 * the category, else what agents offered before there were options.
 */
export function choiceOf(answer: JsonObject, category: ChoiceCategory): Choice | undefined {
  const options = asArray(answer.configOptions) ?? [];
  const older = OLDER[category];
  return (
    options.map((option) => optionChoice(option, category)).find((choice) => choice !== undefined) ??
    olderChoice(asObject(answer[older.key]), older)
  );
}

function optionChoice(value: unknown, category: ChoiceCategory): Choice | undefined {
  const option = asObject(value);
  const configId = asText(option?.id);
  if (option?.category !== category || configId === undefined || !Array.isArray(option.options)) return undefined;
  const single = option.options.flatMap((each) => asArray(asObject(each)?.options) ?? [each]);
  return {
    current: asText(option.currentValue),
    offers: single.flatMap((each) => offerOf(each, "value") ?? []),
    request: (sessionId, value) => ({ method: "session/set_config_option", params: { sessionId, configId, value } }),
  };
}

function olderChoice(state: JsonObject | undefined, older: OlderForm): Choice | undefined {
  if (state === undefined) return undefined;
  return {
    current: asText(state[older.current]),
    offers: (asArray(state[older.available]) ?? []).flatMap((each) => offerOf(each, older.offered) ?? []),
    request: (sessionId, id) => ({ method: older.method, params: { sessionId, [older.asked]: id } }),
  };
}

function offerOf(value: unknown, key: string): Offer | undefined {
  const fields = asObject(value);
  const id = asText(fields?.[key]);
  return id === undefined ? undefined : { id, name: asText(fields?.name) };
}
