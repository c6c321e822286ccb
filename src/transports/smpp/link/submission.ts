import type { OutgoingSms, SubmitResult, TellResult } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';

/** Which link a part went out on. */
interface Carrying {
  /** The link's name. */
  readonly link: string;
  readonly route: string;
}

/** Why the carrier has not taken it, in the words of `DeliveryResult`. */
interface NotTaken {
  readonly kind: 'refused' | 'retry';
  readonly error: string;
  /** The carrier's. */
  readonly code?: string;
  /** It never got as far as the carrier. */
  readonly unasked?: true;
}

/** Why a submission ends before it is through. */
export interface Ending {
  readonly error: string;
  /** Also when parts of it were taken; else it may go on once one was. */
  readonly begunToo: boolean;
  /** One that never went out only waited for its turn: that is no failed attempt. */
  readonly postpones?: boolean;
}

/**
 * One SMS on its way to the carrier, part by part: the next part goes out when the one before was taken, so that parts
 * keep their order and a message that is refused costs one part.
 *
 * What becomes of a message of several parts: all taken, `sent`. A later one refused for good, or not sent while there was
 * time: part of it was taken and paid, and the whole will never arrive, so it is `undelivered`; starting again would send
 * its first part twice. The fate of one not known: `unknown`.
 */
export class Submission {
  /** What became of it, once it is over. */
  readonly result: Promise<SubmitResult>;
  /** The link that carried the last part; the rest stays on its route. */
  carriedBy: Carrying | undefined;
  /** How often the present part was refused for a while, or without a clear reason. */
  refusals = 0;
  private parts: readonly ShortMessage[] = [];
  private readonly ids: string[] = [];
  private doubtful = false;
  private turnedDown = false;
  private onTheWire = false;
  private ending: Ending | undefined;
  private isOver = false;
  private done: (result: SubmitResult) => void = () => undefined;

  /** @param tell is called once, when it is over */
  constructor(
    readonly sms: OutgoingSms,
    tell?: TellResult,
  ) {
    this.result = new Promise((resolve) => {
      this.done = (result) => {
        tell?.(sms, result);
        resolve(result);
      };
    });
  }

  /** Whether the carrier has, or may have, something of it. */
  get begun(): boolean {
    return this.ids.length > 0 || this.doubtful;
  }

  /** Whether it is one part only. */
  get single(): boolean {
    return this.parts.length === 1;
  }

  get over(): boolean {
    return this.isOver;
  }

  /** The next part, and from now on it is on the wire. `cut` makes the parts as the link wants them; undefined when it makes none. */
  send(by: Carrying, cut: () => readonly ShortMessage[]): ShortMessage | undefined {
    if (!this.begun && by.link !== this.carriedBy?.link) this.parts = cut();
    this.carriedBy = by;
    this.onTheWire = true;
    return this.parts[this.ids.length];
  }

  /** The carrier took the part. True when there are more to send. */
  taken(id: string, at: number): boolean {
    this.ids.push(id);
    this.refusals = 0;
    this.doubtful = false;
    if (this.ids.length === this.parts.length) {
      this.conclude({ kind: 'sent' }, undefined, at);
      return false;
    }
    return this.goesOn(at);
  }

  /** The part was not taken. True when it may be sent again. */
  notTaken(at: number): boolean {
    this.turnedDown = true;
    return this.goesOn(at);
  }

  /** The part did not go out after all. True when it may be sent. */
  notSent(at: number): boolean {
    return this.goesOn(at);
  }

  /** Nobody knows whether the part was taken, and it is to be sent again all the same. True when it may. */
  inDoubt(at: number): boolean {
    this.doubtful = true;
    return this.goesOn(at);
  }

  /** The part was not taken: `refused` for good, or (`retry`) not now. */
  notTakenFor({ kind, error, code, unasked }: NotTaken, at: number): void {
    // Sent twice, refused once: the first may have been taken.
    if (this.doubtful) this.conclude({ kind: 'unknown', error }, code, at);
    else if (!this.begun && kind === 'refused' && unasked) this.conclude({ kind, error, unasked }, code, at);
    else if (!this.begun) this.conclude({ kind, error }, code, at);
    else this.conclude({ kind: 'sent', final: 'undelivered', error: this.place(error) }, code, at);
  }

  /** Nobody knows whether the part was taken. */
  unknown(error: string, at: number): void {
    this.conclude({ kind: 'unknown', error: this.place(error) }, undefined, at);
  }

  /** Ends it when nothing of it is on the wire, at once or as soon as that is so. */
  giveUp(ending: Ending, at: number): void {
    const { error, begunToo, postpones } = ending;
    if (this.over || (this.begun && !begunToo)) return;
    if (this.onTheWire) this.ending = ending;
    else if (postpones && !this.begun && !this.turnedDown)
      this.conclude({ kind: 'postponed', error, until: at }, undefined, at);
    else this.notTakenFor({ kind: 'retry', error }, at);
  }

  private goesOn(at: number): boolean {
    this.onTheWire = false;
    const { ending } = this;
    this.ending = undefined;
    if (ending) this.giveUp(ending, at);
    return !this.over;
  }

  private place(error: string): string {
    if (this.single) return error;
    return `${error} (part ${this.ids.length + 1} of ${this.parts.length})`;
  }

  private conclude(result: SubmitResult, code: string | undefined, at: number): void {
    if (this.over) return;
    const { parts, ids } = this;
    const by = result.kind === 'postponed' ? undefined : this.carriedBy;
    const [reference] = ids;
    // A place for each part, so that the receipts of some are not taken for those of all.
    const carrierIds = parts.map((_, index) => ids[index] ?? '');
    // Of a text that the carrier cuts itself nobody here knows.
    const counted = parts.every(({ shortMessage }) => shortMessage.length > 0);
    this.isOver = true;
    this.done({
      ...result,
      ...(by ? { route: by.route } : {}),
      ...(reference ? { reference } : {}),
      ...(ids.length > 0 ? { carrierIds, ...(counted ? { segments: parts.length } : {}) } : {}),
      ...(by
        ? { attempts: [{ route: by.link, outcome: result.kind, at, ...(code === undefined ? {} : { code }) }] }
        : {}),
    });
  }
}

/** The submissions of one batch, and what became of them all. */
export class SubmissionBatch {
  readonly submissions: readonly Submission[];
  /** In the order of the batch, once the last one is over. */
  readonly results: Promise<readonly SubmitResult[]>;

  /** @param tell is called for each as soon as it is over */
  constructor(batch: readonly OutgoingSms[], tell?: TellResult) {
    this.submissions = batch.map((sms) => new Submission(sms, tell));
    this.results = Promise.all(this.submissions.map(({ result }) => result));
  }

  /** Ends those of which nothing is on the wire, and the others as soon as that is so. */
  giveUp(ending: Ending, at: number): void {
    for (const submission of this.submissions) submission.giveUp(ending, at);
  }
}
