import { type OutgoingSms, SmsTransport, type SubmitResult } from '../../src/sms/sms-transport.js';
import { Gate } from './delivery-world.js';

/** A carrier that holds every batch on the wire until its gate opens, and then delivers it. */
export class GatedTransport extends SmsTransport {
  override readonly name = 'gated';
  override readonly repeat = 'at-most-once';
  readonly gate = new Gate();
  readonly batches: (readonly OutgoingSms[])[] = [];
  started = 0;
  stopped = 0;
  /** Whether batches were on the wire when it was stopped. */
  stoppedEarly = false;
  private under = 0;

  override async start(): Promise<void> {
    this.started++;
  }

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    this.batches.push(batch);
    this.under++;
    await this.gate.opened;
    this.under--;
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override async stop(): Promise<void> {
    this.stopped++;
    this.stoppedEarly ||= this.under > 0;
  }
}
