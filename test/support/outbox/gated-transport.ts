import {
  type OutgoingSms,
  type ReportResult,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../../../src/sms/sms-transport.js';
import { Gate } from './delivery-fixture.js';

/** A carrier that holds every batch on the wire until its gate opens, and then delivers it unless told otherwise. */
export class GatedTransport extends SmsTransport {
  override readonly name = 'gated';
  override readonly repeat: SmsTransport['repeat'] = 'at-most-once';
  readonly gate = new Gate();
  readonly batches: (readonly OutgoingSms[])[] = [];
  started = 0;
  stopped = 0;
  /** Whether batches were on the wire when it was stopped. */
  stoppedEarly = false;
  answer: SubmitResult = { kind: 'sent', final: 'delivered' };
  sink: SmsSink | undefined;
  /** Reports one SMS of the batch that came last. */
  report: ReportResult = () => undefined;
  private under = 0;

  /** @param atStop opens the gate when it is stopped, like links that finish what they still have */
  constructor(private readonly atStop: 'open' | 'stay' = 'stay') {
    super();
  }

  override async start(sink: SmsSink): Promise<void> {
    this.started++;
    this.sink = sink;
  }

  override async submit(
    batch: readonly OutgoingSms[],
    _signal: AbortSignal,
    report: ReportResult = () => undefined,
  ): Promise<readonly SubmitResult[]> {
    this.batches.push(batch);
    this.report = report;
    this.under++;
    await this.gate.opened;
    this.under--;
    return batch.map(() => this.answer);
  }

  override async stop(): Promise<void> {
    this.stopped++;
    this.stoppedEarly ||= this.under > 0;
    if (this.atStop === 'open') this.gate.open();
  }
}
