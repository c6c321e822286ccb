import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Priority } from '../../../src/outbox/queue/priority.api.js';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { SegmentRateLimiter } from '../../../src/transports/smpp/link/segment-rate-limiter.js';
import { settled } from '../../support/common/settled.js';
import type { Carry } from '../../support/outbox/campaign-fixture.js';
import { CARRIERS, routed, smpp } from '../../support/outbox/carriers-at-50.js';
import { anSms, RouteDouble, RoutedFixture } from '../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));
afterEach(() => void jest.restoreAllMocks());

const campaign = (count: number, priority: Priority, text = priority as string): OutgoingSms[] =>
  Array.from({ length: count }, (_, index) =>
    anSms(String(22_670_000_000 + index), { smsId: `${priority} ${index}`, priority, text }),
  );
const submit = (carry: Carry, batch: readonly OutgoingSms[]) => carry.submit(batch, new AbortController().signal);

describe.each(Object.entries(CARRIERS))('deliveries that are claimed and not yet handed over: %s', (_, make) => {
  test('a code overtakes all of them, the others go by priority', async () => {
    const { carry, clock, given } = await make();
    const results = [submit(carry, campaign(40, 'bulk'))];
    await settled();
    const pass = async (ms: number) => {
      for (let gone = 0; gone < ms; gone += 10) {
        clock.advance(10);
        await settled(4);
      }
    };
    await pass(50);
    results.push(submit(carry, campaign(2, 'normal')), submit(carry, campaign(2, 'high')));
    results.push(submit(carry, campaign(1, 'code')));
    await settled();
    const before = given.length;
    await pass(3000);
    await Promise.all(results);
    const order = given.slice(before).map((each) => each.split(' ')[0]);
    // HTTP has a free request for it at once.
    const places = (priority: Priority) => order.flatMap((each, place) => (each === priority ? [place] : []));
    const [code] = places('code');
    expect(code ?? (given.slice(0, before).includes('code 0') ? 0 : undefined)).toBe(0);
    const [high = 0, , normal = 0] = [...places('high'), ...places('normal')];
    expect([high < normal, normal < (places('bulk').at(0) ?? 99)]).toEqual([true, true]);
  });
});

describe('the capacity of SMPP', () => {
  test('is one without a link, for the SMS that probes it, and then none', async () => {
    const { transport } = await smpp({ partsPerSecond: 50 }, 20, false);
    await settled();
    expect(transport.capacity()).toBe(1);
    void submit(transport, campaign(1, 'bulk'));
    expect(transport.capacity()).toBeLessThan(1);
  });

  test('is a quarter of the rate and its burst, less the waiting SMS, counted in parts of the recent size', async () => {
    const { transport, clock } = await smpp({ partsPerSecond: 40, window: 100 }, 20);
    await settled();
    expect(transport.capacity()).toBe(14);
    void submit(transport, campaign(10, 'bulk'));
    await settled();
    // Four went out at once.
    expect(transport.capacity()).toBe(10 - 6);
    for (let step = 0; step < 100; step++) {
      clock.advance(10);
      await settled(2);
    }
    expect(transport.capacity()).toBe(14);
    void submit(transport, campaign(60, 'bulk', 'a'.repeat(153 * 4)));
    for (let step = 0; step < 800; step++) {
      clock.advance(10);
      await settled(2);
    }
    expect(transport.capacity()).toBeLessThanOrEqual(4);
  });

  test('is at most the window, and grows with what the carrier takes', async () => {
    const { transport, clock } = await smpp({ window: 10 }, 10);
    await settled();
    expect(transport.capacity()).toBe(10);
    void submit(transport, campaign(10, 'bulk'));
    await settled();
    expect(transport.capacity()).toBe(0);
    clock.advance(10);
    await settled();
    expect(transport.capacity()).toBe(30);
    clock.advance(600);
    expect(transport.capacity()).toBe(10);
  });

  test('is none while the carrier throttles the link for longer', () => {
    const limiter = new SegmentRateLimiter({ window: 8, partsPerSecond: 100, throttlePauseMs: 1000 }, 0, () => 0);
    expect(limiter.partsWithin(250, 0)).toBe(10 + 25);
    limiter.slowDown(0, 0);
    expect(limiter.partsWithin(250, 0)).toBe(0);
    expect(limiter.partsWithin(250, 400)).toBe(10 + 15);
    const free = new SegmentRateLimiter({ window: 8, partsPerSecond: undefined, throttlePauseMs: 1000 }, 0, () => 0);
    expect(free.partsWithin(250, 0)).toBe(Number.POSITIVE_INFINITY);
    free.slowDown(0, 0);
    expect(free.partsWithin(250, 0)).toBe(0);
  });
});

describe('the capacity of routes', () => {
  const failed: SubmitResult = { kind: 'unknown', error: 'x' };

  test('is one while all their breakers are open, and while the first SMS probes a route again', async () => {
    const transport = new RouteDouble('a', () => failed);
    const fixture = await RoutedFixture.started([{ name: 'a', transport, breaker: { minSms: 1, openMs: 30_000 } }]);
    expect(fixture.router.capacity()).toBeUndefined();
    await fixture.send('22670000000');
    expect(fixture.router.capacity()).toBe(1);
    fixture.clock.advance(29_999);
    expect(fixture.router.capacity()).toBe(1);
    fixture.clock.advance(1);
    expect(fixture.router.capacity()).toBe(1);
    transport.answer = () => ({ kind: 'sent' });
    await fixture.send('22670000000');
    expect(fixture.router.capacity()).toBeUndefined();
  });

  test('is half a second of a limit, less what is reserved and requested', async () => {
    const { fixture, clock } = await routed();
    expect(fixture.router.capacity()).toBe(25);
    const results = fixture.submit(campaign(10, 'bulk'));
    expect(fixture.router.capacity()).toBe(15);
    await settled();
    expect(fixture.router.capacity()).toBe(15);
    clock.advance(200);
    await results;
    expect(fixture.router.capacity()).toBe(25);
    void fixture.submit(campaign(200, 'bulk'));
    clock.advance(250);
    await settled();
    expect(fixture.router.capacity()).toBe(0);
  });

  test('is at least one if a limit allows less than one', async () => {
    const transport = new RouteDouble('a');
    const fixture = await RoutedFixture.started([{ name: 'a', transport, segmentsPerSecond: 0.5 }]);
    expect(fixture.router.capacity()).toBe(1);
    await fixture.send('22670000000');
    expect(fixture.router.capacity()).toBe(0);
    fixture.clock.advance(1500);
    expect(fixture.router.capacity()).toBe(0);
    fixture.clock.advance(100);
    expect(fixture.router.capacity()).toBe(1);
  });

  test('is that of the tightest route that the last SMS used, and of its transport if that reports one', async () => {
    const [local, abroad] = [new RouteDouble('local'), new RouteDouble('abroad')];
    abroad.capacity = () => 8;
    const fixture = await RoutedFixture.started([
      { name: 'local', transport: local, prefixes: ['226'], segmentsPerSecond: 40 },
      { name: 'abroad', transport: abroad },
    ]);
    // For routes of which nothing was seen yet, the tightest of all counts.
    expect(fixture.router.capacity()).toBe(8);
    for (let each = 0; each < 40; each++) await fixture.submit([anSms('33600000000')]);
    expect(fixture.router.capacity()).toBe(8);
    void fixture.submit(campaign(1000, 'bulk').map((sms) => ({ ...sms, number: '22670000000' })));
    await settled();
    fixture.clock.advance(5000);
    await settled();
    expect(fixture.router.capacity()).toBeCloseTo(20, 3);
  });

  test('a code takes the next reserved time, and the SMS that it overtakes takes the time of the code', async () => {
    const { fixture, clock, given } = await routed();
    const bulk = fixture.submit(campaign(40, 'bulk'));
    await settled();
    const pass = async (ms: number) => {
      for (let gone = 0; gone < ms; gone += 20) {
        clock.advance(20);
        await settled(3);
      }
    };
    await pass(200);
    const before = given.length;
    const code = fixture.submit(campaign(1, 'code'));
    await pass(120);
    expect(given[before]).toBe('code 0');
    expect((await code)[0]?.kind).toBe('sent');
    await pass(1000);
    expect((await bulk).map(({ kind }) => kind)).toEqual(Array(40).fill('sent'));
    // The rate was kept: the last SMS went one slot later.
    expect(given).toHaveLength(41);
  });

  test('if there is no time for all, the last SMS of the lowest priority gets none', async () => {
    const { fixture, clock } = await routed();
    const bulk = fixture.submit(campaign(60, 'bulk'));
    const high = fixture.submit(campaign(20, 'high'));
    await settled();
    for (let step = 0; step < 80; step++) {
      clock.advance(20);
      await settled(3);
    }
    expect((await high).map(({ kind }) => kind)).toEqual(Array(20).fill('sent'));
    const late = (await bulk).flatMap(({ kind }, index) => (kind === 'postponed' ? [index] : []));
    // 51 fit into the first second, and 13 more a quarter of a second later.
    expect(late.length).toBeGreaterThanOrEqual(9);
    expect(late.length).toBeLessThanOrEqual(20);
    expect(late).toEqual(Array.from({ length: late.length }, (_, index) => 60 - late.length + index));
  });
});
