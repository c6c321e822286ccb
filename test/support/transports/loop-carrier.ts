import { type OutgoingSms, type SmsSink, SmsTransport, type SubmitResult } from '../../../src/sms/sms-transport.js';
import type { ReceivedSms, SmsTransportHarness } from '../../contract/transport/transport-contract.js';

const OUTCOMES = { taken: '0', refused: '1', busy: '2', lost: '3' } as const;

/** A carrier and its transport in one object, correct in everything. Tests build faults into it. */
export class LoopCarrier extends SmsTransport {
  override readonly name = 'loop';
  override readonly repeat = 'at-most-once';
  readonly phones = new Map<string, (ReceivedSms & { readonly id: string })[]>();
  sink: SmsSink | undefined;
  override capacity?: () => number;
  private ids = 0;

  override async start(sink: SmsSink): Promise<void> {
    this.sink = sink;
  }

  override async submit(batch: readonly OutgoingSms[], signal: AbortSignal): Promise<readonly SubmitResult[]> {
    return batch.map((sms) => (signal.aborted ? { kind: 'retry', error: 'stopping' } : this.take(sms)));
  }

  take(sms: OutgoingSms): SubmitResult {
    const outcome = sms.number[4];
    if (outcome === OUTCOMES.refused) return { kind: 'refused', error: '11' };
    if (outcome === OUTCOMES.busy) return { kind: 'retry', error: '88' };
    const id = this.keep(sms);
    if (outcome === OUTCOMES.lost) return { kind: 'unknown', error: 'no answer' };
    return { kind: 'sent', carrierIds: [id], route: 'loop-1' };
  }

  keep({ number, signature, text }: OutgoingSms): string {
    this.ids += 1;
    const id = `id-${this.ids}`;
    this.phones.set(number, [...(this.phones.get(number) ?? []), { signature, text, id }]);
    return id;
  }

  async report(number: string, status: 'delivered' | 'undelivered'): Promise<boolean> {
    const id = this.phones.get(number)?.at(-1)?.id ?? '';
    return this.stored(this.sink?.receipts([{ route: 'loop-1', ids: [id.toUpperCase(), id], number, status }]));
  }

  say(from: string, to: string, text: string): Promise<boolean> {
    return this.stored(this.sink?.inbound([{ route: 'loop-1', from, to, text }]));
  }

  async stored(storing: Promise<void> | undefined): Promise<boolean> {
    return (
      storing?.then(
        () => true,
        () => false,
      ) ?? false
    );
  }

  override async stop(): Promise<void> {}
}

/** The carrier as the contract suite needs it. */
export function loopHarness(carrier: LoopCarrier): SmsTransportHarness {
  return {
    transport: carrier,
    number: (outcome, index) => `2267${OUTCOMES[outcome]}${String(index).padStart(6, '0')}`,
    received: (number) => (carrier.phones.get(number) ?? []).map(({ signature, text }) => ({ signature, text })),
    report: (number, status) => carrier.report(number, status),
    say: (from, to, text) => carrier.say(from, to, text),
    close: async () => undefined,
  };
}
