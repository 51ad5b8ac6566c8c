import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { serve } from "./harness.ts";

const TEXT = "body { color: red }".repeat(100);
const ASSET = {
  path: "/assets/a.css",
  type: "text/css; charset=utf-8",
  body: { gzip: gzipSync(TEXT).toString("base64") },
};

test("a packed file goes out packed to who can unpack it, and as its text to everyone else", async (t) => {
  const server = await serve(t, [], { assets: [ASSET] });
  for (const accepted of ["gzip", "br, GZIP;q=0.5", "deflate,gzip ; q=1"]) {
    const response = await fetch(`http://127.0.0.1:${server.port}${ASSET.path}`, {
      headers: { "accept-encoding": accepted },
    });
    assert.deepEqual([response.headers.get("content-encoding"), await response.text()], ["gzip", TEXT], accepted);
  }
  for (const accepted of ["", "br", "gzip;q=0", "gzip; q=0.000", "xgzip"]) {
    const { headers, body } = await server.ask(ASSET.path, { headers: { "accept-encoding": accepted } });
    assert.deepEqual([headers["content-encoding"], headers.vary, body], [undefined, "Accept-Encoding", TEXT], accepted);
  }
  const plain = await server.ask(ASSET.path);
  assert.deepEqual([plain.body, plain.headers["content-type"]], [TEXT, ASSET.type]);
  assert.equal(gunzipSync(Buffer.from(ASSET.body.gzip, "base64")).toString(), TEXT);
});

test("a file of the page that is still the same costs no body", async (t) => {
  const server = await serve(t, [], { assets: [ASSET, { path: "/assets/b.css", type: ASSET.type, body: TEXT }] });
  for (const path of ["/assets/a.css", "/assets/b.css"]) {
    const { headers } = await server.ask(path);
    const again = await server.ask(path, { headers: { "if-none-match": String(headers.etag) } });
    assert.deepEqual([again.status, again.body], [304, ""]);
  }
});
