// Run by input.test.ts as a program of its own: says what its standard input brings, as hex, and how it is asked to stop.

import { existsSync } from "node:fs";
import { processInput } from "../../src/commands/input.ts";
import { interrupts } from "../../src/commands/interruption.ts";
import { Bell } from "../../src/platform/bell.ts";

const input = processInput();
const end = new AbortController();
const untype = process.argv[2] === "raw" ? input.raw() : () => {};
void (async () => {
  for await (const how of interrupts(end.signal, () => {})) {
    console.log(how);
    if (how === "end") end.abort();
  }
})();
if (process.argv[2] === "drop") {
  // The test says by this file that it has typed.
  while (!existsSync(process.argv[3] ?? "")) await new Promise((resolve) => setTimeout(resolve, 20));
  const dropped = await input.dropTyped();
  console.log(`dropped ${dropped}`);
}
if (process.argv[2] === "edit") {
  const bell = new Bell();
  const lines = await input.editor(bell);
  if (lines === undefined) throw new Error("there is no editor");
  await lines.ask("> ");
  for (let over = false; !over; ) {
    const line = lines.take();
    if (line !== undefined) {
      over = line.value === undefined;
      const text = line.value ?? "";
      console.log(`line ${text.length > 100 ? text.length : text}`);
      if (!over) await lines.ask("> ");
    } else if (lines.takeStop()) console.log("stop");
    else await bell.listen(end.signal);
  }
  lines.close();
  end.abort();
}
console.log(`ready ${input.isTerminal} ${JSON.stringify(input.size() ?? null)}`);
for await (const part of input.parts(end.signal)) {
  console.log(Buffer.from(part).toString("hex"));
  if (part.includes(0x1d)) break;
}
untype();
end.abort();
console.log("over");
