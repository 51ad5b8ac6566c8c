import { Breather } from "../../platform/breather.ts";
import { Failure } from "../../platform/failure.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { Totals } from "../store.ts";
import { type Catalog, inReadingOrder, type RolloutFile } from "./catalog.ts";
import type { Children } from "./children.ts";
import type { Rollouts } from "./facts.ts";
import type { HeadScan } from "./scan.ts";
import { sumOf, TokenCount } from "./totals.ts";
import type { RawUsage } from "./usage.ts";

/** Bytes that are counted at once when asked; more is counted in the background. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;

/** The count of one file, as long as it stays the same file: with what its first records told. */
interface Counted {
  readonly scan: HeadScan;
  /** Undefined while its own history's begin is not known, or can't be. */
  count?: TokenCount;
}

/** Counts the tokens of threads with all that they started, a file at a time, and keeps the counts. */
export class Counting {
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  readonly #children: Children;
  readonly #files = new Map<string, Counted>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(catalog: Catalog, rollouts: Rollouts, children: Children) {
    this.#catalog = catalog;
    this.#rollouts = rollouts;
    this.#children = children;
  }

  /** The totals of a thread, or undefined while they are being counted. */
  async totals(thread: SessionId): Promise<Totals | undefined> {
    if (this.#running.has(thread)) return undefined;
    const files = await this.#filesOf(thread, new Set());
    let left = 0;
    for (const file of files) left += (await this.#left(file)) ?? 0;
    if (left <= AT_ONCE_BYTES) {
      await this.#count(files);
      return this.#sum(files);
    }
    const counting = this.#count(files).finally(() => this.#running.delete(thread));
    this.#running.set(thread, counting);
    // What can't be read is told by the report; the next request tries again.
    counting.catch(() => undefined);
    return undefined;
  }

  /** One file of every segment (also of dead ones: their tokens were spent) of a thread and of all it started. */
  async #filesOf(thread: SessionId, seen: Set<string>): Promise<RolloutFile[]> {
    if (seen.has(thread)) return [];
    seen.add(thread);
    const bySegment = new Map<string, RolloutFile>();
    for (const file of inReadingOrder(this.#catalog.ofThread(thread))) {
      if (!bySegment.has(file.segment)) bySegment.set(file.segment, file);
    }
    const files = [...bySegment.values()];
    for (const child of await this.#children.threadsOf(thread, ["spawned", "helper"])) {
      files.push(...(await this.#filesOf(child, seen)));
    }
    return files;
  }

  async #left(file: RolloutFile): Promise<number | undefined> {
    const facts = await this.#rollouts.facts(file);
    if (facts === undefined || facts.problem !== undefined) return undefined;
    const counted = this.#files.get(file.path);
    const same = counted?.scan === facts.scan;
    if (counted !== undefined && !same) this.#files.delete(file.path);
    // A compressed file never grows.
    if (file.compressed) return same ? 0 : AT_ONCE_BYTES + 1;
    return same && counted.count ? counted.count.left(facts.stamp.size) : facts.stamp.size;
  }

  async #count(files: readonly RolloutFile[]): Promise<void> {
    const breather = new Breather();
    for (const file of files) {
      if ((await this.#left(file)) === 0) continue;
      const scan = (await this.#rollouts.facts(file))?.scan;
      if (scan === undefined) continue;
      const known = this.#files.get(file.path);
      const counted = known?.scan === scan ? known : { scan };
      this.#files.set(file.path, counted);
      await this.#countOn(file, counted, breather).catch(ignoreGone);
    }
  }

  async #countOn(file: RolloutFile, counted: Counted, breather: Breather): Promise<void> {
    const { scan } = counted;
    await this.#rollouts.settled(file);
    if (scan.header === undefined || scan.ownStart === undefined) return;
    const count = counted.count ?? new TokenCount(scan.header.id, scan.ownStart);
    counted.count = count;
    await this.#rollouts.open(file, (open) => count.countOn(open, breather));
  }

  #sum(files: readonly RolloutFile[]): Totals {
    const counts = files.flatMap((file): RawUsage[] => {
      const count = this.#files.get(file.path)?.count;
      return count === undefined ? [] : [count.tokens];
    });
    return { tokens: sumOf(counts) };
  }
}

/** A file that went meanwhile (archived, compressed) counts the next time; one that can't be read is in the report. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
}
