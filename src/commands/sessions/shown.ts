import type { PermissionOption } from "../../agents/event.ts";
import { isEndedStatus } from "../../peers/own-records.ts";
import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { asArray, asNumber, asObject, asString, asText } from "../../platform/read.ts";

/** A session as the server answered it: what is shown of it. */
export interface ShownSession {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly agent: string | undefined;
  readonly name: string | undefined;
  readonly cwd: string;
  readonly permit: string | undefined;
  readonly startedAt: EpochMs | undefined;
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly error: string | undefined;
  readonly permissions: readonly ShownQuestion[];
}

/** A question of the agent that waits for its answer. */
export interface ShownQuestion {
  readonly toolCallId: string;
  readonly title: string | undefined;
  readonly options: readonly PermissionOption[];
}

/** What the server said of a session. @throws Failure failed: it is none */
export function shownSession(value: unknown): ShownSession {
  const fields = asObject(value);
  const id = asText(fields?.id);
  if (fields === undefined || id === undefined) {
    throw new Failure("failed", "the server's answer is no session: is it of another version? restart it");
  }
  return {
    id,
    kind: asString(fields.kind) ?? "agent",
    status: asString(fields.status) ?? "unknown",
    agent: asText(fields.agent),
    name: asText(fields.name),
    cwd: asString(fields.cwd) ?? "",
    permit: asText(fields.permit),
    startedAt: epochMsOf(fields.startedAt),
    exitCode: asNumber(fields.exitCode),
    signal: asText(fields.signal),
    error: asText(fields.error),
    permissions: (asArray(fields.permissions) ?? []).flatMap(questionOf),
  };
}

/** Whether it still goes on. */
export function goesOn({ status }: ShownSession): boolean {
  return !isEndedStatus(status);
}

/** The options of a question, as far as they can be chosen. */
export function optionsOf(value: unknown): readonly PermissionOption[] {
  return (asArray(value) ?? []).flatMap((each) => {
    const option = asObject(each);
    const optionId = asText(option?.optionId);
    if (option === undefined || optionId === undefined) return [];
    return [{ optionId, name: asString(option.name) ?? optionId, kind: asString(option.kind) ?? "" }];
  });
}

function questionOf(value: unknown): ShownQuestion[] {
  const fields = asObject(value);
  const toolCallId = asText(fields?.toolCallId);
  if (fields === undefined || toolCallId === undefined) return [];
  return [{ toolCallId, title: asText(fields.title), options: optionsOf(fields.options) }];
}
