import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { wordsOf } from "../../../src/dashboard/app/agents/command-line.ts";
import { inputQueue, type Typed } from "../../../src/dashboard/app/agents/input-queue.ts";
import { type KeyPress, pastedText, sequenceOf } from "../../../src/dashboard/app/agents/keys.ts";
import { commandLine } from "../../../src/dashboard/app/parts/command.ts";

const NONE = { ctrlKey: false, altKey: false, metaKey: false, shiftKey: false };

const KEYS: readonly (readonly [
  what: string,
  press: Partial<KeyPress> & { readonly key: string },
  sent: string | undefined,
])[] = [
  ["a letter is itself", { key: "a" }, "a"],
  ["an emoji is itself", { key: "😀" }, "😀"],
  ["Enter is a carriage return", { key: "Enter" }, "\r"],
  ["Backspace deletes", { key: "Backspace" }, "\x7f"],
  ["an arrow is a sequence", { key: "ArrowUp" }, "\x1b[A"],
  ["Ctrl and a letter is a control character", { key: "c", ctrlKey: true }, "\x03"],
  ["Ctrl and a bracket is Escape", { key: "[", ctrlKey: true }, "\x1b"],
  ["Alt and a letter is Escape and the letter", { key: "b", altKey: true }, "\x1bb"],
  ["AltGr makes a letter", { key: "@", altKey: true, ctrlKey: true }, "@"],
  ["Ctrl+V pastes", { key: "v", ctrlKey: true }, undefined],
  ["Ctrl+Shift is the browser's", { key: "C", ctrlKey: true, shiftKey: true }, undefined],
  ["Meta is the browser's", { key: "c", metaKey: true }, undefined],
  ["Shift+Tab leaves", { key: "Tab", shiftKey: true }, undefined],
  ["Shift alone is nothing", { key: "Shift", shiftKey: true }, undefined],
  ["F5 is the browser's", { key: "F5" }, undefined],
];

for (const [what, press, sent] of KEYS) {
  test(`terminal keys: ${what}`, () => assert.equal(sequenceOf({ ...NONE, ...press }), sent));
}

test("a program gets its own arrows when it wants them", () => {
  assert.equal(sequenceOf({ ...NONE, key: "ArrowLeft" }, true), "\x1bOD");
});

test("what is pasted can't end the pasting by itself", () => {
  assert.equal(pastedText("a\nb", false), "a\rb");
  assert.equal(pastedText("a\r\n\x1b[201~rm", true), "\x1b[200~a\r[201~rm\x1b[201~");
});

test("what is typed while something is sent is sent together, in its order", async () => {
  const sent: Typed[] = [];
  const gates: (() => void)[] = [];
  const queue = inputQueue(
    (typed) => {
      sent.push(typed);
      return new Promise<void>((resolve) => gates.push(resolve));
    },
    (error) => assert.fail(String(error)),
  );
  for (const text of ["a", "b", "c"]) queue.push({ text });
  queue.push({ end: true });
  queue.push({ text: "d" });
  for (let place = 0; place < 4; place++) {
    gates[place]?.();
    await new Promise(setImmediate);
  }
  assert.deepEqual(sent, [{ text: "a" }, { text: "bc" }, { end: true }, { text: "d" }]);
});

test("what waits behind something that was refused is not sent", async () => {
  const sent: Typed[] = [];
  const errors: unknown[] = [];
  const queue = inputQueue(
    async (typed) => {
      sent.push(typed);
      if (sent.length === 1) throw "refused";
    },
    (error) => errors.push(error),
  );
  queue.push({ text: "a" });
  queue.push({ text: "b" });
  await new Promise(setImmediate);
  queue.push({ text: "c" });
  await new Promise(setImmediate);
  assert.deepEqual([sent, errors], [[{ text: "a" }, { text: "c" }], ["refused"]]);
});

const LINES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ["", []],
  ["  make   test ", ["make", "test"]],
  ["sh -c 'echo \"$HOME\"; exit'", ["sh", "-c", 'echo "$HOME"; exit']],
  ['say "a \\"b\\" \\n \\$c"', ["say", 'a "b" \\n $c']],
  ["a\\ b c\\'d", ["a b", "c'd"]],
  ["x ''", ["x", ""]],
  ["a'b'\"c\"d", ["abcd"]],
  ["one\ttwo\nthree", ["one", "two", "three"]],
  ["a > b | c $d *", ["a", ">", "b", "|", "c", "$d", "*"]],
  ["a \\\n b", ["a", "b"]],
];

for (const [line, words] of LINES) {
  test(`the words of ${JSON.stringify(line)}`, () => assert.deepEqual(wordsOf(line), { words }));
}

test("a command line that is not whole is not taken", () => {
  assert.deepEqual(wordsOf("echo 'a"), { error: "The ' is not closed." });
  assert.deepEqual(wordsOf('echo "a'), { error: 'The " is not closed.' });
  assert.deepEqual(wordsOf("echo \\"), { error: "Nothing follows the last \\." });
  assert.deepEqual(wordsOf("'' a"), { error: "It must begin with a program." });
});

test("words that are put on a line are the words of that line", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), (first, rest) => {
      assert.deepEqual(wordsOf(commandLine([first, ...rest])), { words: [first, ...rest] });
    }),
  );
});
