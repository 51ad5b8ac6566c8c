import type { Loss } from "../recording.ts";

/**
 * Keeps count of what a recording has lost, and tells it: once, when writing fails for the first time, and then no more
 * than once each time that it can't be written and loses more.
 */
export class LossBook {
  readonly #tell: (loss: Loss) => void;
  #records = 0;
  /** Of those, what no notice in the file tells of. */
  #unmarked = 0;
  #removed = 0;
  #why = "";
  #told: number | undefined;
  #toldOfFault = false;

  constructor(tell: (loss: Loss) => void) {
    this.#tell = tell;
  }

  /** What is lost, with `more` that can't be written now. */
  loss(more: number): Loss | undefined {
    const records = this.#records + more;
    return records === 0 ? undefined : { records, why: this.#why };
  }

  /** Writing has failed; `waiting` records are kept until it succeeds. */
  failing(why: string, waiting: number): void {
    this.#why = why;
    if (this.#told === undefined) this.#tellOf(waiting);
  }

  /** `records` are given up, `waiting` are kept. */
  giveUp(why: string, waiting: number, records = 1): void {
    this.#why = why;
    this.#records += records;
    this.#unmarked += records;
    if (!this.#toldOfFault) this.#tellOf(waiting);
  }

  /** Records that had been written are no longer there. */
  removed(records: number): void {
    this.#why = "ENOENT";
    this.#records += records;
    this.#removed += records;
    this.#tellOf(0);
  }

  /** Writing has succeeded. */
  recovered(): void {
    this.#toldOfFault = false;
  }

  /** Nothing more is written: what was not told is told. */
  close(): void {
    if (this.#records > (this.#told ?? 0)) this.#tellOf(0);
  }

  /** What the file is to say of records that are missing in it, once; undefined when nothing is to be said. */
  unmarked(): string | undefined {
    const texts = [
      ...(this.#unmarked > 0 ? [`${this.#unmarked} records could not be written here (${this.#why})`] : []),
      ...(this.#removed > 0 ? [`${this.#removed} records before these were removed while the session went on`] : []),
    ];
    this.#unmarked = 0;
    this.#removed = 0;
    return texts.length === 0 ? undefined : texts.join("; ");
  }

  #tellOf(waiting: number): void {
    const loss = this.loss(waiting);
    if (loss === undefined) return;
    this.#told = loss.records;
    this.#toldOfFault = true;
    this.#tell(loss);
  }
}
