import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { storeContract } from "../contract.ts";
import { FIXTURES, makeHome, openStore } from "./fixtures.ts";

const home = mkdtempSync(join(tmpdir(), "opencode-contract-"));
after(() => rmSync(home, { recursive: true, force: true }));
makeHome(home);

storeContract({
  fixtures: home,
  sessions: readdirSync(join(FIXTURES, "expected")).map((name) => name.slice(0, -".json".length)),
  open: openStore,
  foreignCursors: [
    "h:1",
    "j:1:0",
    "o:1",
    "o:01:prt_1",
    "o:1:prt_1:2",
    "o:1:prt 1",
    "o:1:prt_1:1:xyz",
    "o:9007199254740993:prt_1",
    "x",
  ],
});
