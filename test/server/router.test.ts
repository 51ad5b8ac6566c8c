import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRouter } from "../../src/server/router.ts";
import { plainRoute } from "./harness.ts";

const router = makeRouter([
  plainRoute("/"),
  plainRoute("/healthz"),
  plainRoute("/api/runs"),
  plainRoute("/api/runs/:name"),
  plainRoute("/api/runs/:name", undefined, { method: "DELETE" }),
  plainRoute("/api/runs/:name/chat"),
  plainRoute("/api/runs/latest", undefined, { method: "POST" }),
  plainRoute("/api/runs/newest"),
  plainRoute("/assets/style.css"),
]);

function outcome(method: string, path: string): string {
  const match = router.match(method, path);
  if (match.kind === "other-method") return `405 ${match.allow}`;
  if (match.kind === "nothing") return "404";
  return `${match.route.pattern} ${JSON.stringify(match.params)}`;
}

test("a path and a method lead to one route, to the methods that the path has, or to nothing", () => {
  const table: readonly (readonly [method: string, path: string, outcome: string])[] = [
    ["GET", "/", "/ {}"],
    ["GET", "/healthz", "/healthz {}"],
    ["GET", "/assets/style.css", "/assets/style.css {}"],
    ["GET", "/api/runs", "/api/runs {}"],
    ["GET", "/api/runs/one", '/api/runs/:name {"name":"one"}'],
    ["GET", "/api/runs/one/chat", '/api/runs/:name/chat {"name":"one"}'],
    ["GET", "/api/runs/newest", "/api/runs/newest {}"],
    ["GET", "/api/runs/latest", '/api/runs/:name {"name":"latest"}'],
    ["POST", "/api/runs/latest", "/api/runs/latest {}"],
    ["DELETE", "/api/runs/one", '/api/runs/:name {"name":"one"}'],
    ["HEAD", "/healthz", "405 GET"],
    ["OPTIONS", "/healthz", "405 GET"],
    ["get", "/healthz", "405 GET"],
    ["POST", "/api/runs/one", "405 DELETE, GET"],
    ["PUT", "/api/runs/latest", "405 DELETE, GET, POST"],
    ["GET", "", "404"],
    ["GET", "healthz", "404"],
    ["GET", "*", "404"],
    ["GET", "/HEALTHZ", "404"],
    ["GET", "/api", "404"],
    ["GET", "/api/", "404"],
    ["GET", "/api/runs/", "404"],
    ["GET", "/api/runs/one/", "404"],
    ["GET", "/api//runs", "404"],
    ["GET", "//api/runs", "404"],
    ["GET", "/api/runs//chat", "404"],
    ["GET", "/api/runs/one/chat/more", "404"],
    ["GET", "/api/x/../runs", "404"],
    ["GET", "/api/./runs", "404"],
    ["GET", "/assets/..%2fhealthz", "404"],
  ];
  assert.deepEqual(
    table.map(([method, path]) => [method, path, outcome(method, path)]),
    table,
  );
});

test("what is escaped in a segment stays data of that segment, decoded once", () => {
  const table: readonly (readonly [segment: string, name: string])[] = [
    ["a%20b", "a b"],
    ["%e2%82%ac", "€"],
    ["..", ".."],
    ["%2e%2e", ".."],
    ["..%2f..%2fetc", "../../etc"],
    ["a%5cb", "a\\b"],
    ["a%00b", "a\0b"],
    ["%252f", "%2f"],
    ["%3fq=1", "?q=1"],
    ["a+b", "a+b"],
    ["a;b=c", "a;b=c"],
    ["host%2fname", "host/name"],
    ["__proto__", "__proto__"],
  ];
  for (const [segment, name] of table) {
    assert.equal(outcome("GET", `/api/runs/${segment}`), `/api/runs/:name ${JSON.stringify({ name })}`);
  }
});

test("a segment that nobody can have escaped so leads to nothing", () => {
  for (const segment of ["%", "%2", "%zz", "%ff", "%c3%28", "%ed%a0%80", "a b", "a\x00b", "caf\xe9", "€"]) {
    assert.equal(outcome("GET", `/api/runs/${segment}`), "404", segment);
  }
});
