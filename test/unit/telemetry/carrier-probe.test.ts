import { expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SafeTelemetry } from '../../../src/common/telemetry/safe-telemetry.js';
import {
  type OutgoingSms,
  type ReportResult,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../../../src/sms/sms-transport.js';
import { measuredTransport } from '../../../src/telemetry/carrier-probe.js';
import { Instruments } from '../../../src/telemetry/instruments.js';
import { PrometheusTelemetry } from '../../../src/telemetry/prometheus/index.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { range } from '../../contract/storage/fixtures.js';

const SMS: readonly OutgoingSms[] = range(4).map((position) => ({
  smsId: 'm',
  position,
  signature: 'INFOS',
  number: '22670000000',
  text: 'x',
  attempt: 1,
}));

/** A transport with these results, the first of which comes early. */
class Scripted extends SmsTransport {
  override readonly name = 'scripted';
  override readonly repeat = 'at-most-once';
  sink: SmsSink | undefined;

  constructor(private readonly results: readonly unknown[]) {
    super();
  }

  override async start(sink: SmsSink): Promise<void> {
    this.sink = sink;
  }

  override async submit(batch: readonly OutgoingSms[], _: AbortSignal, report?: ReportResult): Promise<SubmitResult[]> {
    const [first] = batch;
    if (first) report?.(first, this.results[0] as SubmitResult);
    return this.results as SubmitResult[];
  }

  override async stop(): Promise<void> {}
}

async function submitted(results: readonly unknown[]) {
  const clock = new FakeClock();
  const prometheus = await PrometheusTelemetry.forRoot().useFactory();
  const instruments = new Instruments(new SafeTelemetry(prometheus, clock));
  const transport = new Scripted(results);
  const measured = measuredTransport(transport, instruments, clock);
  const reported: unknown[] = [];
  const given = await measured.submit(SMS, new AbortController().signal, (_, result) => reported.push(result));
  const lines = async (of: string) =>
    (await prometheus.scrape()).body.split('\n').filter((line) => line.startsWith(`messaging_${of}{`));
  return { transport, measured, given, reported, lines };
}

test('each attempt at a carrier is counted once, including one whose result came early', async () => {
  const attempts = [
    { route: 'a', outcome: 'retry', at: 0 },
    { route: 'b', outcome: 'sent', at: 1 },
  ];
  const results = [
    { kind: 'sent' },
    { kind: 'sent', route: 'b', attempts },
    { kind: 'refused', error: '22670000000' },
    { kind: 'postponed', error: 'rate_limited', until: 0 },
  ];
  const { given, reported, lines } = await submitted(results);
  expect([given, reported]).toEqual([results, [results[0]]]);
  expect(new Set(await lines('carrier_submits_total'))).toEqual(
    new Set([
      'messaging_carrier_submits_total{route="scripted",result="sent"} 1',
      'messaging_carrier_submits_total{route="a",result="retry"} 1',
      'messaging_carrier_submits_total{route="b",result="sent"} 1',
      'messaging_carrier_submits_total{route="scripted",result="refused"} 1',
      'messaging_carrier_submits_total{route="scripted",result="postponed"} 1',
    ]),
  );
  expect(await lines('carrier_submit_duration_seconds_count')).toEqual([
    'messaging_carrier_submit_duration_seconds_count{route="scripted"} 2',
    'messaging_carrier_submit_duration_seconds_count{route="b"} 1',
  ]);
});

test('malformed results are passed on unchanged', async () => {
  for (const results of [[null, 5, {}, 'x'], []]) {
    const { given } = await submitted(results);
    expect(given).toEqual(results);
  }
});

test('reports with our own ids count as receipts of the transport', async () => {
  const { transport, measured, lines } = await submitted([]);
  const stored: unknown[] = [];
  const sink = { report: async (reports: unknown) => void stored.push(reports) };
  await measured.start(sink as never);
  const reports = [{ smsId: 'm', position: 0, status: 'delivered' as const }];
  await transport.sink?.report(reports);
  expect(stored).toEqual([reports]);
  expect(await lines('receipts_total')).toEqual(['messaging_receipts_total{route="scripted",status="delivered"} 1']);
});

test('a receipt with an unknown state is counted, although nothing is stored', async () => {
  const { transport, measured, lines } = await submitted([]);
  const given: unknown[] = [];
  await measured.start({ receipts: async (receipts: unknown) => void given.push(receipts) } as never);
  const receipt = { route: 'acme', ids: ['7'], status: 'sent' as const };
  await transport.sink?.receipts([receipt, { ...receipt, unread: true }]);
  expect(given).toHaveLength(1);
  expect(await lines('receipts_total')).toEqual(['messaging_receipts_total{route="acme",status="unread"} 1']);
});

test('if a metric throws, results and reports still get through', async () => {
  const clock = new FakeClock();
  const instruments = new Instruments(new SafeTelemetry(await PrometheusTelemetry.forRoot().useFactory(), clock));
  const record = jest.spyOn(instruments, 'record').mockImplementation(() => {
    throw new TypeError('22670000001');
  });
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const results = SMS.map(() => ({ kind: 'sent' }) as const);
  const transport = new Scripted(results);
  const measured = measuredTransport(transport, instruments, clock);
  const reported: unknown[] = [];
  const given = await measured.submit(SMS, new AbortController().signal, (_, result) => reported.push(result));
  expect([given, reported]).toEqual([results, [results[0]]]);
  const report = jest.fn(async () => undefined);
  const sink = { report, receipts: async () => undefined, inbound: async () => undefined, unread: () => undefined };
  await measured.start(sink);
  await transport.sink?.report([{ smsId: 'm', position: 0, status: 'delivered' }]);
  expect(report).toHaveBeenCalledTimes(1);
  expect(record).toHaveBeenCalledTimes(5);
  expect(logged).toHaveBeenCalledTimes(1);
  logged.mockRestore();
});
