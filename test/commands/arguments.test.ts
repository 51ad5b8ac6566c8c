import assert from "node:assert/strict";
import { test } from "node:test";
import { flag, parseArguments, text, wholeNumber } from "../../src/commands/arguments.ts";
import { closest } from "../../src/platform/closest.ts";
import { Failure } from "../../src/platform/failure.ts";

const options = {
  port: wholeNumber("PORT", "the port", [0, 65535]),
  home: text("DIR", "the folder"),
  follow: flag("go on", "f"),
  items: wholeNumber("N", "how many", [0, 100], "n"),
};

const TABLE: readonly { readonly words: readonly string[]; readonly gives: unknown }[] = [
  { words: [], gives: { options: none(), operands: [] } },
  { words: ["--port", "4777"], gives: { options: { ...none(), port: 4777 }, operands: [] } },
  { words: ["--port=4777", "x"], gives: { options: { ...none(), port: 4777 }, operands: ["x"] } },
  {
    words: ["x", "-f", "y", "-n", "5"],
    gives: { options: { ...none(), follow: true, items: 5 }, operands: ["x", "y"] },
  },
  { words: ["--home", "-odd"], gives: { options: { ...none(), home: "-odd" }, operands: [] } },
  { words: ["--home=a=b"], gives: { options: { ...none(), home: "a=b" }, operands: [] } },
  { words: ["-fn", "5", "x"], gives: { options: { ...none(), follow: true, items: 5 }, operands: ["x"] } },
  { words: ["-fn5"], gives: { options: { ...none(), follow: true, items: 5 }, operands: [] } },
  { words: ["-n5", "x"], gives: { options: { ...none(), items: 5 }, operands: ["x"] } },
  { words: ["-n=5"], gives: '-n takes a whole number from 0 to 100, not "=5"' },
  { words: ["--port=1", "--port=1"], gives: "--port stands more than once" },
  { words: ["-n", "1", "--items", "2"], gives: "--items stands more than once" },
  { words: ["-f", "--follow"], gives: "--follow stands more than once" },
  { words: ["--", "-f", "-f"], gives: { options: none(), operands: ["-f", "-f"] } },
  { words: ["-", "--", "--port", "--"], gives: { options: none(), operands: ["-", "--port", "--"] } },
  { words: ["--prot", "1"], gives: "unknown option --prot; did you mean --port?" },
  { words: ["--verbose"], gives: "unknown option --verbose" },
  { words: ["-fn"], gives: "-n needs a value (N)" },
  { words: ["--follow=yes"], gives: "--follow takes no value" },
  { words: ["--port"], gives: "--port needs a value (PORT)" },
  { words: ["--home", "--port"], gives: "--home needs a value (DIR)" },
  { words: ["--home="], gives: "--home needs a value (DIR)" },
  { words: ["--port", "-1"], gives: '--port takes a whole number from 0 to 65535, not "-1"' },
  { words: ["--port=65536"], gives: '--port takes a whole number from 0 to 65535, not "65536"' },
  { words: ["-n", "1e1"], gives: '-n takes a whole number from 0 to 100, not "1e1"' },
];

function none(): object {
  return { port: undefined, home: undefined, follow: false, items: undefined };
}

for (const { words, gives } of TABLE) {
  test(`the words ${JSON.stringify(words)}`, () => {
    if (typeof gives !== "string") return assert.deepEqual(parseArguments(options, words), gives);
    assert.throws(() => parseArguments(options, words), new Failure("usage", gives));
  });
}

test("a slip of one or two letters, or a beginning, is told from another word", () => {
  const words = ["serve", "show", "tail", "token", "doctor"];
  const meant = ["sevre", "srve", "shwo", "docto", "tale", "doct", "x", "search", "runs"].map((word) =>
    closest(word, words),
  );
  assert.deepEqual(meant, ["serve", "serve", "show", "doctor", undefined, "doctor", undefined, undefined, undefined]);
});
