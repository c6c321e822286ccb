import { afterEach } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';
import type { OutgoingSms, ReportResult, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import type { SmppLinkOptions, SmppOptions } from '../../../src/transports/smpp/smpp-options.js';
import { SmppSmsTransport } from '../../../src/transports/smpp/smpp-sms-transport.js';
import { eventually } from '../common/eventually.js';
import { RecordingSink } from './recording-sink.js';
import { TestSmsc } from './smsc/test-smsc.js';

/** A transport on a clock of its own, with SMSCs to connect to. */
export class SmppFixture {
  readonly clock = new FakeClock();
  readonly sink = new RecordingSink();
  readonly stopping = new AbortController();
  private readonly opened: { close(): Promise<void> }[] = [];

  async smsc(options?: Parameters<typeof TestSmsc.listen>[0]): Promise<TestSmsc> {
    const smsc = await TestSmsc.listen(options);
    this.opened.push(smsc);
    return smsc;
  }

  /** Starts a transport. Each link needs at least a port. */
  async start(
    links: readonly (Partial<SmppLinkOptions> & { port: number })[],
    options: Omit<SmppOptions, 'links'> = {},
  ): Promise<SmppSmsTransport> {
    const account = { host: '127.0.0.1', systemId: 'client', password: 'secret' };
    const all = { ...options, links: links.map((link) => ({ ...account, ...link })) };
    const transport = new SmppSmsTransport(all, this.clock, new UuidGenerator());
    await transport.start(this.sink);
    this.opened.unshift({ close: () => this.stop(transport) });
    return transport;
  }

  /** Stops a transport, and advances the clock for its last timers. */
  async stop(transport: SmppSmsTransport): Promise<void> {
    let stopped = false;
    const stopping = transport.stop().then(() => {
      stopped = true;
    });
    await this.until(() => stopped);
    await stopping;
  }

  submit(
    transport: SmppSmsTransport,
    batch: readonly OutgoingSms[],
    report?: ReportResult,
  ): Promise<readonly SubmitResult[]> {
    return transport.submit(batch, this.stopping.signal, report);
  }

  /** Submits and advances the clock until the results are there. */
  async results(
    transport: SmppSmsTransport,
    batch: readonly OutgoingSms[],
    stepMs?: number,
  ): Promise<readonly SubmitResult[]> {
    return this.settled(this.submit(transport, batch), stepMs);
  }

  /** Advances the clock until a promise has settled. */
  async settled<T>(promise: Promise<T>, stepMs?: number): Promise<T> {
    let over = false;
    const end = () => {
      over = true;
    };
    promise.then(end, end);
    await this.until(() => over, stepMs);
    return promise;
  }

  /**
   * Advances the clock until the condition is true. In short steps, so that answers on the loopback do not look late.
   */
  async until(isSo: () => boolean, stepMs = 5): Promise<void> {
    await eventually(isSo, Boolean, { clock: this.clock, stepMs });
  }

  async close(): Promise<void> {
    for (const each of this.opened.splice(0)) await each.close();
  }
}

/** A fixture for each test of a file. */
export function smppFixture(): () => SmppFixture {
  let fixture: SmppFixture | undefined;
  afterEach(async () => {
    await fixture?.close();
    fixture = undefined;
  });
  return () => {
    fixture ??= new SmppFixture();
    return fixture;
  };
}

/** SMS with these texts, from INFOS to one number each. */
export function smsOf(...texts: readonly string[]): OutgoingSms[] {
  return texts.map((text, position) => ({
    smsId: 'send',
    position,
    signature: 'INFOS',
    number: String(22_670_000_000 + position),
    text,
    attempt: 1,
  }));
}

/** This many short SMS with different texts. */
export function manySms(count: number): OutgoingSms[] {
  return smsOf(...Array.from({ length: count }, (_, index) => `text ${index}`));
}

/** The contents of a submit without its header, read as ASCII. */
export function textOf({ esmClass, shortMessage }: { esmClass: number; shortMessage: Uint8Array }): string {
  const header = esmClass & 0x40 ? 1 + (shortMessage[0] ?? 0) : 0;
  return Buffer.from(shortMessage.subarray(header)).toString('latin1');
}
