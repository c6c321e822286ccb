import { expect, test } from '@jest/globals';
import { SafeTelemetry } from '../../../src/common/telemetry/safe-telemetry.js';
import { NoTelemetry } from '../../../src/common/telemetry/telemetry.js';
import { Instruments } from '../../../src/telemetry/instruments.js';
import {
  METRICS,
  type MetricDefinition,
  type MetricName,
  type MetricsOf,
  OPEN_LABELS,
} from '../../../src/telemetry/metrics.js';
import { PrometheusTelemetry } from '../../../src/telemetry/prometheus/index.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { range } from '../../contract/storage/fixtures.js';
import { type Recorded, RecordingTelemetry } from '../../support/telemetry/recording-telemetry.js';

const NAMES = Object.keys(METRICS) as MetricName[];

/** The label values that options define in a large installation. */
const LARGE: Readonly<Record<keyof typeof OPEN_LABELS, number>> = {
  channel: 3,
  route: 10,
  country: 50,
  account: 1,
  hook: 5,
  worker: 24,
  table: 34,
};

function valuesOf(name: MetricName): readonly (readonly string[])[] {
  const { labels }: MetricDefinition = METRICS[name];
  return Object.values(labels).map((values) =>
    typeof values === 'string' ? range(LARGE[values]).map((i) => `${values}-${i}`) : values,
  );
}

function combinations(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const [first, ...rest] = lists;
  if (!first) return [[]];
  return first.flatMap((value) => combinations(rest).map((others) => [value, ...others]));
}

function isGauge(name: MetricName): name is MetricsOf<'gauge'> {
  return METRICS[name].kind === 'gauge';
}

test('all series of 10 routes and 50 countries are at most 2000', async () => {
  const prometheus = await PrometheusTelemetry.forRoot().useFactory();
  const instruments = new Instruments(new SafeTelemetry(prometheus, new FakeClock()));
  for (const name of NAMES) {
    const series = combinations(valuesOf(name));
    if (isGauge(name)) {
      instruments.observe(name, (observe) => {
        for (const [a, b, c] of series) observe(1, a, b, c);
      });
    } else for (const [a, b, c] of series) instruments.record(name as MetricsOf<'counter'>, 1, a, b, c);
  }
  const lines = (await prometheus.scrape()).body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const name of NAMES)
    expect([name, lines.some((line) => line.startsWith(`messaging_${name}`))]).toEqual([name, true]);
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines.length).toBeLessThanOrEqual(2000);
});

test('a value that is in no list becomes other, so numbers, ids and texts never become labels', () => {
  const reported: Recorded[] = [];
  const telemetry = new RecordingTelemetry((recorded) => reported.push(recorded));
  const instruments = new Instruments(new SafeTelemetry(telemetry, new FakeClock()));
  instruments.record('deliveries_total', 1, 'sms', '22670000000');
  instruments.record('refunded_units_total', 1, 'sms', 'Bonjour', '');
  for (const i of range(60)) instruments.record('codes_sent_total', 1, `C${i}`);
  instruments.record('codes_sent_total', 1, 'C7');
  instruments.record('codes_sent_total', 1, undefined);
  const countries = reported.filter(([name]) => name === 'messaging_codes_sent_total').map(([, country]) => country);
  expect(reported.slice(0, 2)).toEqual([
    ['messaging_deliveries_total', 'sms', 'other'],
    ['messaging_refunded_units_total', 'sms', 'other', ''],
  ]);
  expect(new Set(countries)).toEqual(new Set([...range(OPEN_LABELS.country.most).map((i) => `C${i}`), 'other']));
});

test('an exporter that throws affects nobody, and is logged once a minute', () => {
  const clock = new FakeClock();
  const fail = (): never => {
    throw new Error('22670000000');
  };
  const broken = { counter: () => fail, histogram: () => fail, gauge: () => undefined, span: fail };
  const safe = new SafeTelemetry(broken as never, clock);
  const instruments = new Instruments(safe);
  expect(() => {
    instruments.record('codes_sent_total', 1, 'BF');
    instruments.record('commit_sends', 1);
  }).not.toThrow();
  const span = safe.span('x', { kind: 'internal' });
  expect([span.traceparent, span.isRecorded]).toEqual([undefined, false]);
  const late = new SafeTelemetry(
    { ...broken, span: () => ({ traceparent: 'x', isRecorded: true, end: fail }) } as never,
    clock,
  );
  expect(() => late.span('x', { kind: 'internal' }).end()).not.toThrow();
});

test('without telemetry nothing is kept and nothing is called', () => {
  const instruments = new Instruments(new SafeTelemetry(new NoTelemetry(), new FakeClock()));
  expect(instruments.isOn).toBe(false);
  instruments.record('codes_sent_total', 1, 'BF');
  instruments.observe('storage_up', () => {
    throw new Error('It is read.');
  });
});
