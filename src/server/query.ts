import { Failure } from "../platform/failure.ts";
import { percentDecoded } from "./percent.ts";
import type { QueryOf, QueryParameters } from "./route.ts";

/**
 * What a route's readers make of a query (what stands behind the `?`; undefined when there is none). `+` is a space, as
 * forms and curl write it.
 * @throws Failure bad-request: an unknown, empty or repeated parameter, a broken escape, or what a reader refuses.
 */
export function readQuery<Q extends QueryParameters>(parameters: Q, search: string | undefined): QueryOf<Q> {
  const texts = new Map<string, string[]>();
  for (const pair of search ? search.split("&") : []) {
    const equals = pair.indexOf("=");
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decoded(pair.slice(equals + 1));
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (parameter === undefined) throw unknownParameter(name, parameters);
    if (value === "") throw new Failure("bad-request", `the parameter "${name}" is empty`);
    const before = texts.get(name);
    if (before === undefined) texts.set(name, [value]);
    else if (parameter.repeats && before.length < parameter.repeats.most) before.push(value);
    else if (parameter.repeats)
      throw new Failure("bad-request", `"${name}" may stand at most ${parameter.repeats.most} times`);
    else throw new Failure("bad-request", `the parameter "${name}" stands more than once`);
  }
  const values = Object.entries(parameters).flatMap(([name, parameter]) => {
    const given = texts.get(name);
    if (given === undefined && parameter.required) {
      throw new Failure("bad-request", `the parameter "${name}" is missing`);
    }
    return given === undefined ? [] : [[name, parameter.read(given)] as const];
  });
  return Object.fromEntries(values) as QueryOf<Q>;
}

function decoded(text: string): string {
  const value = percentDecoded(text.replaceAll("+", "%20"));
  if (value === undefined) throw new Failure("bad-request", "the query is not percent-encoded as it should be");
  return value;
}

function unknownParameter(name: string, parameters: QueryParameters): Failure {
  const known = Object.keys(parameters);
  const takes = known.length === 0 ? "this route takes none" : `this route takes: ${known.join(", ")}`;
  const asked = /^[\w.-]{1,40}$/.test(name) ? `unknown parameter "${name}"` : "unknown parameter";
  return new Failure("bad-request", `${asked}; ${takes}`);
}
