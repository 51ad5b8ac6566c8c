import assert from "node:assert/strict";
import { test } from "node:test";
import type { Route } from "../../src/server/route.ts";
import { makeRouter } from "../../src/server/router.ts";
import { plainRoute } from "./harness.ts";

const parameter = { description: "a number", schema: { type: "integer" }, read: () => 1 };

/** A route with something that no type would let through. */
const broken = (fields: { [name: string]: unknown }): Route =>
  plainRoute("/api/a", undefined, fields as Partial<Route>);

test("a wrong route is refused when the table is made", () => {
  const table: readonly (readonly [route: Route, reason: string])[] = [
    [plainRoute("a"), "a pattern starts with /"],
    [plainRoute("/a/"), '"" is no segment of a pattern'],
    [plainRoute("//a"), '"" is no segment of a pattern'],
    [plainRoute("/a/.."), '".." is no segment of a pattern'],
    [plainRoute("/a b"), '"a b" is no segment of a pattern'],
    [plainRoute("/a%2fb"), '"a%2fb" is no segment of a pattern'],
    [plainRoute("/a/*"), '"*" is no segment of a pattern'],
    [plainRoute("/a/:"), '":" is no segment of a pattern'],
    [plainRoute("/a/:__proto__"), '":__proto__" is no segment of a pattern'],
    [plainRoute("/a/:b/:b"), "names a parameter twice"],
    [broken({ access: "open" }), "routes below /api/ need the key"],
    [plainRoute("/api", undefined, { access: "open" }), "routes below /api/ need the key"],
    [plainRoute("/API/a", undefined, { access: "open" }), "routes below /api/ need the key"],
    [broken({ access: undefined }), "says not who may ask"],
    [plainRoute("/a", undefined, { method: "POST" }), "routes that change something need the key"],
    [broken({ method: "PATCH" }), "no such method"],
    [broken({ summary: "" }), "has no summary"],
    [broken({ answer: undefined }), "has no answer schema"],
    [broken({ handle: undefined }), "has no handler"],
    [broken({ query: { "a-b": parameter } }), '"a-b" is no name for a query parameter'],
    [
      broken({ query: { a: { ...parameter, schema: undefined } } }),
      'the query parameter "a" needs a description, a schema and a reader',
    ],
  ];
  for (const [route, reason] of table) {
    assert.throws(() => makeRouter([route]), { message: `route ${route.method} ${route.pattern}: ${reason}` });
  }
});

test("two routes that one request could mean are refused", () => {
  const table: readonly (readonly [first: string, second: string, reason: string])[] = [
    ["/a/b", "/a/b", "route GET /a/b: stands in the table twice"],
    ["/a/:x", "/a/:x", "route GET /a/:x: stands in the table twice"],
    ["/a/:x/c", "/a/b/:y", "route GET /a/:x/c: is ambiguous beside /a/b/:y"],
  ];
  for (const [first, second, message] of table) {
    assert.throws(() => makeRouter([plainRoute(first), plainRoute(second)]), { message });
  }
  const remove = plainRoute("/api/:y", undefined, { method: "DELETE" });
  assert.throws(() => makeRouter([plainRoute("/api/:x"), remove]), {
    message: "route GET /api/:x: is /api/:y under other names",
  });
});

test("a more exact route may stand beside a less exact one", () => {
  makeRouter([plainRoute("/a/:x"), plainRoute("/a/b"), plainRoute("/a/:x/c"), plainRoute("/a/:x/:y")]);
});
