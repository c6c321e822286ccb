import { expect, test } from '@jest/globals';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import type { CarrierRouteView, CarriersView } from '../../../src/management/operator/operations/carriers.api.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { RoutedSmsTransport } from '../../../src/transports/routed/index.js';
import { eventually } from '../../support/common/eventually.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { type Adapter, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { phoneOf } from '../../support/http/sms-client.js';
import { startManage } from '../../support/management/manage-app.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { RouteDouble } from '../../support/transports/routed-fixture.js';

unmountAfterEach();

const DELIVERED = { kind: 'sent', final: 'delivered' } as const;

/** A service with two carriers, the second one as a fallback. */
async function startCarriers(adapter: Adapter, over: { clock?: FakeClock; storage?: SqliteMemory } = {}) {
  const clock = over.clock ?? new FakeClock();
  const [near, far] = [new RouteDouble('one', () => DELIVERED), new RouteDouble('two', () => DELIVERED)];
  const transport = RoutedSmsTransport.forRoot({
    routes: [
      { name: 'near', transport: { useValue: near }, segmentsPerSecond: 50 },
      { name: 'far', transport: { useValue: far }, weight: 0, breaker: false },
    ],
  });
  const fixture = await startManage(adapter, { sms: { ...OPTIONS.sms, transport } }, { ...over, clock });
  const sms = (index: number) => ({ signature: 'INFOS', content: 'Bonjour', number: [phoneOf(index)] });
  const carriers = () => fixture.support.read<CarriersView>('manage/carriers');
  const states = async () => (await carriers()).routes.map(({ name, state }) => `${name} ${state}`);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
  };
  const taken = (carrier: RouteDouble, index: number) =>
    eventually(() => carrier.numbers.includes(phoneOf(index)), Boolean, { clock });
  return { ...fixture, near, far, sms, carriers, states, pass, taken };
}

describeOnOneAdapter('the operators’ routes for carriers', (adapter) => {
  test('each route shows its state, its breaker, its rate and what it has submitted', async () => {
    const fixture = await startCarriers(adapter);
    const { near, sms, carriers, taken, clock } = fixture;
    const client = await clientOf(fixture);
    await client.sent(sms(1));
    await taken(near, 1);
    const none = { links: [], interruptions: null, last_error: null };
    expect((await carriers()).routes).toEqual([
      {
        name: 'near',
        kind: 'one',
        state: 'open',
        breaker: 'closed',
        ...none,
        pace: 50,
        submits: 1,
      },
      { name: 'far', kind: 'two', state: 'open', breaker: null, ...none, pace: null, submits: 0 },
    ]);
    near.answer = () => ({ kind: 'retry', error: 'busy' });
    for (let index = 2; index < 12; index++) await client.send(sms(index));
    const [route] = await eventually(
      async () => (await carriers()).routes,
      ([each]) => each?.state === 'broken',
      { clock },
    );
    expect(route).toMatchObject({ last_error: 'busy', breaker: 'open' });
  });

  test('a resting route gets no more messages and another one takes over; if all rest, messages wait, however long', async () => {
    const fixture = await startCarriers(adapter);
    const { operator, near, far, sms, states, pass, taken, clock } = fixture;
    const client = await clientOf(fixture);
    expect(await operator.done<CarrierRouteView>('manage/carriers/near/rest')).toMatchObject({ state: 'resting' });
    await client.sent(sms(1));
    await taken(far, 1);
    await operator.done('manage/carriers/far/rest');
    expect(await states()).toEqual(['near resting', 'far resting']);
    const { smsID } = await client.sent(sms(2));
    await pass(30_000);
    // Longer than a message waits for a carrier that fails.
    clock.advance(40 * 86_400_000);
    await pass(30_000);
    expect([near.numbers, far.numbers]).toEqual([[], [phoneOf(1)]]);
    const { recipients } = await client.details(smsID);
    expect(recipients).toMatchObject([{ error: 'resting', refunded_units: 0 }]);
    expect(['queued', 'sending']).toContain(recipients[0]?.status);
    await operator.done('manage/carriers/near/resume');
    await taken(near, 2);
    expect(await states()).toEqual(['near open', 'far resting']);
  });

  test('a rest takes effect in all processes within five seconds, without a notice', async () => {
    const clock = new FakeClock();
    const storage = await SqliteMemory.open();
    const first = await startCarriers(adapter, { clock, storage });
    const second = await startCarriers(adapter, { clock, storage: await storage.another() });
    const client = await clientOf(second);
    for (const route of ['near', 'far']) await first.operator.done(`manage/carriers/${route}/rest`);
    await first.pass(5000);
    await client.sent(second.sms(1));
    await first.pass(12_000);
    const numbers = () => [first, second].flatMap(({ near, far }) => [...near.numbers, ...far.numbers]);
    expect(numbers()).toEqual([]);
    expect(await second.states()).toEqual(['near resting', 'far resting']);
    await first.operator.done('manage/carriers/far/resume');
    await eventually(numbers, ({ length }) => length === 1, { clock });
  });

  test('a transport without routes can rest too', async () => {
    const clock = new FakeClock();
    const plain = new RouteDouble('plain', () => DELIVERED);
    const options = { sms: { ...OPTIONS.sms, transport: { useValue: plain } } };
    const fixture = await startManage(adapter, options, { clock });
    const client = await clientOf(fixture);
    expect(await fixture.support.read<CarriersView>('manage/carriers')).toMatchObject({
      routes: [{ name: 'plain', kind: 'plain', state: 'open', breaker: null, submits: 0 }],
    });
    await fixture.operator.done('manage/carriers/plain/rest');
    await client.sent({ signature: 'INFOS', content: 'Bonjour', number: [phoneOf(1)] });
    for (let step = 0; step < 150; step++) {
      clock.advance(100);
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
    expect(plain.numbers).toEqual([]);
    await fixture.operator.done('manage/carriers/plain/resume');
    await eventually(() => plain.numbers.length === 1, Boolean, { clock });
  });

  test('a route shows how often the carrier refused its binds and the whole route', async () => {
    const { near, carriers } = await startCarriers(adapter);
    const interruptions = { bind: 3, route: 1 };
    near.state = () => [{ name: 'one', transport: 'one', usable: true, links: [], interruptions }];
    expect((await carriers()).routes).toMatchObject([
      { name: 'near', interruptions },
      { name: 'far', interruptions: null },
    ]);
  });

  test('texts whose number cannot be read are shown with the route and the last number, masked', async () => {
    const { near, carriers, clock, app } = await startCarriers(adapter);
    expect((await carriers()).unread_numbers).toEqual([]);
    const heard: unknown[] = [];
    app.get(MessagingEvents, { strict: false }).on('sms.number_unread', (event) => void heard.push(event));
    const sink = await eventually(() => near.sink, Boolean, { clock });
    sink?.unread('one', '070000001');
    clock.advance(1000);
    sink?.unread('one', '70000002');
    const last_at = new Date(clock.now()).toISOString();
    expect((await carriers()).unread_numbers).toEqual([{ route: 'near', count: 2, last: '700***02', last_at }]);
    expect(heard).toEqual([
      { route: 'near', address: '070****01' },
      { route: 'near', address: '700***02' },
    ]);
  });

  test('other roles are refused, and unknown carriers are not found', async () => {
    const { operator, support, finance, storage } = await startCarriers(adapter);
    expect(await operator.post('manage/carriers/none/rest')).toMatchObject({ status: 404 });
    for (const each of [support, finance]) expect((await each.post('manage/carriers/near/rest')).status).toBe(403);
    for (let again = 0; again < 2; again++) await operator.done('manage/carriers/near/rest');
    for (let again = 0; again < 2; again++) await operator.done('manage/carriers/near/resume');
    const rows = storage.database.prepare('SELECT action, target, by_id FROM messaging_audit ORDER BY id').all();
    expect(rows).toEqual([
      { action: 'route.rested', target: 'near', by_id: 'odile' },
      { action: 'route.resumed', target: 'near', by_id: 'odile' },
    ]);
  });
});
