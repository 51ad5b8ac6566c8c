import assert from "node:assert/strict";
import { test } from "node:test";
import { openApiDocument } from "../../src/server/openapi.ts";
import { plainRoute } from "./harness.ts";

const ERROR = { $ref: "#/components/responses/Error" };

test("a route of the table is an operation of the document", () => {
  const parameter = { description: "how many", schema: { type: "integer" }, read: () => 1 };
  const read = plainRoute("/api/runs/:name/chat-log", undefined, {
    summary: "a run's chat",
    answer: { type: "object" },
    query: { limit: parameter, chat: { ...parameter, repeats: { most: 9 }, required: true } },
    conditional: true,
  });
  const { paths } = openApiDocument([read], "1");
  assert.deepEqual(paths, {
    "/api/runs/{name}/chat-log": {
      get: {
        operationId: "getApiRunsNameChatLog",
        summary: "a run's chat",
        security: [{ key: [] }],
        parameters: [
          { name: "name", in: "path", required: true, schema: { type: "string" } },
          { name: "limit", in: "query", description: "how many", schema: { type: "integer" } },
          {
            name: "chat",
            in: "query",
            description: "how many",
            required: true,
            schema: { type: "array", items: { type: "integer" }, maxItems: 9 },
          },
        ],
        responses: {
          "200": { description: "a run's chat", content: { "application/json": { schema: { type: "object" } } } },
          "304": { description: "What `If-None-Match` names is still what would be answered." },
          "400": ERROR,
          "403": ERROR,
          "404": ERROR,
          default: ERROR,
        },
      },
    },
  });
});

test("methods of one path stand together, open routes need no key, streams are streams", () => {
  const document = openApiDocument(
    [
      plainRoute("/api/a"),
      plainRoute("/api/a", undefined, { method: "POST" }),
      plainRoute("/open", undefined, { media: "text/event-stream", answer: { type: "string" } }),
    ],
    "1",
  );
  const paths = document.paths as { [path: string]: { [method: string]: { security: unknown; responses: object } } };
  assert.deepEqual(Object.keys(paths["/api/a"] ?? {}), ["get", "post"]);
  assert.deepEqual(Object.keys(paths["/api/a"]?.post?.responses ?? {}), ["200", "400", "403", "413", "415", "default"]);
  assert.deepEqual(paths["/open"]?.get?.security, []);
  assert.deepEqual(paths["/open"]?.get?.responses, {
    "200": { description: "a route", content: { "text/event-stream": { schema: { type: "string" } } } },
    "400": ERROR,
    "403": ERROR,
    default: ERROR,
  });
});

test("a body is told as required also where none of its keys is: without it nothing says that it is JSON", () => {
  const document = openApiDocument([plainRoute("/api/a", undefined, { method: "POST" })], "1");
  const paths = document.paths as { [path: string]: { [method: string]: { requestBody: { required?: boolean } } } };
  assert.equal(paths["/api/a"]?.post?.requestBody.required, true);
});
