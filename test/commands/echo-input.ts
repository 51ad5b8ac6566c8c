// Run by input.test.ts as a program of its own: says what its standard input brings, as hex, and how it is asked to stop.
import { processInput } from "../../src/commands/input.ts";
import { interrupts } from "../../src/commands/interruption.ts";

const input = processInput();
const end = new AbortController();
const untype = process.argv[2] === "raw" ? input.raw() : () => {};
void (async () => {
  for await (const how of interrupts(end.signal)) {
    console.log(how);
    if (how === "end") end.abort();
  }
})();
console.log(`ready ${input.isTerminal} ${JSON.stringify(input.size() ?? null)}`);
for await (const part of input.parts(end.signal)) {
  console.log(Buffer.from(part).toString("hex"));
  if (part.includes(0x1d)) break;
}
untype();
end.abort();
console.log("over");
