import { expect } from '@jest/globals';
import { SystemClock } from '../../../../src/common/clock.js';
import { UuidGenerator } from '../../../../src/common/ids.js';
import type { OutgoingSms, SubmitResult } from '../../../../src/sms/sms-transport.js';
import type { SmppLinkOptions } from '../../../../src/transports/smpp/smpp-options.js';
import { SmppSmsTransport } from '../../../../src/transports/smpp/smpp-sms-transport.js';
import { RecordingSink } from '../recording-sink.js';
import { NetSmpp, type NetSmppScript } from './net-smpp.js';

/** A transport with short time-outs, and Net::SMPP as its carrier. */
export class NetSmppCarriage {
  readonly sink = new RecordingSink();
  private readonly transport: SmppSmsTransport;
  private stopped: Promise<void> | undefined;

  static async start(script: NetSmppScript, link: Partial<SmppLinkOptions> = {}): Promise<NetSmppCarriage> {
    const carriage = new NetSmppCarriage(await NetSmpp.start(script), link);
    await carriage.transport.start(carriage.sink);
    return carriage;
  }

  private constructor(
    readonly smsc: NetSmpp,
    link: Partial<SmppLinkOptions>,
  ) {
    const account = { host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' };
    const quick = { reconnectMs: 10, reconnectMaxMs: 50, throttlePauseMs: 1 };
    const links = [{ ...account, ...quick, ...link }];
    this.transport = new SmppSmsTransport({ links }, new SystemClock(), new UuidGenerator());
  }

  /** Resolves when the carrier's own record of all SMS is complete too. */
  async submit(sms: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    const results = await this.transport.submit(sms, new AbortController().signal);
    await this.smsc.caughtUp();
    return results;
  }

  /** Checks that each SMS was submitted at most once, and that the carrier took each SMS that was reported as sent. */
  expectNoneTwice(sms: readonly OutgoingSms[], results: readonly SubmitResult[]): void {
    const times = this.smsc.takenTimes();
    expect(Math.max(...times.values())).toBe(1);
    const sent = sms.filter((_, index) => results[index]?.kind === 'sent');
    expect(sent.filter(({ number }) => times.get(number) !== 1)).toEqual([]);
  }

  /** Checks that each SMS has one receipt, under the id of its answer. */
  expectReceipts(sms: readonly OutgoingSms[], results: readonly SubmitResult[]): void {
    const found = sms.map((_, index) => {
      const [id = ''] = results[index]?.carrierIds ?? [];
      const own = this.sink.receipts_.filter(({ ids }) => ids.includes(id));
      return own.map(({ number, status }) => ({ number, status }));
    });
    expect(found).toEqual(sms.map(({ number }) => [{ number, status: 'delivered' }]));
  }

  stop(): Promise<void> {
    this.stopped ??= this.transport.stop();
    return this.stopped;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.smsc.close();
  }
}

/** How many results there are of each kind. */
export function kindsOf(results: readonly SubmitResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of results) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
