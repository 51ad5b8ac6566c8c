import { readableLine } from "../../../transcript/printable.ts";
import { h } from "../dom.ts";
import type { SessionEntry, Tokens } from "../wire.ts";

/** What is known of a session besides its name: branch, model, tokens, cost. */
export function facts({ branch, model, tokens, costUsd, counting }: SessionEntry): HTMLElement[] {
  const words: (readonly [string, string] | undefined)[] = [
    branch === undefined ? undefined : [readableLine(branch), "Branch"],
    model === undefined ? undefined : [readableLine(model), "Model"],
    counting ? ["counting tokens …", ""] : tokensFact(tokens),
    costUsd === undefined ? undefined : [`$${costUsd.toFixed(2)}`, "Cost as the agent states it"],
  ];
  return words.flatMap((word) =>
    word === undefined || word[0] === "" ? [] : [h("bdi", { class: "quiet", title: word[1] || undefined }, word[0])],
  );
}

function tokensFact(tokens: Tokens = {}): readonly [string, string] | undefined {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = tokens;
  if (input + cacheRead + cacheWrite + output + reasoning === 0) return undefined;
  const whole = Object.entries(tokens).map(([name, count]) => `${NAMES[name] ?? name} ${count.toLocaleString()}`);
  return [
    `${short(input + cacheRead + cacheWrite)} in · ${short(output + reasoning)} out`,
    `Tokens: ${whole.join(", ")}`,
  ];
}

const NAMES: { readonly [name: string]: string } = { cacheRead: "read from cache", cacheWrite: "written to cache" };

/** A count in few characters. */
function short(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(count < 10_000_000 ? 1 : 0)}M`;
}
