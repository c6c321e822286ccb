import { setTimeout as pause } from 'node:timers/promises';
import { receiptOf } from './receipt.js';
import type { SmscConnection } from './smsc-connection.js';
import type { SmscSubmit } from './smsc-submit.js';
import { TestSmsc } from './test-smsc.js';

/** How a carrier misbehaves. */
export interface CarrierFaults {
  /** The seed of its random numbers, so that a run can be repeated. */
  readonly seed: number;
  /** The share of the submits that is throttled, 0 to 1. */
  readonly throttled: number;
  /** After every this many submits the link is cut, with everything that is on it. */
  readonly dropEvery: number;
  /** The share of the answers that comes twice, 0 to 1. */
  readonly twice: number;
  /** How long it takes to answer an SMS that it took, in milliseconds. Default 0. */
  readonly answerMs?: number;
}

/**
 * A carrier that throttles, cuts its links and answers twice. It delivers all SMS that it takes, and repeats receipts
 * until they are answered.
 */
export class FaultyCarrier {
  /** How many SMS it got for each number, without those that it throttled. */
  readonly taken = new Map<string, number>();
  throttled = 0;
  drops = 0;
  twice = 0;
  /** Submits that it took and has not answered. */
  inHand = 0;
  private submits = 0;
  private readonly random: () => number;
  private closed = false;

  static async listen(faults: CarrierFaults): Promise<FaultyCarrier> {
    return new FaultyCarrier(faults, await TestSmsc.listen());
  }

  private constructor(
    private readonly faults: CarrierFaults,
    private readonly smsc: TestSmsc,
  ) {
    this.random = seeded(faults.seed);
    smsc.onSubmit = (submit) => this.take(submit);
  }

  get port(): number {
    return this.smsc.port;
  }

  close(): Promise<void> {
    this.closed = true;
    return this.smsc.close();
  }

  private take(submit: SmscSubmit): void {
    const { throttled, dropEvery, twice } = this.faults;
    if (++this.submits % dropEvery === 0) {
      this.note(submit);
      this.drops++;
      submit.connection.drop();
    } else if (submit.connection.closed) {
      // The submit was on the wire when the link was cut: the carrier has it, but the answer is lost.
      this.note(submit);
    } else if (this.random() < throttled) {
      this.throttled++;
      submit.answer({ status: 0x58 });
    } else {
      this.note(submit);
      void this.accept(submit, this.random() < twice);
    }
  }

  private async accept(submit: SmscSubmit, twice: boolean): Promise<void> {
    const { answerMs = 0 } = this.faults;
    if (answerMs > 0) {
      this.inHand++;
      await pause(answerMs);
      this.inHand--;
    }
    submit.answer();
    void this.report(submit);
    if (!twice) return;
    this.twice++;
    submit.answer();
  }

  private note({ pdu }: SmscSubmit): void {
    const number = pdu.destination.address;
    this.taken.set(number, (this.taken.get(number) ?? 0) + 1);
  }

  /** Sends the receipt until it is answered, on another link if its own was cut. */
  private async report(submit: SmscSubmit): Promise<void> {
    const receipt = receiptOf(submit.pdu, { id: submit.idAs('decimal') });
    for (let link: SmscConnection | undefined = submit.connection; !this.closed; link = this.boundLink()) {
      const answer = link?.closed === false ? await link.deliver(receipt).catch(() => undefined) : undefined;
      if (answer?.status === 0) return;
      await pause(1);
    }
  }

  private boundLink(): SmscConnection | undefined {
    return this.smsc.connections.findLast(({ closed, bind }) => !closed && bind !== undefined);
  }
}

/** mulberry32 */
function seeded(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
