// What the product is measured against: node:http and the bare work, nothing else. Prints its port.
//
//   node bare-server.mjs [port]
//   node bare-server.mjs parse FILE     only that, then it ends

import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync, watch } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const buffer = Buffer.allocUnsafe(512 * 1024);
const EDGE = 64 * 1024;
const NEWLINE = 0x0a;
const WHOLE_BYTES = 4 * 1024 * 1024;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
  if (pathname === "/page") return json(response, page(searchParams));
  if (pathname === "/parse") return json(response, { records: parseFile(searchParams.get("file")) });
  if (pathname === "/edges") return json(response, edges(searchParams.get("root")));
  if (pathname === "/stream") return stream(request, response, searchParams.get("file"));
  return json(response, { ok: true });
});
if (process.argv[2] === "parse") {
  console.log(parseFile(process.argv[3]));
  process.exit();
}
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => console.log(server.address().port));
process.on("SIGTERM", () => process.exit(0));

function json(response, value) {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

/** The records between two offsets; with `count`, only how many. */
function page(query) {
  const from = Number(query.get("from"));
  const held = readAt(query.get("file"), from, Number(query.get("to")) - from);
  const records = parseLines(held);
  return query.has("count") ? records.length : records;
}

/** Reads a whole file, some megabytes at a time, and parses every line: how many there are. */
function parseFile(file) {
  const held = Buffer.allocUnsafe(WHOLE_BYTES);
  const descriptor = openSync(file, "r");
  let records = 0;
  let left = 0;
  for (let at = 0; ; ) {
    const bytes = readSync(descriptor, held, left, held.length - left, at);
    if (bytes === 0) break;
    at += bytes;
    const end = held.lastIndexOf(NEWLINE, left + bytes - 1) + 1;
    records += parseLines(held.subarray(0, end)).length;
    left = held.copy(held, 0, end, left + bytes);
  }
  closeSync(descriptor);
  return records;
}

/** Opens every transcript below `root` and reads 64 KiB at its head and at its tail. */
function edges(root) {
  let files = 0;
  for (const folder of readdirSync(root)) {
    for (const name of readdirSync(join(root, folder))) {
      if (!name.endsWith(".jsonl")) continue;
      const file = join(root, folder, name);
      readAt(file, 0, EDGE);
      const { size } = statSync(file);
      if (size > EDGE) readAt(file, size - EDGE, EDGE);
      files++;
    }
  }
  return files;
}

/** Sends what is appended, watching the file. */
function stream(request, response, file) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  let { size } = statSync(file);
  const watcher = watch(file, () => {
    const now = statSync(file).size;
    if (now <= size) return;
    for (const record of parseLines(readAt(file, size, now - size)))
      response.write(`data: ${JSON.stringify(record)}\n\n`);
    size = now;
  });
  request.on("close", () => watcher.close());
}

function readAt(file, position, length) {
  const descriptor = openSync(file, "r");
  fstatSync(descriptor);
  const count = readSync(descriptor, buffer, 0, Math.min(length, buffer.length), position);
  closeSync(descriptor);
  return buffer.subarray(0, count);
}

function parseLines(held) {
  const records = [];
  let start = 0;
  for (let end = held.indexOf(10); end >= 0; end = held.indexOf(10, start)) {
    records.push(JSON.parse(held.toString("utf8", start, end)));
    start = end + 1;
  }
  return records;
}
