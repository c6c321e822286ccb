import type { OutgoingSms, ReportResult, SubmitResult } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';

/** The link that a part was submitted on. */
interface LinkRef {
  /** The link's name. */
  readonly link: string;
  readonly route: string;
}

/** Why a part was not accepted, in the terms of `DeliveryResult`. */
interface NotTaken {
  readonly kind: 'refused' | 'retry';
  readonly error: string;
  /** The carrier's code. */
  readonly code?: string;
  /** True: the part was never submitted to the carrier. */
  readonly unasked?: true;
}

/** Why a submission ends early. */
export interface Ending {
  readonly error: string;
  /** True: even a submission with accepted parts ends. False: such a submission continues. */
  readonly begunToo: boolean;
  /**
   * A submission that the carrier has not refused is `postponed` until this moment, in milliseconds since the epoch. This does
   * not count as an attempt. Undefined: the submission is tried again as after a failed attempt.
   */
  readonly until?: number;
  /** With `until`. True: the carrier is failing, and the SMS waits for it for a limited time only. */
  readonly away?: true;
}

/**
 * The submission of one SMS, part by part. Each part is submitted after the previous one was accepted. So parts keep their order,
 * and a refused message costs one part.
 *
 * The result of a message of several parts is `sent` if all parts were accepted. It is `undelivered` if a later part was refused
 * for good or could not be submitted in time. In this case the first parts were accepted and paid for, the text can never be
 * complete, and a new start would send the first part twice. It is `unknown` if nobody knows whether a part was accepted.
 */
export class Submission {
  /** Resolves with the result at the end. */
  readonly result: Promise<SubmitResult>;
  /** The link of the last part. The other parts stay on its route. */
  carriedBy: LinkRef | undefined;
  /** The number of temporary or unclear refusals of the current part. */
  refusals = 0;
  private parts: readonly ShortMessage[] = [];
  private readonly ids: string[] = [];
  private doubtful = false;
  private wasRefused = false;
  private onTheWire = false;
  private ending: Ending | undefined;
  private isOver = false;
  private done: (result: SubmitResult) => void = () => undefined;

  /** @param report called once, at the end */
  constructor(
    readonly sms: OutgoingSms,
    report?: ReportResult,
  ) {
    this.result = new Promise((resolve) => {
      this.done = (result) => {
        report?.(sms, result);
        resolve(result);
      };
    });
  }

  /** Whether the carrier has or may have accepted a part. */
  get begun(): boolean {
    return this.ids.length > 0 || this.doubtful;
  }

  /** Whether the message has one part. */
  get single(): boolean {
    return this.parts.length === 1;
  }

  get over(): boolean {
    return this.isOver;
  }

  /**
   * Returns the next part and marks it as submitted. Undefined if `cut` returns no parts.
   * @param cut cuts the message for the link
   */
  send(by: LinkRef, cut: () => readonly ShortMessage[]): ShortMessage | undefined {
    if (!this.begun && by.link !== this.carriedBy?.link) this.parts = cut();
    this.carriedBy = by;
    this.onTheWire = true;
    return this.parts[this.ids.length];
  }

  /** Records that the carrier accepted the part. Returns true if there are more parts to submit. */
  taken(id: string, at: number): boolean {
    this.ids.push(id);
    this.refusals = 0;
    this.doubtful = false;
    if (this.ids.length === this.parts.length) {
      this.conclude({ kind: 'sent' }, undefined, at);
      return false;
    }
    return this.continues(at);
  }

  /** Records that the part was refused for now. Returns true if it may be submitted again. */
  notTaken(at: number): boolean {
    this.wasRefused = true;
    return this.continues(at);
  }

  /**
   * Records that the part was not submitted, or was refused for another reason than the message. Returns true if it may be
   * submitted.
   */
  notSent(at: number): boolean {
    return this.continues(at);
  }

  /**
   * Records that the part may have been accepted and will be repeated (`resendUnknown`). Returns true if it may be submitted
   * again.
   */
  inDoubt(at: number): boolean {
    this.doubtful = true;
    return this.continues(at);
  }

  /** Ends the submission, because the part was refused for good (`refused`) or for now (`retry`). */
  notTakenFor({ kind, error, code, unasked }: NotTaken, at: number): void {
    // The part was submitted twice and refused once, so the first submit may have been accepted.
    if (this.doubtful) this.conclude({ kind: 'unknown', error }, code, at);
    else if (!this.begun && kind === 'refused' && unasked) this.conclude({ kind, error, unasked }, code, at);
    else if (!this.begun) this.conclude({ kind, error }, code, at);
    else this.conclude({ kind: 'sent', final: 'undelivered', error: this.withPart(error) }, code, at);
  }

  /** Ends the submission, because nobody knows whether the part was accepted. */
  unknown(error: string, at: number): void {
    this.conclude({ kind: 'unknown', error: this.withPart(error) }, undefined, at);
  }

  /** Ends the submission as soon as no part of it waits for an answer. */
  giveUp(ending: Ending, at: number): void {
    const { error, begunToo, until, away } = ending;
    if (this.over || (this.begun && !begunToo)) return;
    if (this.onTheWire) this.ending = ending;
    else if (until !== undefined && !this.begun && !this.wasRefused) {
      this.conclude({ kind: 'postponed', error, until, ...(away && { away }) }, undefined, at);
    } else this.notTakenFor({ kind: 'retry', error }, at);
  }

  private continues(at: number): boolean {
    this.onTheWire = false;
    const { ending } = this;
    this.ending = undefined;
    if (ending) this.giveUp(ending, at);
    return !this.over;
  }

  private withPart(error: string): string {
    if (this.single) return error;
    return `${error} (part ${this.ids.length + 1} of ${this.parts.length})`;
  }

  private conclude(result: SubmitResult, code: string | undefined, at: number): void {
    if (this.over) return;
    const { parts, ids } = this;
    const by = result.kind === 'postponed' ? undefined : this.carriedBy;
    const [reference] = ids;
    // There is one entry per part, so that receipts of some parts do not count as receipts of all parts.
    const carrierIds = parts.map((_, index) => ids[index] ?? '');
    // The number of segments is not known if the carrier cuts the text itself.
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

/** The submissions of one batch and their results. */
export class SubmissionBatch {
  readonly submissions: readonly Submission[];
  /** The results in the order of the batch, after the last one has ended. */
  readonly results: Promise<readonly SubmitResult[]>;

  /** @param report called for each submission when it ends */
  constructor(batch: readonly OutgoingSms[], report?: ReportResult) {
    this.submissions = batch.map((sms) => new Submission(sms, report));
    this.results = Promise.all(this.submissions.map(({ result }) => result));
  }

  /** Ends each submission as soon as no part of it waits for an answer. */
  giveUp(ending: Ending, at: number): void {
    for (const submission of this.submissions) submission.giveUp(ending, at);
  }
}
