import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DEFAULT_TIMING, type RepeatPolicy } from '../../../../src/outbox/delivery/delivery-result.js';
import type { CarrierCallback } from '../../../../src/sms/sms-transport.js';
import { strictestRepeatPolicy } from '../../../../src/transports/routed/sms-router.js';
import { settled } from '../../../support/common/settled.js';
import { RecordingSink } from '../../../support/transports/recording-sink.js';
import { anSms, RouteDouble, RoutedFixture } from '../../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

const CALL: CarrierCallback = { method: 'POST', url: '', headers: {}, body: new Uint8Array(), secret: undefined };

describe('names of routes and receipts', () => {
  test('receipts are matched under the route, even if two transports have the same name', async () => {
    const [first, second] = [new RouteDouble('smpp'), new RouteDouble('smpp')];
    for (const double of [first, second]) {
      double.answer = () => ({ kind: 'sent', route: 'smpp', carrierIds: ['1'] });
    }
    const fixture = await RoutedFixture.started([
      { name: 'a', transport: first, prefixes: ['226'] },
      { name: 'b', transport: second },
    ]);
    const results = await fixture.submit([anSms('22670000001'), anSms('33612345678')]);
    expect(results.map(({ route }) => route)).toEqual(['a', 'b']);
    await second.sink?.receipts([{ route: 'smpp', ids: ['1'], status: 'delivered' }]);
    await first.sink?.inbound([{ route: 'smpp', from: '22670000001', to: '36111', text: 'STOP' }]);
    await first.sink?.report([{ smsId: 'x', position: 0, status: 'delivered' }]);
    expect(fixture.sink.receipts_).toEqual([{ route: 'b', ids: ['1'], status: 'delivered' }]);
    expect(fixture.sink.texts).toMatchObject([{ route: 'a', text: 'STOP' }]);
    // Both routes may have tried this attempt. Only ids tell which of them may have an SMS without a result.
    await first.sink?.report([{ smsId: 'x', position: 0, status: 'failed', attempt: 1 }]);
    expect(fixture.sink.reports).toHaveLength(1);
  });

  test('the names of a transport’s links are kept, and the attempts show the route too', async () => {
    const transport = new RouteDouble('smpp', () => ({
      kind: 'sent',
      route: 'carrier-2',
      carrierIds: ['1'],
      attempts: [
        { route: 'smpp', outcome: 'retry', at: 1, code: '0x58' },
        { route: 'link-2', outcome: 'sent', at: 2 },
      ],
    }));
    const fixture = await RoutedFixture.started([{ name: 'a', transport }]);
    expect(await fixture.send('22670000001')).toMatchObject({
      route: 'carrier-2',
      attempts: [
        { route: 'a', outcome: 'retry', at: 1, code: '0x58' },
        { route: 'a/link-2', outcome: 'sent', at: 2 },
      ],
    });
    await transport.sink?.receipts([{ route: 'carrier-2', ids: ['1'], status: 'delivered' }]);
    expect(fixture.sink.receipts_).toMatchObject([{ route: 'carrier-2' }]);
  });

  test('a refusal or an unavailable storage reaches the transport that reported', async () => {
    const transport = new RouteDouble('carrier');
    const fixture = await RoutedFixture.started([{ name: 'a', transport }]);
    fixture.sink.open = false;
    await expect(transport.sink?.receipts([{ route: 'carrier', ids: ['1'], status: 'delivered' }])).rejects.toThrow();
  });
});

describe('callbacks', () => {
  test('each carrier is answered by its own transport, whose receipts get the name of the route', async () => {
    const [twilio, orange] = [new RouteDouble('twilio'), new RouteDouble('orange')];
    twilio.callbacks.set('twilio', async (_, sink) => {
      await sink.receipts([{ route: 'twilio', ids: ['1'], status: 'delivered' }]);
      return { status: 204 };
    });
    orange.callbacks.set('orange', async () => ({ status: 200, body: 'ok' }));
    const { router } = await RoutedFixture.open([
      { name: 'world', transport: twilio },
      { name: 'home', transport: orange, prefixes: ['226'] },
    ]);
    expect([...router.callbacks.keys()]).toEqual(['twilio', 'orange']);
    const sink = new RecordingSink();
    expect(await router.callbacks.get('twilio')?.(CALL, sink)).toEqual({ status: 204 });
    expect(sink.receipts_).toEqual([{ route: 'world', ids: ['1'], status: 'delivered' }]);
    expect(await router.callbacks.get('orange')?.(CALL, sink)).toEqual({ status: 200, body: 'ok' });
  });

  test('two transports with callbacks of one name are refused', async () => {
    const doubles = [new RouteDouble('twilio'), new RouteDouble('twilio')];
    for (const double of doubles) double.callbacks.set('twilio', async () => ({ status: 204 }));
    const [first, second] = doubles;
    expect(first && second).toBeTruthy();
    const routes = doubles.map((transport, index) => ({ name: `route-${index}`, transport }));
    await expect(RoutedFixture.open(routes)).rejects.toThrow(
      'Two routes answer callbacks under the name "twilio", the second one is "route-1"',
    );
  });
});

describe('starting and stopping', () => {
  test('a route that does not start rests and is started again at its next probe, while the others work', async () => {
    let works = false;
    const broken = new RouteDouble('broken', undefined, async () => {
      if (!works) throw new Error('no network');
    });
    const spare = new RouteDouble('spare');
    const fixture = await RoutedFixture.started([
      { name: 'a', transport: broken },
      { name: 'b', transport: spare, weight: 0 },
    ]);
    expect(await fixture.send('22670000001')).toMatchObject({ route: 'b' });
    fixture.clock.advance(30_000);
    expect(await fixture.send('22670000002')).toMatchObject({
      kind: 'sent',
      route: 'b',
      attempts: [{ route: 'a', outcome: 'retry', code: 'not_started' }, { route: 'b' }],
    });
    expect(broken.starts).toBe(2);
    works = true;
    fixture.clock.advance(30_000);
    expect(await fixture.send('22670000003')).toMatchObject({ route: 'a' });
    expect(await fixture.send('22670000004')).toMatchObject({ route: 'a' });
    expect(broken.starts).toBe(3);
    expect(spare.numbers).toEqual(['22670000001', '22670000002']);
  });

  test('concurrent callers share one start of a route, and a failed start is followed by another', async () => {
    let start: (works: boolean) => void = () => undefined;
    const slow = new RouteDouble('slow', undefined, async () => {
      throw new Error('no network');
    });
    const fixture = await RoutedFixture.started([{ name: 'a', transport: slow, breaker: false }]);
    slow.starting = async () => {
      if (!(await new Promise<boolean>((resolve) => (start = resolve)))) throw new Error('no network');
    };
    for (const [works, starts, expected] of [
      [false, 2, { kind: 'retry', error: 'not_started' }],
      [true, 3, { kind: 'sent' }],
    ] as const) {
      const results = [1, 2, 3].map((digit) => fixture.send(`2267000000${digit}`));
      await settled();
      expect(slow.starts).toBe(starts);
      start(works);
      expect(await Promise.all(results)).toMatchObject(Array(3).fill(expected));
    }
    expect(await fixture.send('22670000004')).toMatchObject({ kind: 'sent' });
    expect(slow.starts).toBe(3);
  });

  test('every started route is stopped, even if one of them throws', async () => {
    const unwilling = new RouteDouble('unwilling');
    unwilling.stop = async () => {
      throw new Error('stuck');
    };
    const broken = new RouteDouble('broken', undefined, async () => {
      throw new Error('no network');
    });
    const good = new RouteDouble('good');
    const fixture = await RoutedFixture.started([
      ...[unwilling, broken, good].map((transport) => ({ name: transport.name, transport })),
    ]);
    await fixture.router.stop();
    expect([good.stops, broken.stops]).toEqual([1, 0]);
  });
});

describe('policy and timing of the whole', () => {
  const policies = (...all: RepeatPolicy[]) => strictestRepeatPolicy(all.map((repeat) => ({ repeat })));

  test('the strictest policy of the routes applies; several idempotent routes are not idempotent together', () => {
    expect(policies('idempotent')).toBe('idempotent');
    expect(policies('at-least-once')).toBe('at-least-once');
    expect(policies('idempotent', 'idempotent')).toBe('at-most-once');
    expect(policies('idempotent', 'at-least-once')).toBe('at-least-once');
    expect(policies('at-least-once', 'at-most-once', 'idempotent')).toBe('at-most-once');
  });

  test('the longest times of the routes apply, and the lease covers two routes in turn', async () => {
    const [quick, slow] = [new RouteDouble('quick'), new RouteDouble('slow')];
    quick.timing = { leaseMs: 10_000, maxAttempts: 30, retryBaseMs: 100 };
    slow.timing = { leaseMs: 180_000, reportDeadlineMs: 10 ** 9 };
    const { router } = await RoutedFixture.open([
      { name: 'quick', transport: quick },
      { name: 'slow', transport: slow },
    ]);
    expect(router.timing).toEqual({
      leaseMs: 365_000,
      maxAttempts: 30,
      retryBaseMs: 2000,
      retryMaxMs: 300_000,
      reportDeadlineMs: 10 ** 9,
      maxAwayMs: DEFAULT_TIMING.maxAwayMs,
    });
  });
});
