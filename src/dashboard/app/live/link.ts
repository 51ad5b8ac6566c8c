import type { Refused } from "../api.ts";
import type { LinkStatus } from "./live.ts";
import type { HubTools } from "./tools.ts";

/** Who a link is for. `A` is what one connection is aimed at. */
export interface LinkOwner<A extends { readonly url: string }> {
  /** What the next connection is to be aimed at. */
  aim(): A;
  /** A connection said hello; `broken` when there was a time without any before it. */
  opened(aim: A, hello: unknown, broken: boolean): void;
  /** What came; `late` on a connection that another one has taken the place of. */
  event(name: string, data: unknown, late: boolean): void;
  /** The server found `aim` wrong; the next one should be another. */
  refused(aim: A): void;
  /** The status changed; `reason` in the server's words. */
  status(status: LinkStatus, reason?: string): void;
}

/** Several changes of the aim make one new connection. ms */
const REAIM_MS = 30;
/** How long a connection is still listened to when another has taken its place: what it had to tell may be on the way. ms */
const LATE_MS = 1_000;
/** A connection that held so long was a good one: the next failure is a first one. ms */
const GOOD_MS = 5_000;
const SHUT_OUT_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** One connection that is opened again whenever it breaks, and anew, without a gap, when it is to be aimed elsewhere. */
export class Link<A extends { readonly url: string }> {
  status: LinkStatus = "connecting";
  reason: string | undefined;
  readonly #tools: HubTools;
  readonly #owner: LinkOwner<A>;
  /** The one that said hello, and the one that is to take its place. */
  #current: Line<A> | undefined;
  #next: Line<A> | undefined;
  readonly #late = new Set<Line<A>>();
  #failures = 0;
  #broken = true;
  /** What is waited for: the time to try again, or to aim anew. */
  #waiting: { readonly forTrying: boolean; readonly ms: number; readonly cancel: () => void } | undefined;
  #good = (): void => undefined;

  constructor(tools: HubTools, owner: LinkOwner<A>) {
    this.#tools = tools;
    this.#owner = owner;
  }

  /** Connects. */
  start(): void {
    this.#stopWaiting();
    this.#next?.end();
    this.#next = new Line(this.#owner.aim(), this.#tools, {
      event: (line, name, data) => this.#heard(line, name, data),
      ended: (line, refusal) => this.#ended(line, refusal),
    });
  }

  /** Whether there is a connection that said hello. */
  get isConnected(): boolean {
    return this.#current !== undefined;
  }

  /** Connects anew, in `ms`, to what the owner aims at then; the connection that there is goes on until the new one can. */
  reaim(ms = REAIM_MS): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (!waiting.forTrying && waiting.ms > ms)) this.#wait(ms, false);
  }

  /** Tries again now, if that is being waited for. */
  retry(): void {
    if (this.#waiting?.forTrying === true) this.start();
  }

  /** Ends it; it can be started again. */
  close(): void {
    this.#stopWaiting();
    this.#good();
    for (const line of [this.#current, this.#next, ...this.#late]) line?.end();
    this.#late.clear();
    this.#current = undefined;
    this.#next = undefined;
    this.#broken = true;
    this.#failures = 0;
    this.status = "connecting";
  }

  #heard(line: Line<A>, name: string, data: unknown): void {
    if (name === "hello") this.#helloed(line, data);
    else this.#owner.event(name, data, this.#late.has(line));
  }

  #helloed(line: Line<A>, data: unknown): void {
    const before = this.#current;
    if (before !== undefined) {
      this.#late.add(before);
      this.#tools.after(LATE_MS, () => {
        before.end();
        this.#late.delete(before);
      });
    }
    this.#current = line;
    this.#next = undefined;
    const broken = this.#broken;
    this.#broken = false;
    this.#good();
    this.#good = this.#tools.after(GOOD_MS, () => {
      this.#failures = 0;
    });
    this.#set("live");
    this.#owner.opened(line.aim, data, broken);
  }

  #ended(line: Line<A>, refusal: Refused | undefined): void {
    if (this.#late.delete(line)) return;
    if (line === this.#current) {
      this.#current = undefined;
      this.#broken = true;
      this.#good();
      // One that is on its way already may still come to be.
      if (this.#next === undefined) this.#tryAgain();
      return;
    }
    this.#next = undefined;
    if (refusal?.status === 403) this.#shutOut(refusal);
    else if (refusal !== undefined && refusal.status < 500) this.#aimedWrong(line.aim);
    else this.#tryAgain();
  }

  /** A key that is no good for a new connection is none for the one that there is. */
  #shutOut(refusal: Refused): void {
    this.#current?.end();
    this.#current = undefined;
    this.#broken = true;
    this.#set("shut-out", refusal.message);
    this.#wait(SHUT_OUT_MS, true);
  }

  #aimedWrong(aim: A): void {
    this.#owner.refused(aim);
    this.#tryAgain();
  }

  /** The first time at once: a connection may break for no reason. */
  #tryAgain(): void {
    const pause = this.#failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
    this.#failures++;
    if (pause > 0 && this.#current === undefined) this.#set("gone");
    this.#wait(pause * (0.75 + this.#tools.random() / 2), true);
  }

  #wait(ms: number, forTrying: boolean): void {
    this.#stopWaiting();
    this.#waiting = { forTrying, ms, cancel: this.#tools.after(ms, () => this.start()) };
  }

  #stopWaiting(): void {
    this.#waiting?.cancel();
    this.#waiting = undefined;
  }

  #set(status: LinkStatus, reason?: string): void {
    if (status === this.status && reason === this.reason) return;
    this.status = status;
    this.reason = reason;
    this.#owner.status(status, reason);
  }
}

/** One connection. */
class Line<A extends { readonly url: string }> {
  readonly aim: A;
  readonly end: () => void;

  constructor(
    aim: A,
    tools: HubTools,
    told: {
      event(line: Line<A>, name: string, data: unknown): void;
      ended(line: Line<A>, refusal: Refused | undefined): void;
    },
  ) {
    this.aim = aim;
    this.end = tools.open(aim.url, {
      event: (name, data) => told.event(this, name, data),
      ended: (refusal) => told.ended(this, refusal),
    });
  }
}
