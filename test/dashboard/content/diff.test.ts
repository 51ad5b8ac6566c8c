import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { DiffLine } from "../../../src/dashboard/app/content/changes.ts";
import { diffHunks } from "../../../src/dashboard/app/content/diff.ts";

/** Every line of both texts. */
const diffLines = (before: string, after: string): readonly DiffLine[] => {
  const [hunk] = diffHunks(before, after, true, Number.POSITIVE_INFINITY);
  return (
    hunk?.lines ??
    before
      .split(/(?<=\n)/)
      .filter(Boolean)
      .map((line, at) => sameLine(line, at + 1))
  );
};

/** A line of a text that did not change. */
function sameLine(line: string, number: number): DiffLine {
  const text = line.endsWith("\n") ? { text: line.slice(0, -1) } : { text: line, noNewline: true as const };
  return { kind: "same", ...text, old: number, new: number };
}

/** The text that the lines of one side make. */
function side(lines: readonly DiffLine[], which: "old" | "new"): string {
  const out = which === "old" ? "added" : "removed";
  return lines
    .filter(({ kind }) => kind !== out)
    .map(({ text, noNewline }) => (noNewline ? text : `${text}\n`))
    .join("");
}

const short = (lines: readonly DiffLine[]): string[] =>
  lines.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`);

const someText = fc
  .array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "a", "longer line\n", "a\r\n"), { maxLength: 25 })
  .map((parts) => parts.join(""));

test("the lines of a diff are the old text and the new one, with their numbers", () => {
  fc.assert(
    fc.property(someText, someText, (before, after) => {
      const lines = diffLines(before, after);
      assert.equal(side(lines, "old"), before);
      assert.equal(side(lines, "new"), after);
      const numbers = (which: "old" | "new"): number[] => lines.flatMap((line) => line[which] ?? []);
      for (const which of ["old", "new"] as const) {
        assert.deepEqual(
          numbers(which),
          numbers(which).map((_, index) => index + 1),
        );
      }
    }),
  );
});

test("as few lines as can be are changed", () => {
  const words = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
  fc.assert(
    fc.property(words, words, (a, b) => {
      const text = (parts: readonly string[]): string => parts.map((part) => `${part}\n`).join("");
      const same = diffLines(text(a), text(b)).filter(({ kind }) => kind === "same").length;
      assert.equal(same, commonLength(a, b));
    }),
  );
});

/** The length of the longest common subsequence, by the table. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0);
  for (const x of a) {
    const next: number[] = [];
    for (const [j, y] of b.entries()) {
      next.push(x === y ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test("hunks hold every changed line, and three lines around each at the most", () => {
  fc.assert(
    fc.property(someText, someText, (before, after) => {
      const all = diffLines(before, after);
      const near = all.filter((_, at) => all.slice(Math.max(0, at - 3), at + 4).some(({ kind }) => kind !== "same"));
      assert.deepEqual(
        diffHunks(before, after, true).flatMap(({ lines }) => lines),
        near,
      );
    }),
  );
});

test("changes that are far from each other stand in hunks of their own", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`);
  const after = lines.with(4, "new 5\n").with(20, "new 21\n");
  const hunks = diffHunks(lines.join(""), after.join(""), true);
  assert.deepEqual(
    hunks.map((hunk) => [hunk.lines[0]?.old, hunk.lines.length]),
    [
      [2, 8],
      [18, 8],
    ],
  );
  assert.deepEqual(short(diffHunks("a\nb\nc\n", "a\nx\nc\n", false)[0]?.lines ?? []), [" a", "-b", "+x", " c"]);
});

test("a newline at the end that comes or goes is a change", () => {
  const lines = diffLines("a\nb", "a\nb\n");
  assert.deepEqual(short(lines), [" a", "-b", "+b"]);
  assert.equal(lines[1]?.noNewline, true);
});

test("what differs within a line that stands for another is marked, in whole words", () => {
  const [removed, added] = diffLines("const size = 10;\n", "const size = 250;\n");
  assert.equal(removed?.text.slice(...(removed.mark ?? [])), "10");
  assert.equal(added?.text.slice(...(added.mark ?? [])), "250");
  assert.deepEqual(
    diffLines("one\n", "two\n").map(({ mark }) => mark),
    [undefined, undefined],
  );
});

test("two large texts with nothing in common are replaced whole, and large alike ones are not", () => {
  const big = (word: string): string => Array.from({ length: 60_000 }, (_, at) => `${word} ${at}\n`).join("");
  assert.equal(diffLines(big("a"), big("b")).length, 120_000);
  const changed = big("a").replace("a 30000\n", "changed\n").replace("a 59990\n", "");
  assert.deepEqual(
    diffHunks(big("a"), changed, true).flatMap(({ lines }) => short(lines).filter((line) => !line.startsWith(" "))),
    ["-a 30000", "+changed", "-a 59990"],
  );
  const newlines = "\n".repeat(1 << 20);
  assert.equal(diffLines(newlines, `x${newlines}y\n`).filter(({ kind }) => kind === "added").length > 0, true);
});
