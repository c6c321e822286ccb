import { Injectable } from '@nestjs/common';
import { type OutgoingSms, SmsTransport, type SubmitResult } from '../../../src/sms/sms-transport.js';

/** A host's own carrier, which records what it received. */
@Injectable()
export class RecordingTransport extends SmsTransport {
  override readonly name: string = 'recording';
  override readonly repeat = 'at-least-once';
  readonly taken: OutgoingSms[] = [];
  started = 0;
  stopped = 0;

  override async start(): Promise<void> {
    this.started++;
  }

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    this.taken.push(...batch);
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override async stop(): Promise<void> {
    this.stopped++;
  }
}
