import { KEY_COOKIE } from "../platform/key.ts";
import type { JsonSchema, Route } from "./route.ts";

const ERROR = { $ref: "#/components/responses/Error" };

/** The OpenAPI 3.1 description of `routes`: nothing is said there that the table does not hold. */
export function openApiDocument(routes: readonly Route[], version: string): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = pathOf(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "agent-bridge",
      version,
      description:
        "What the coding agents on this machine have done and are doing. Served on 127.0.0.1 only. Times are milliseconds since the Unix epoch; fields are only ever added. Not described here: the files of the page in the browser, below `/assets/`, which may change with every version.",
    },
    paths,
    components: {
      securitySchemes: {
        key: {
          type: "apiKey",
          in: "cookie",
          name: KEY_COOKIE,
          description: "The dashboard key, as the command `token` prints it.",
        },
      },
      schemas: {
        Error: { type: "object", required: ["error"], properties: { error: { type: "string" } } },
      },
      responses: {
        Error: {
          description: "What was wrong, in a sentence.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
        },
      },
    },
  };
}

function operation(route: Route): JsonSchema {
  return {
    operationId: operationId(route),
    summary: route.summary,
    security: route.access === "open" ? [] : [{ key: [] }],
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(route.method === "POST" && { requestBody: requestBody(route) }),
    responses: responses(route),
  };
}

function requestBody({ body }: Route): JsonSchema {
  // Without a body nothing says that it is JSON, and the guard refuses what does not say so.
  return { required: true, content: { "application/json": body === undefined ? {} : { schema: body } } };
}

function responses(route: Route): JsonSchema {
  const { media = "application/json", alternatives = {}, method, conditional, status = 200 } = route;
  const others = Object.entries(alternatives).map(([other, schema]) => [other, { schema }] as const);
  return {
    [status]: {
      description: route.summary,
      content: { [media]: { schema: route.answer }, ...Object.fromEntries(others) },
    },
    ...(conditional && { "304": { description: "What `If-None-Match` names is still what would be answered." } }),
    "400": ERROR,
    "403": ERROR,
    ...(route.pattern.includes(":") && { "404": ERROR }),
    ...(method === "POST" && { "413": ERROR, "415": ERROR }),
    ...Object.fromEntries((route.refuses ?? []).map((status) => [String(status), ERROR])),
    ...otherResponses(route),
    default: ERROR,
  };
}

function otherResponses({ others = {} }: Route): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(others).map(([status, { description, schema, media = schema && "application/json" }]) => [
      status,
      { description, ...(media !== undefined && { content: { [media]: { schema: schema ?? { type: "string" } } } }) },
    ]),
  );
}

function pathOf({ pattern }: Route): string {
  return segments(pattern)
    .map((segment) => `/${segment.startsWith(":") ? `{${segment.slice(1)}}` : segment}`)
    .join("");
}

function operationId({ method, pattern }: Route): string {
  const words = segments(pattern).flatMap((segment) => segment.split(/[^A-Za-z0-9]+/).filter((word) => word !== ""));
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join("");
}

function pathParameters({ pattern }: Route): JsonSchema[] {
  return segments(pattern)
    .filter((segment) => segment.startsWith(":"))
    .map((segment) => ({ name: segment.slice(1), in: "path", required: true, schema: { type: "string" } }));
}

function queryParameters({ query }: Route): JsonSchema[] {
  return Object.entries(query).map(([name, { description, schema, repeats, required }]) => ({
    name,
    in: "query",
    description,
    ...(required && { required }),
    schema: repeats ? { type: "array", items: schema, maxItems: repeats.most } : schema,
  }));
}

function segments(pattern: string): string[] {
  return pattern.slice(1).split("/");
}
