import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EpochMs } from "../../platform/clock.ts";
import { type ClaudeRecord, Script } from "./records.ts";

/** Where a made-up history lies, and its session that is at work. */
export interface DemoHistory {
  /** The home folder that it was made in. */
  readonly home: string;
  readonly live: { readonly session: string; readonly cwd: string; readonly file: string; readonly script: Script };
}

/** A subagent of a session: its transcript and what stands beside it. */
interface Child {
  readonly id: string;
  readonly meta: ClaudeRecord;
  readonly script: Script;
}

const HOUR = 3_600_000;

/** Writes a small, varied Claude Code history into the empty folder `home`: several projects, all kinds of items. */
export function writeHistory(home: string, now: EpochMs): DemoHistory {
  const projects = join(home, ".claude", "projects");
  const begin = (folder: string, session: string, hoursAgo: number, branch = "main", stepMs?: number) => {
    const cwd = join(home, folder);
    mkdirSync(cwd, { recursive: true });
    const start = { session, cwd, branch, startedAt: (now - hoursAgo * HOUR) as EpochMs, ...(stepMs && { stepMs }) };
    const folderOf = join(projects, cwd.replace(/[^A-Za-z0-9]/g, "-"));
    const file = join(folderOf, `${session}.jsonl`);
    return { cwd, file, start, script: new Script(start), side: join(folderOf, session, "subagents") };
  };

  const login = begin("shop", "1b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10", 3, "fix/login-redirect");
  save(login.file, loginScript(login.script, login.cwd));

  const review = begin("shop", "2c7f9d13-4a5b-4c8d-8e62-1f6a4d3b8c21", 26);
  const children = reviewScript(review.script, (agentId, msLater) => {
    const startedAt = (review.start.startedAt + msLater) as EpochMs;
    return new Script({ ...review.start, agentId, startedAt });
  });
  save(review.file, review.script);
  for (const { id, meta, script } of children) {
    save(join(review.side, `agent-${id}.jsonl`), script);
    writeFileSync(join(review.side, `agent-${id}.meta.json`), JSON.stringify(meta));
  }

  const notes = begin("notes", "3d8a0e24-5b6c-4d9e-9f73-2a7b5e4c9d32", 50);
  save(notes.file, notesScript(notes.script));

  const outage = begin("notes", "4e9b1f35-6c7d-4eaf-8a84-3b8c6f5dae43", 170);
  save(outage.file, outage.script.user("Summarise the open notes.").apiError(529, "Overloaded").interrupted());

  const translation = begin("翻訳", "5fac2a46-7d8e-4fb0-9b95-4c9d7a6ebf54", 74);
  save(translation.file, translationScript(translation.script));

  const live = begin("shop", "6abd3b57-8e9f-40c1-8ca6-5dae8b7fc065", 0.02, "tests", 100);
  save(live.file, live.script.title("Keep the test suite green").user("Run the tests until they stay green."));
  return { home, live: { session: live.start.session, cwd: live.cwd, file: live.file, script: live.script } };
}

/** The lines of `records` as they stand in a file. */
export function jsonLines(records: readonly ClaudeRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

function save(file: string, script: Script): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, jsonLines(script.take()));
}

function loginScript(script: Script, cwd: string): Script {
  const file = join(cwd, "src/login.ts");
  return script
    .title("Fix the redirect after login")
    .user("After login people land on / and not on the page they came from. Please fix it.")
    .assistant("I'll look at how the login route picks its target.")
    .tool("Read", { file_path: file }, '1\texport function target(query) {\n2\t  return "/";\n3\t}\n')
    .tool(
      "Edit",
      { file_path: file, old_string: 'return "/";', new_string: 'return safePath(query.next) ?? "/";' },
      "The file has been updated.",
    )
    .tool("Bash", { command: "npm test -- login" }, "Exit code 1\n✖ refuses a foreign host in next", true)
    .assistant("A foreign host still gets through: `//evil.example` is a path to `URL` but not to a browser.")
    .tool(
      "Edit",
      { file_path: file, old_string: "startsWith", new_string: "matchesPath" },
      "The file has been updated.",
    )
    .tool("Bash", { command: "npm test -- login" }, "✔ 14 tests")
    .assistant("Done: login goes back to `next` when it is a path of ours, else to `/`. All 14 tests pass.")
    .user("Thanks. Which other routes take a `next`?")
    .tool("Grep", { pattern: "query\\.next", path: "src" }, "src/logout.ts\nsrc/invite.ts")
    .assistant("Two more: `logout` and `invite`. Both should use `safePath` too.");
}

function reviewScript(script: Script, child: (id: string, msLater: number) => Script): Child[] {
  const [prices, payment, rounding] = ["a1f0c2d4e6b80912a", "a2e1d3c5b7f90813b", "a3d2e4b6c8fa0714c"] as const;
  script.title("Review the checkout").user("Review the checkout with two helpers: prices, and payment.");
  const first = script.call("Agent", { description: "Review prices", prompt: "Check how prices are summed." });
  const second = script.call("Agent", { description: "Review payment", prompt: "Check the payment calls." });
  const done = { status: "completed", totalToolUseCount: 2 };
  script
    .result(first, "Prices are summed as floats.", false, { ...done, agentId: prices })
    .result(second, "API Error: 400 prompt is too long", true, { status: "failed", agentId: payment })
    .assistant("Prices: floats are summed, which loses cents. Payment: the helper failed; I'd run it again in parts.");
  const priceScript = child(prices, 8_000).user("Check how prices are summed.");
  const nested = priceScript.call("Agent", { description: "Try the rounding", prompt: "Sum 0.1 ten times." });
  priceScript.result(nested, `0.9999999999999999\nagentId: ${rounding}`).assistant("Prices are summed as floats.");
  return [
    {
      id: prices,
      meta: { agentType: "general-purpose", description: "Review prices", toolUseId: first, finished: true },
      script: priceScript,
    },
    {
      id: payment,
      meta: { agentType: "general-purpose", description: "Review payment", toolUseId: second, finished: true },
      script: child(payment, 15_000).user("Check the payment calls.").apiError(400, "prompt is too long"),
    },
    {
      id: rounding,
      meta: {
        agentType: "general-purpose",
        description: "Try the rounding",
        toolUseId: nested,
        parentAgentId: prices,
        spawnDepth: 2,
        finished: true,
      },
      script: child(rounding, 16_000)
        .user("Sum 0.1 ten times.")
        .tool("Bash", { command: "node -p 'Array(10).fill(.1).reduce((a,b)=>a+b)'" }, "0.9999999999999999")
        .assistant("0.9999999999999999"),
    },
  ];
}

function notesScript(script: Script): Script {
  return script
    .user("Write a command that finds notes by tag.")
    .tool("Bash", { command: "ls notes | head" }, "ideas.md\nshopping.md\ntravel.md")
    .assistant("There are three notes. I'll read the tags from their first line.")
    .bash("git status --short", " M find.js")
    .slash("cost", "", "Total cost: $0.42")
    .compacted("A command that finds notes by tag is half written; tags stand on the first line of a note.")
    .user("Go on, and keep it to one file.")
    .tool("Write", { file_path: "find.js", content: "…" }, "File created successfully.")
    .interrupted()
    .user("Only exact tags, no prefixes.")
    .assistant("Understood: `find.js` now compares whole tags.\n\n```\nnode find.js travel\n```");
}

function translationScript(script: Script): Script {
  return script
    .title("説明書を日本語に翻訳する 🎌")
    .user("README を日本語に翻訳してください。")
    .tool("Read", { file_path: "README.md" }, "1\t# Notes\n")
    .tool("Write", { file_path: "README.ja.md", content: "# ノート" }, "File created successfully.")
    .assistant("`README.ja.md` に書きました。");
}
