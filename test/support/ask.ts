import { Failure } from "../../src/platform/failure.ts";
import { readQuery } from "../../src/server/query.ts";
import type { Answer, Route, SseEvent, Validity } from "../../src/server/route.ts";

/** What comes with a request besides its target. */
export interface Asked {
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
}

/** Calls the handler of a target as the server does once the guard has let it pass. */
export async function ask(routes: readonly Route[], target: string, asked: Asked = {}): Promise<Answer> {
  const { pathname, search } = new URL(target, "http://localhost");
  for (const route of routes) {
    const params = paramsOf(route.pattern, pathname);
    if (params === undefined) continue;
    return route.handle({
      params,
      query: readQuery(route.query, search.slice(1)),
      target,
      lastEventId: asked.lastEventId,
      body: undefined,
      signal: asked.signal ?? new AbortController().signal,
    });
  }
  throw new Error(`no route for ${pathname}`);
}

/** The body of a JSON answer, and what it was made from. */
export async function askJson(
  routes: readonly Route[],
  target: string,
): Promise<{ readonly body: unknown; readonly validity: Validity | undefined }> {
  const answer = await ask(routes, target);
  if (answer.kind !== "json") throw new Error(`${target} did not answer JSON`);
  return { body: JSON.parse(JSON.stringify(answer.body)), validity: answer.validity };
}

/** The events of a stream. */
export async function askEvents(
  routes: readonly Route[],
  target: string,
  asked: Asked = {},
): Promise<AsyncIterator<SseEvent>> {
  const answer = await ask(routes, target, asked);
  if (answer.kind !== "events") throw new Error(`${target} did not answer events`);
  return answer.events[Symbol.asyncIterator]() as AsyncIterator<SseEvent>;
}

/** The kind of failure that a target is refused with. */
export async function refusal(routes: readonly Route[], target: string, asked: Asked = {}): Promise<string> {
  try {
    await ask(routes, target, asked);
  } catch (error) {
    if (error instanceof Failure) return error.kind;
    throw error;
  }
  return "none";
}

function paramsOf(pattern: string, path: string): { [name: string]: string } | undefined {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const params: { [name: string]: string } = {};
  for (const [i, segment] of wanted.entries()) {
    const value = given[i] ?? "";
    if (segment.startsWith(":")) params[segment.slice(1)] = decodeURIComponent(value);
    else if (segment !== value) return undefined;
  }
  return params;
}
