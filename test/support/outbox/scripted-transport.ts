import type { RepeatPolicy } from '../../../src/outbox/delivery/delivery-result.js';
import {
  type CallbackHandler,
  type OutgoingSms,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../../../src/sms/sms-transport.js';

type Answer = (sms: OutgoingSms, index: number) => SubmitResult;

/** A carrier that does what a test says and records what it received. */
export class ScriptedTransport extends SmsTransport {
  override readonly name = 'scripted';
  override readonly repeat: RepeatPolicy = 'at-most-once';
  override readonly callbacks = new Map<string, CallbackHandler>();
  readonly taken: OutgoingSms[] = [];
  private heard: SmsSink | undefined;

  /** @param answer the result of an SMS; `before` is awaited while the batch is on the wire */
  constructor(
    public answer: Answer = (sms) => ({ kind: 'sent', carrierIds: [`${sms.number}-1`] }),
    public before: (batch: readonly OutgoingSms[]) => Promise<void> = async () => undefined,
  ) {
    super();
  }

  get sink(): SmsSink {
    if (!this.heard) throw new Error('The transport was not started.');
    return this.heard;
  }

  override async start(sink: SmsSink): Promise<void> {
    this.heard = sink;
  }

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    this.taken.push(...batch);
    await this.before(batch);
    return batch.map(this.answer);
  }

  override async stop(): Promise<void> {}
}
