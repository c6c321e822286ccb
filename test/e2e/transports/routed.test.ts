import { beforeEach, expect, test } from '@jest/globals';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { Clock } from '../../../src/common/clock.js';
import type { DeliveryStatus } from '../../../src/outbox/delivery-state.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import type { SmsOptions } from '../../../src/sms/sms-options.js';
import type { SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { RoutedSmsTransport, type SmsRouteOptions } from '../../../src/transports/routed/index.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { RouteDouble } from '../../support/transports/routed-fixture.js';

const NUMBERS = Array.from({ length: 20 }, (_, index) => `226700000${String(index).padStart(2, '0')}`);
const SEND = { signature: 'INFOS', content: 'Bonjour', number: NUMBERS };
const BUSY: SubmitResult = { kind: 'retry', error: 'busy' };

describeService('several carriers', (start) => {
  let clock: FakeClock;
  let a: RouteDouble;
  let b: RouteDouble;
  let service: Service;
  let client: ApiClient;

  async function over(routes: readonly SmsRouteOptions[], sms: Partial<SmsOptions> = {}): Promise<void> {
    service = await start({
      sms: { ...OPTIONS.sms, ...sms, transport: RoutedSmsTransport.forRoot({ routes }) },
      clock: { useValue: clock },
    });
    client = await service.client(1000);
  }

  beforeEach(() => {
    clock = new FakeClock();
    a = new RouteDouble('carrier-a');
    b = new RouteDouble('carrier-b', ({ number }) => ({ kind: 'sent', carrierIds: [`b-${number}`] }));
  });

  const twoRoutes = (over: Partial<SmsRouteOptions> = {}): readonly SmsRouteOptions[] => [
    { name: 'a', transport: { useValue: a }, ...over },
    { name: 'b', transport: { inject: [Clock], useFactory: (_: Clock) => b }, weight: 0 },
  ];
  const becomes = (smsId: string, wanted: DeliveryStatus) =>
    eventually(
      async () => (await client.details(smsId)).recipients.map(({ status }) => status),
      (states) => states.every((status) => status === wanted),
      { clock, stepMs: 50 },
    );
  const trailOf = async (smsId: string, position: number) => {
    const steps = await service.app.get(OutboxStore, { strict: false }).trail(smsId);
    return steps.filter((step) => step.position === position).map(({ entry }) => entry);
  };
  const books = () => service.app.get(LedgerStore, { strict: false }).check();

  test('if one fails, the other delivers, and every attempt is on record', async () => {
    a.answer = () => BUSY;
    await over(twoRoutes());
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'sent');
    for (const position of NUMBERS.keys()) {
      expect(await trailOf(smsID, position)).toMatchObject([
        { route: 'a', outcome: 'retry', code: 'busy' },
        { route: 'b', outcome: 'sent' },
      ]);
    }
    clock.advance(1);
    await b.sink?.receipts(NUMBERS.map((n) => ({ route: 'carrier-b', ids: [`b-${n}`], status: 'delivered' })));
    await becomes(smsID, 'delivered');
    expect((await trailOf(smsID, 3)).at(-1)).toMatchObject({ route: 'b', receipt: 'delivered' });
    expect([...b.numbers].sort()).toEqual(NUMBERS);
    expect(await client.balance()).toBe(1000 - NUMBERS.length);
    expect(await books()).toEqual([]);
  });

  test('if both refuse, the SMS is refunded once, with both attempts on record', async () => {
    for (const carrier of [a, b]) carrier.answer = () => ({ kind: 'refused', error: 'no_contract' });
    await over(twoRoutes());
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'failed');
    expect(await trailOf(smsID, 0)).toMatchObject([
      { route: 'a', outcome: 'refused', code: 'no_contract' },
      { route: 'b', outcome: 'refused', code: 'no_contract' },
    ]);
    expect(await client.balance()).toBe(1000);
    expect(await books()).toEqual([]);
  });

  test('an SMS that one may have taken is not given to the other, and stays paid', async () => {
    a.answer = () => ({ kind: 'unknown', error: 'no_answer' });
    await over(twoRoutes());
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'unknown');
    expect(b.numbers).toEqual([]);
    expect(await client.balance()).toBe(1000 - NUMBERS.length);
    expect(await books()).toEqual([]);
  });

  test('waiting for a limit spends no attempts', async () => {
    a.answer = ({ attempt }) => (attempt === 1 ? { kind: 'sent' } : { kind: 'refused', error: 'again' });
    await over(twoRoutes({ segmentsPerSecond: 4 }), { delivery: { maxAttempts: 1 } });
    const from = clock.now();
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'sent');
    expect(clock.now() - from).toBeGreaterThanOrEqual(4000);
    expect([...a.numbers].sort()).toEqual(NUMBERS);
    expect(await trailOf(smsID, 7)).toMatchObject([{ route: 'a', outcome: 'sent' }]);
    expect(await books()).toEqual([]);
  });

  test('while its only route rests an SMS spends no attempts, and goes out when the route is back', async () => {
    a.answer = () => BUSY;
    await over([{ name: 'a', transport: { useValue: a } }]);
    const { smsID } = await client.sent(SEND);
    const back = clock.now() + 90_000;
    // A request to the service between the steps, so that no lease ends while pending work has had no time.
    const later = async () => {
      await client.details(smsID);
      return clock.now();
    };
    await eventually(later, (now) => now >= back, { clock, stepMs: 250 });
    const tries = a.numbers.length;
    expect(tries).toBeLessThan(NUMBERS.length + 5);
    a.answer = () => ({ kind: 'sent' });
    await becomes(smsID, 'sent');
    expect(a.numbers).toHaveLength(tries + NUMBERS.length);
    expect(await client.balance()).toBe(1000 - NUMBERS.length);
    expect(await books()).toEqual([]);
  });

  test('a number without a route is refunded', async () => {
    await over([{ name: 'a', transport: { useValue: a }, prefixes: ['226'] }]);
    const { smsID } = await client.sent({ ...SEND, number: ['33612345678'] });
    await becomes(smsID, 'failed');
    expect((await client.details(smsID)).recipients[0]).toMatchObject({ error: 'no_route', refunded_units: 3 });
    expect(await client.balance()).toBe(1000);
  });

  test('a transport may be a class into which the application injects', async () => {
    await over([
      { name: 'burkina', transport: SandboxSmsTransport, prefixes: ['226'] },
      { name: 'world', transport: SandboxSmsTransport },
    ]);
    const { smsID } = await client.sent({ ...SEND, number: ['22670000001', '22177000001'] });
    await becomes(smsID, 'delivered');
    expect(await trailOf(smsID, 0)).toMatchObject([{ route: 'burkina', outcome: 'sent' }]);
    expect(await trailOf(smsID, 1)).toMatchObject([{ route: 'world', outcome: 'sent' }]);
  });

  test('carriers call their own transport', async () => {
    b.callbacks.set('carrier-b', async ({ body }, sink) => {
      await sink.receipts([{ route: 'carrier-b', ids: [Buffer.from(body).toString()], status: 'delivered' }]);
      return { status: 200, body: 'taken' };
    });
    await over(twoRoutes({ prefixes: ['33'] }));
    const { smsID } = await client.sent({ ...SEND, number: ['22670000001'] });
    await becomes(smsID, 'sent');
    const call = (name: string) =>
      fetch(`${service.url}/api/v1/sms/callbacks/${name}`, { method: 'POST', body: 'b-22670000001' });
    expect((await call('carrier-a')).status).toBe(404);
    const answer = await call('carrier-b');
    expect([answer.status, await answer.text()]).toEqual([200, 'taken']);
    await becomes(smsID, 'delivered');
  });
});
