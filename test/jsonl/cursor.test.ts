import assert from "node:assert/strict";
import { test } from "node:test";
import { FILE_START, formatJsonlCursor, parseJsonlCursor } from "../../src/jsonl/cursor.ts";
import { Failure } from "../../src/platform/failure.ts";

const READ: readonly (readonly [string, unknown])[] = [
  ["0", { offset: 0, discarding: false }],
  ["j:0:0", { offset: 0, discarding: false }],
  ["j:812:0", { offset: 812, discarding: false }],
  ["j:524288:1", { offset: 524_288, discarding: true }],
  ["j:944:0:0a1b2c3d", { offset: 944, discarding: false, chain: "0a1b2c3d" }],
  ["j:9007199254740991:0", { offset: 9_007_199_254_740_991, discarding: false }],
];

for (const [text, cursor] of READ) {
  test(`the cursor ${text} is read`, () => assert.deepEqual(parseJsonlCursor(text), cursor));
}

const REFUSED = [
  "",
  "1",
  "00",
  "j",
  "j:",
  "j:5",
  "j:5:",
  "j:5:2",
  "j:5:01",
  "j::0",
  "j:05:0",
  "j:-5:0",
  "j:+5:0",
  "j:5.0:0",
  "j:1e3:0",
  "j:0x5:0",
  "j: 5:0",
  " j:5:0",
  "j:5:0 ",
  "j:5:0\n",
  "J:5:0",
  "j:٥:0",
  "j:9007199254740992:0",
  "j:9007199254740993:0",
  "j:9999999999999999:0",
  "j:99999999999999999999:0",
  "j:5:0:",
  "j:5:0:0a1b2c3",
  "j:5:0:0a1b2c3d4",
  "j:5:0:0A1B2C3D",
  "j:5:0:0a1b2c3g",
  "j:5:0:0a1b2c3d:0",
  `j:${"5".repeat(300)}:0`,
  "o:1796030640500:prt_1",
  "o:1796030640500:prt_1:1",
  "h:7",
  "tail",
];

for (const text of REFUSED) {
  test(`the cursor ${JSON.stringify(text.slice(0, 40))} is refused`, () =>
    assert.throws(
      () => parseJsonlCursor(text),
      (error) => error instanceof Failure && error.kind === "bad-request" && !error.message.includes(text || "\0"),
    ));
}

test("a cursor is written as it is read", () => {
  for (const text of ["j:0:0", "j:812:0", "j:524288:1", "j:944:0:0a1b2c3d", "j:9007199254740991:1:ffffffff"]) {
    assert.equal(formatJsonlCursor(parseJsonlCursor(text)), text);
  }
  assert.equal(formatJsonlCursor(FILE_START), "j:0:0");
});
