import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { SubmitResult } from '../../../../src/sms/sms-transport.js';
import { settled } from '../../../support/common/settled.js';
import { anSms, RouteDouble, RoutedFixture } from '../../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

const REFUSED: SubmitResult = { kind: 'refused', error: 'no_contract' };
const BUSY: SubmitResult = { kind: 'retry', error: 'busy' };
const LOST: SubmitResult = { kind: 'unknown', error: 'no_answer' };
const kindsOf = (results: readonly SubmitResult[]) => results.map(({ kind }) => kind);
const BURKINA = '22670123456';

describe('where an SMS goes', () => {
  let fixture: RoutedFixture;
  afterEach(() => fixture.router.stop());

  /** Two routes for all numbers. The second is used only if the first cannot be. */
  async function twoRoutes(first: RouteDouble, second = new RouteDouble('second'), breaker = {}) {
    fixture = await RoutedFixture.started([
      { name: 'a', transport: first, breaker },
      { name: 'b', transport: second, weight: 0 },
    ]);
    return { first, second };
  }

  test('a batch is split by route, and its results are in the order of the batch', async () => {
    const burkina = new RouteDouble('bf', ({ number }) => ({ kind: 'sent', carrierIds: [`bf-${number}`] }));
    const france = new RouteDouble('fr', ({ number }) => ({ kind: 'sent', carrierIds: [`fr-${number}`] }));
    fixture = await RoutedFixture.started([
      { name: 'burkina', transport: burkina, prefixes: ['226'] },
      { name: 'france', transport: france, prefixes: ['33'] },
    ]);
    const results = await fixture.submit(
      ['22670000001', '33612345678', '22670000002', '18765550123'].map((n) => anSms(n)),
    );
    expect(results.map(({ kind }) => kind)).toEqual(['sent', 'sent', 'sent', 'refused']);
    expect(results.map(({ carrierIds }) => carrierIds?.[0])).toEqual([
      'bf-22670000001',
      'fr-33612345678',
      'bf-22670000002',
      undefined,
    ]);
    expect(burkina.batches).toHaveLength(1);
    expect(results[3]).toEqual({ kind: 'refused', error: 'no_route', unasked: true });
  });

  test('the result names the route that took the SMS, and the attempt', async () => {
    await twoRoutes(new RouteDouble('first', () => ({ kind: 'sent', carrierIds: ['id-1'], segments: 1 })));
    expect(await fixture.send(BURKINA)).toEqual({
      kind: 'sent',
      carrierIds: ['id-1'],
      segments: 1,
      route: 'a',
      attempts: [{ route: 'a', outcome: 'sent', at: fixture.clock.now() }],
    });
  });

  test('an SMS that one route refuses goes to the next, and the result has both attempts', async () => {
    const { second } = await twoRoutes(new RouteDouble('first', () => REFUSED));
    expect(await fixture.send(BURKINA)).toMatchObject({
      kind: 'sent',
      route: 'b',
      attempts: [
        { route: 'a', outcome: 'refused', code: 'no_contract' },
        { route: 'b', outcome: 'sent' },
      ],
    });
    expect(second.numbers).toEqual([BURKINA]);
  });

  test('an SMS that all routes refuse is refused', async () => {
    await twoRoutes(new RouteDouble('first', () => REFUSED), new RouteDouble('second', () => REFUSED));
    expect(await fixture.send(BURKINA)).toMatchObject({
      kind: 'refused',
      error: 'no_contract',
      attempts: { length: 2 },
    });
  });

  test('an SMS that is refused because of its number goes to no other route', async () => {
    const second = new RouteDouble('second');
    fixture = await RoutedFixture.started([
      {
        name: 'a',
        transport: new RouteDouble('first', () => ({ kind: 'refused', error: 'absent' })),
        failOver: (error) => error !== 'absent',
      },
      { name: 'b', transport: second, weight: 0 },
    ]);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'refused', error: 'absent' });
    expect(second.batches).toEqual([]);
  });

  test.each(['expired', 'acme: expired'])('nor does an SMS whose time has passed (%s)', async (error) => {
    const { second } = await twoRoutes(new RouteDouble('first', () => ({ kind: 'refused', error })));
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'refused', error });
    expect(second.batches).toEqual([]);
  });

  test('an SMS that may have been taken goes to no other route, even if the route then rests', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => LOST), undefined, { minSms: 1 });
    const results = await fixture.submit([anSms('22670000001'), anSms('22670000002')]);
    expect(results).toMatchObject([LOST, LOST]);
    expect(results.map(({ attempts }) => attempts?.length)).toEqual([1, 1]);
    expect(second.batches).toEqual([]);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', route: 'b' });
    expect(first.numbers).toHaveLength(2);
  });

  test('the result of a taken SMS is reported while others of its batch are pending, and the rest once no other route is tried', async () => {
    let through: (result: SubmitResult) => void = () => undefined;
    const slow = new Promise<SubmitResult>((resolve) => {
      through = resolve;
    });
    const answers = [{ kind: 'sent' }, slow, REFUSED, LOST, BUSY] as const;
    const first = new RouteDouble('first', ({ number }) => answers[Number(number.at(-1))] ?? LOST);
    const { second } = await twoRoutes(first);
    const reported: string[] = [];
    const batch = [0, 1, 2, 3, 4].map((digit) => anSms(`2267000000${digit}`));
    const results = fixture.submit(batch, undefined, (sms, { kind, route }) =>
      reported.push(`${batch.indexOf(sms)} ${kind} ${route}`),
    );
    await settled();
    expect(reported).toEqual(['0 sent a', '3 unknown a']);
    through({ kind: 'sent' });
    expect((await results).map(({ kind, route }) => `${kind} ${route}`)).toEqual([
      'sent a',
      'sent a',
      'sent b',
      'unknown a',
      'retry a',
    ]);
    expect(reported.slice(2).toSorted()).toEqual(['1 sent a', '2 sent b', '4 retry a']);
    expect(second.numbers).toEqual(['22670000002']);
  });

  test('a transport that throws may have taken the SMS', async () => {
    const { second } = await twoRoutes(
      new RouteDouble('first', () => {
        throw new Error('defect');
      }),
    );
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'unknown', error: 'transport_error' });
    expect(second.batches).toEqual([]);
  });

  test('an SMS stays with a busy route until the route rests; then it goes to the next route at once', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => BUSY), undefined, { minSms: 3 });
    expect(await fixture.send(BURKINA)).toMatchObject({
      ...BUSY,
      attempts: [{ route: 'a', outcome: 'retry', code: 'busy' }],
    });
    expect(await fixture.send(BURKINA)).toMatchObject(BUSY);
    expect(second.batches).toEqual([]);
    expect(await fixture.send(BURKINA)).toMatchObject({
      kind: 'sent',
      route: 'b',
      attempts: [
        { route: 'a', outcome: 'retry', code: 'busy' },
        { route: 'b', outcome: 'sent' },
      ],
    });
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', attempts: [{ route: 'b' }] });
    expect(first.numbers).toHaveLength(3);
  });

  test('after the rest one SMS probes the route, and if that succeeds all go there again', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => BUSY), undefined, { minSms: 1 });
    await fixture.send(BURKINA);
    first.answer = () => ({ kind: 'sent' });
    fixture.clock.advance(30_000);
    const three = () => fixture.submit([1, 2, 3].map((digit) => anSms(`2267000000${digit}`)));
    expect((await three()).map(({ route }) => route)).toEqual(['a', 'b', 'b']);
    expect((await three()).map(({ route }) => route)).toEqual(['a', 'a', 'a']);
    expect(second.numbers).toHaveLength(3);
  });

  test('an SMS that never reached the carrier says nothing about the route, so the next one probes it', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => BUSY), undefined, { minSms: 1 });
    await fixture.send(BURKINA);
    const three = () => fixture.submit([1, 2, 3].map((digit) => anSms(`2267000000${digit}`)));
    fixture.clock.advance(30_000);
    first.answer = () => ({ kind: 'postponed', error: 'queue', until: fixture.clock.now() + 1000 });
    expect((await three()).map(({ kind }) => kind)).toEqual(['postponed', 'sent', 'sent']);
    first.answer = () => ({ kind: 'refused', error: 'expired', unasked: true });
    expect((await three()).map(({ kind }) => kind)).toEqual(['refused', 'sent', 'sent']);
    expect(second.numbers).toHaveLength(5);
    first.answer = () => BUSY;
    expect((await three()).map(({ route }) => route)).toEqual(['b', 'b', 'b']);
    expect((await three()).map(({ route }) => route)).toEqual(['b', 'b', 'b']);
    expect(first.numbers).toHaveLength(4);
  });

  test.each(['{"kind":"sent","attempts":{}}', '{"kind":"sent","carrierIds":5}', '{"kind":"taken"}', 'null'])(
    'an SMS with a malformed result (%s) may have been taken, so it goes nowhere else and is not refused',
    async (reported) => {
      const { second } = await twoRoutes(new RouteDouble('first', () => JSON.parse(reported)));
      expect(await fixture.send(BURKINA)).toMatchObject({
        kind: 'unknown',
        error: expect.stringMatching(/^(no|bad)_answer$/),
      });
      expect(second.numbers).toEqual([]);
    },
  );

  test('results that a route reported before it threw stand, and do not count as failures', async () => {
    const first = new RouteDouble('first', ({ number }) => {
      if (number.endsWith('9')) throw new Error('at the last');
      return { kind: 'sent' };
    });
    const { second } = await twoRoutes(first);
    const results = await fixture.submit(Array.from({ length: 10 }, (_, digit) => anSms(`2267000000${digit}`)));
    expect(kindsOf(results)).toEqual([...Array(9).fill('sent'), 'unknown']);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', route: 'a' });
    expect(second.numbers).toEqual([]);
  });

  test('if the host’s failOver throws, the refusal stands, and other SMS are not affected', async () => {
    fixture = await RoutedFixture.started([
      {
        name: 'a',
        transport: new RouteDouble('bf', () => REFUSED),
        prefixes: ['226'],
        failOver: () => {
          throw new Error('a defect of the host');
        },
      },
      { name: 'b', transport: new RouteDouble('all'), weight: 0 },
    ]);
    const results = await fixture.submit([anSms('22670000001'), anSms('33612345678')]);
    expect(results).toMatchObject([REFUSED, { kind: 'sent', route: 'b' }]);
  });

  test('if the route still fails, the SMS that probed it goes to the next route', async () => {
    const { first } = await twoRoutes(new RouteDouble('first', () => BUSY), undefined, { minSms: 1 });
    await fixture.send(BURKINA);
    fixture.clock.advance(30_000);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', route: 'b', attempts: { length: 2 } });
    expect(first.numbers).toHaveLength(2);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', attempts: { length: 1 } });
  });

  test('refusals do not make a route rest', async () => {
    const { first } = await twoRoutes(new RouteDouble('first', () => REFUSED), undefined, { minSms: 1 });
    for (let sms = 0; sms < 20; sms++) await fixture.send(BURKINA);
    expect(first.numbers).toHaveLength(20);
  });

  /** Both routes rest, the first one for 10 s less than the second. */
  async function bothRest() {
    const both = await twoRoutes(new RouteDouble('first', () => LOST), new RouteDouble('second', () => LOST), {
      minSms: 1,
    });
    await fixture.send(BURKINA);
    fixture.clock.advance(10_000);
    for (let sms = 0; sms < 5; sms++) await fixture.send(BURKINA);
    return { ...both, firstAgain: fixture.clock.now() + 20_000 };
  }

  test('if a transport reports that its carrier is failing, the SMS goes to the next route, and the first is asked again later', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => BUSY));
    const until = fixture.clock.now() + 20_000;
    first.answer = () => ({ kind: 'postponed', error: 'smpp: 0x04', until, away: true });
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', route: 'b' });
    second.answer = () => ({ kind: 'postponed', error: 'smpp: 0x15', until: until + 5000, away: true });
    expect(await fixture.send(BURKINA)).toEqual({ kind: 'postponed', error: 'smpp: 0x04', until, away: true });
    first.answer = () => ({ kind: 'sent' });
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', route: 'a' });
  });

  test('if all routes rest, the SMS is postponed until the first of them is probed, and no attempt is counted', async () => {
    const { firstAgain } = await bothRest();
    const untried: SubmitResult = { kind: 'postponed', error: 'circuit_open', until: firstAgain, away: true };
    expect(await fixture.send(BURKINA)).toEqual(untried);
    fixture.clock.advance(19_999);
    expect(await fixture.send(BURKINA)).toEqual(untried);
    fixture.clock.advance(1);
    expect(await fixture.send(BURKINA)).toMatchObject(LOST);
  });

  test('while another SMS probes the route, the SMS is postponed for a second', async () => {
    const { first } = await bothRest();
    fixture.clock.advance(20_000);
    let answerProbe: (result: SubmitResult) => void = () => undefined;
    first.answer = () =>
      new Promise((resolve) => {
        answerProbe = resolve;
      });
    const probe = fixture.send(BURKINA);
    await settled();
    const untried = { kind: 'postponed', error: 'circuit_open', until: fixture.clock.now() + 1000 };
    expect(await fixture.send(BURKINA)).toEqual(untried);
    first.answer = () => ({ kind: 'sent' });
    answerProbe({ kind: 'sent' });
    expect(await probe).toMatchObject({ kind: 'sent' });
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'sent', route: 'a' });
  });

  test('an SMS for a route that operators rest is postponed for 15 to 30 s, unless another route can be tried earlier', async () => {
    await twoRoutes(new RouteDouble('first', () => LOST), undefined, { minSms: 1 });
    for (const name of ['a', 'b']) fixture.rested.add(name);
    const comesAfter = async (...lots: number[]) => {
      fixture.ids.lots = [0.5, ...lots];
      const result = await fixture.send(BURKINA);
      return { ...result, until: Reflect.get(result ?? {}, 'until') - fixture.clock.now() };
    };
    expect(await comesAfter(0, 0.5)).toEqual({ kind: 'postponed', error: 'resting', until: 15_000 });
    expect(await comesAfter(1, 0.9)).toEqual({ kind: 'postponed', error: 'resting', until: 28_500 });
    fixture.rested.delete('a');
    await fixture.send(BURKINA);
    fixture.clock.advance(29_000);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'postponed', until: fixture.clock.now() + 1000 });
  });

  test('an SMS that expires while all routes rest is not postponed', async () => {
    await bothRest();
    const expiresAt = fixture.clock.now() + 1;
    expect(await fixture.send(BURKINA, { expiresAt })).toMatchObject({ kind: 'postponed' });
    fixture.clock.advance(1);
    expect(await fixture.send(BURKINA, { expiresAt })).toEqual({ kind: 'refused', error: 'expired', unasked: true });
  });

  test('an SMS that is refused while another route rests is postponed, because that route may take it later', async () => {
    await twoRoutes(new RouteDouble('first', () => LOST), new RouteDouble('second', () => REFUSED), { minSms: 1 });
    await fixture.send(BURKINA);
    expect(await fixture.send(BURKINA)).toMatchObject({
      kind: 'retry',
      error: 'circuit_open',
      attempts: [{ route: 'b' }],
    });
  });

  test('without a breaker a route never rests', async () => {
    const first = new RouteDouble('first', () => BUSY);
    fixture = await RoutedFixture.started([{ name: 'a', transport: first, breaker: false }]);
    for (let sms = 0; sms < 50; sms++) expect(await fixture.send(BURKINA)).toMatchObject(BUSY);
    expect(first.numbers).toHaveLength(50);
  });

  test('while the process stops, no failure counts against a route and no SMS goes to the next', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => BUSY), undefined, { minSms: 1 });
    const stopping = new AbortController();
    stopping.abort();
    expect(await fixture.submit([anSms(BURKINA)], stopping.signal)).toMatchObject([BUSY]);
    expect(second.batches).toEqual([]);
    await fixture.send(BURKINA);
    expect(first.numbers).toHaveLength(2);
  });

  test('a slow route does not delay SMS that another route refused', async () => {
    let answerSlow: (result: SubmitResult) => void = () => undefined;
    const answered = new Promise<SubmitResult>((resolve) => {
      answerSlow = resolve;
    });
    const slow = new RouteDouble('slow', () => answered);
    const refusing = new RouteDouble('refusing', () => REFUSED);
    const spare = new RouteDouble('spare');
    fixture = await RoutedFixture.started([
      { name: 'slow', transport: slow, prefixes: ['33'] },
      { name: 'refusing', transport: refusing, prefixes: ['226'] },
      { name: 'spare', transport: spare },
    ]);
    const results = fixture.submit([anSms('33612345678'), anSms(BURKINA)]);
    await settled();
    expect(spare.numbers).toEqual([BURKINA]);
    answerSlow({ kind: 'sent' });
    expect(await results).toMatchObject([{ route: 'slow' }, { route: 'spare' }]);
  });

  test('a route is not tried if its own time would outlast the lease', async () => {
    const first = new RouteDouble('first', async () => {
      fixture.clock.advance(66_000);
      return REFUSED;
    });
    const { second } = await twoRoutes(first);
    expect(fixture.router.timing.leaseMs).toBe(125_000);
    expect(await fixture.send(BURKINA)).toMatchObject({ kind: 'retry', error: 'no_time' });
    expect(second.batches).toEqual([]);
  });

  test('an SMS that had no time for any route is postponed for a second, and no attempt is counted', async () => {
    const { first, second } = await twoRoutes(new RouteDouble('first', () => LOST), undefined, { minSms: 1 });
    await fixture.send(BURKINA);
    fixture.clock.advance(30_000);
    first.answer = async () => {
      fixture.clock.advance(66_000);
      return LOST;
    };
    const [probe, other] = await fixture.submit([anSms('22670000001'), anSms('22670000002')]);
    expect(probe).toMatchObject(LOST);
    expect(other).toEqual({ kind: 'postponed', error: 'circuit_open', until: fixture.clock.now() + 1000 });
    expect(second.batches).toEqual([]);
  });
});
