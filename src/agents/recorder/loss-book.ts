import type { Loss } from "../recording.ts";

/** Who is told of what can't be written. */
export interface LossTold {
  /** Records are lost. */
  lost(loss: Loss): void;
  /** Records can't be written yet, and wait. */
  late(loss: Loss): void;
}

/**
 * Keeps count of what a recording has lost, and tells it: once when records have to wait for the first time, and no more than
 * once each time that it can't be written and loses some.
 */
export class LossBook {
  readonly #tell: LossTold;
  #records = 0;
  /** Of those, what no notice in the file tells of. */
  #unmarked = 0;
  #removed = 0;
  #why = "";
  #told = 0;
  #toldOfFault = false;
  #toldOfWaiting = false;

  constructor(tell: LossTold) {
    this.#tell = tell;
  }

  /** What is lost. */
  get loss(): Loss | undefined {
    return this.#records === 0 ? undefined : { records: this.#records, why: this.#why };
  }

  /** Writing has failed; `waiting` records are kept until it succeeds. */
  failing(why: string, waiting: number): void {
    if (this.#toldOfWaiting) return;
    this.#toldOfWaiting = true;
    this.#tell.late({ records: waiting, why });
  }

  /** `records` are given up. */
  giveUp(why: string, records = 1): void {
    this.#why = why;
    this.#records += records;
    this.#unmarked += records;
    if (!this.#toldOfFault) this.#tellLoss();
  }

  /** Records that had been written are no longer there. */
  removed(records: number): void {
    this.#why = "ENOENT";
    this.#records += records;
    this.#removed += records;
    this.#tellLoss();
  }

  /** Writing has succeeded. */
  recovered(): void {
    this.#toldOfFault = false;
  }

  /** Nothing more is written: what was not told is told. */
  close(): void {
    if (this.#records > this.#told) this.#tellLoss();
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

  #tellLoss(): void {
    const { loss } = this;
    if (loss === undefined) return;
    this.#told = loss.records;
    this.#toldOfFault = true;
    this.#tell.lost(loss);
  }
}
