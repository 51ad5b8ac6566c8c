import assert from "node:assert/strict";
import { test } from "node:test";
import { shownOutput } from "../../src/commands/sessions/shown-output.ts";
import { fakeTerminal } from "./fake.ts";

/** What is shown of `output` of a session of that kind, which comes in two pieces cut at `cut`. */
function shown(output: string, kind: string, cut: number, columns: number | undefined = 80): string {
  const out = shownOutput({ ...fakeTerminal(columns), colours: columns !== undefined }, kind);
  return out.add(output.slice(0, cut)) + out.add(output.slice(cut)) + out.end();
}

test("of what agents and commands print only text and colours reach a terminal, wherever it is cut", () => {
  const output =
    "a\u001b[1;31mred\u001b[0m\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u001b[6n\u001b[2Jb\u001b[?1049hc\n";
  for (const kind of ["agent", "command"]) {
    for (let cut = 0; cut <= output.length; cut++) {
      assert.equal(shown(output, kind, cut), "a\u001b[1;31mred\u001b[0mbc\n", `${kind} ${cut}`);
    }
  }
});

test("a line feed of a terminal session moves down alone, as it did there, wherever it is cut", () => {
  const output = "one\ntwo\r\n\nthree\u001b[2J";
  for (let cut = 0; cut <= output.length; cut++) {
    assert.equal(shown(output, "terminal", cut), "one\vtwo\r\n\vthree\u001b[2J", `${cut}`);
  }
  const out = shownOutput(fakeTerminal(), "terminal");
  assert.equal(out.add("one\ntwo"), "one\ntwo");
});
