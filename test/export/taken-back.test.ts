import assert from "node:assert/strict";
import { test } from "node:test";
import { TakenBack } from "../../src/export/taken-back.ts";
import type { DocumentWriter } from "../../src/export/writer.ts";

const FOLD: DocumentWriter["takenBack"] = { kind: "fold", begin: (messages) => `(${messages} `, end: () => ")" };
const FLAG: DocumentWriter["takenBack"] = { kind: "flag", text: "!" };

/** Messages of ten bytes each; `ranges` name the first message that is taken back and the one behind the last. */
function inserted(ranges: readonly (readonly [number, number])[], how = FOLD): string[] {
  const takenBack = new TakenBack();
  for (const [from, to] of ranges) takenBack.add({ from: from * 10, to: to * 10, messages: to - from, depth: 0 });
  const ends = Array.from({ length: 12 }, (_, index) => (index + 1) * 10);
  return takenBack.inserts(ends, how).map(({ at, text }) => `${at}${text}`);
}

test("stretches behind one another are folded each by itself", () => {
  assert.deepEqual(
    inserted([
      [1, 3],
      [5, 6],
    ]),
    ["10(2 ", "30)", "50(1 ", "60)"],
  );
});

test("a stretch that holds earlier ones is folded around them", () => {
  assert.deepEqual(
    inserted([
      [2, 3],
      [4, 5],
      [1, 7],
    ]),
    ["10(6 ", "20(1 ", "30)", "40(1 ", "50)", "70)"],
  );
  assert.deepEqual(
    inserted([
      [2, 3],
      [2, 5],
    ]),
    ["20(3 ", "20(1 ", "30)", "50)"],
  );
});

test("a stretch that begins among what was taken back already begins behind it", () => {
  assert.deepEqual(
    inserted([
      [1, 4],
      [2, 6],
    ]),
    ["10(3 ", "40)", "40(4 ", "60)"],
  );
  assert.deepEqual(
    inserted([
      [1, 4],
      [3, 4],
    ]),
    ["10(3 ", "40)"],
  );
});

test("each message that was taken back is flagged once", () => {
  assert.deepEqual(
    inserted(
      [
        [2, 3],
        [1, 4],
        [6, 7],
      ],
      FLAG,
    ),
    ["19!", "29!", "39!", "69!"],
  );
  assert.deepEqual(inserted([], FLAG), []);
});
