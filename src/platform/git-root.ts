import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "./clock.ts";

/** How long an answer is trusted: a folder may become a repository later. */
const TRUST_MS = 60_000;
const MOST_FOLDERS = 1_000;

interface Answer {
  readonly root: Promise<string | undefined>;
  readonly at: number;
}

/** Tells which git working tree a folder lies in, and remembers it for a minute. */
export class GitRoots {
  readonly #clock: Clock;
  readonly #home: string;
  readonly #answers = new Map<string, Answer>();

  /** `home` is no project and neither is what lies above it, even where a repository of settings is kept there. */
  constructor(clock: Clock, home: string) {
    this.#clock = clock;
    this.#home = home;
  }

  /** The nearest folder with a `.git`, from `folder` (absolute) upward; undefined where there is none. */
  of(folder: string): Promise<string | undefined> {
    const held = this.#answers.get(folder);
    const now = this.#clock.now();
    if (held !== undefined && now - held.at < TRUST_MS) return held.root;
    if (this.#answers.size >= MOST_FOLDERS) this.#answers.clear();
    const root = this.#walk(folder);
    this.#answers.set(folder, { root, at: now });
    return root;
  }

  async #walk(start: string): Promise<string | undefined> {
    for (let folder = start; folder !== this.#home && folder !== dirname(folder); folder = dirname(folder)) {
      if (await exists(join(folder, ".git"))) return folder;
    }
    return undefined;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
