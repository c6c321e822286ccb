import { beforeEach, expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import type { DeliveryTiming } from '../../../src/outbox/delivery/delivery-result.js';
import type { DeliveryStatus } from '../../../src/outbox/delivery-state.js';
import { HttpSmsTransport } from '../../../src/transports/http/index.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import type { ApiClient, Details } from '../../support/http/api-client.js';
import { phoneOf } from '../../support/http/sms-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { CALLBACK_SECRET } from '../../support/transports/gateway/gateway-fixture.js';
import { GatewayStation } from '../../support/transports/gateway/gateway-station.js';
import { kannelDouble } from '../../support/transports/gateway/kannel-double.js';

const PATH = '/api/v1/sms/callbacks/kannel';
const BUSY = kannelDouble.refusals.temporary.answer;

describeService('SMS by a gateway without ids, which reports by our reference', (start) => {
  const opened = closeAfterEach();
  let station: GatewayStation;
  let service: Service;
  let client: ApiClient;

  const startWith = async (requestMs = 20_000, timing: Partial<DeliveryTiming> = {}, isIdempotent = false) => {
    station = opened(await GatewayStation.open(kannelDouble));
    const transport = HttpSmsTransport.forRoot({
      vendor: { ...kannelDouble.vendor(station.server.url), idempotent: isIdempotent },
      callbackUrl: `https://sms.example.org${PATH}`,
      callbackSecret: CALLBACK_SECRET,
      requestMs,
    });
    service = await start({ sms: { ...OPTIONS.sms, transport, delivery: { retryBaseMs: 1, ...timing } } });
    client = await service.client(1000);
  };
  beforeEach(() => startWith());

  /** Kannel calls the `dlr-url` of an SMS with its number for the outcome. */
  const reported = async (reference: string | undefined, state: number): Promise<number> => {
    const query = new URLSearchParams({ ref: reference ?? '', state: String(state) });
    return (await fetch(`${service.url}${PATH}/${CALLBACK_SECRET}?${query}`)).status;
  };
  const send = (number = phoneOf(1)) => client.sent({ signature: 'INFOS', content: 'Bonjour', number: [number] });
  const becomes = (smsId: string, wanted: DeliveryStatus): Promise<Details> =>
    eventually(
      () => client.details(smsId),
      ({ recipients }) => recipients.every(({ status }) => status === wanted),
    );
  /** Asserts the balance, and that every posting has its message. */
  const holds = async (units: number) => {
    expect(await client.balance()).toBe(units);
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  };

  test.each([
    [1, 'delivered', 999],
    [2, 'undelivered', 999],
    [34, 'undelivered', 999],
    [16, 'failed', 1000],
  ] as const)('is sent once it was accepted, and a report of %i makes it %s, once', async (state, status, units) => {
    const { smsID } = await send();
    await becomes(smsID, 'sent');
    const reference = station.taken[0]?.reference;
    expect(reference).toBe(`${smsID}.0.1`);
    for (const underWay of [0, 4, 8, 12]) expect(await reported(reference, underWay)).toBe(200);
    await becomes(smsID, 'sent');
    const answers = await Promise.all([1, 2, 3].map(() => reported(reference, state)));
    expect(answers).toEqual([200, 200, 200]);
    const details = await becomes(smsID, status);
    await holds(units);
    // Nothing that comes later changes anything.
    for (const other of [16, 2, 1]) await reported(reference, other);
    expect(await client.details(smsID)).toEqual(details);
    await holds(units);
  });

  test('a report of an earlier attempt neither ends nor refunds a later one', async () => {
    let answers = 0;
    station.fateOf = () => (answers++ < 2 ? BUSY : undefined);
    const { smsID } = await send();
    await becomes(smsID, 'sent');
    expect(station.taken.map(({ reference }) => reference)).toEqual([`${smsID}.0.3`]);
    for (const attempt of [1, 2]) {
      for (const state of [2, 16]) await reported(`${smsID}.0.${attempt}`, state);
    }
    await becomes(smsID, 'sent');
    await holds(999);
    await reported(`${smsID}.0.3`, 16);
    await becomes(smsID, 'failed');
    await holds(1000);
  });

  test('a report that a phone has the SMS of an earlier attempt makes it delivered', async () => {
    let answers = 0;
    station.fateOf = () => (answers++ < 1 ? BUSY : undefined);
    const { smsID } = await send();
    await becomes(smsID, 'sent');
    await reported(`${smsID}.0.1`, 1);
    await becomes(smsID, 'delivered');
    await reported(`${smsID}.0.2`, 16);
    await becomes(smsID, 'delivered');
    await holds(999);
  });

  test.each([
    [1, 'delivered', 999],
    [16, 'failed', 1000],
  ] as const)('a report of %i that overtakes the answer makes it %s', async (state, status, units) => {
    station.server.next('held');
    const { smsID } = await send();
    await until(() => station.taken.length === 1);
    expect(await reported(station.taken[0]?.reference, state)).toBe(200);
    station.server.release();
    await becomes(smsID, status);
    await holds(units);
  });

  test.each([
    [1, 'delivered', 999],
    [2, 'undelivered', 999],
    [16, 'failed', 1000],
  ] as const)('a lost answer leaves it unknown until a report of %i makes it %s', async (state, status, units) => {
    await startWith(300);
    station.fateOf = () => 'silent';
    const { smsID } = await send();
    await becomes(smsID, 'unknown');
    await holds(999);
    for (let time = 0; time < 2; time++) await reported(station.taken[0]?.reference, state);
    await becomes(smsID, status);
    expect(station.asked).toBe(1);
    await holds(units);
  });

  test.each([
    [2, 'undelivered', 999],
    [16, 'failed', 1000],
  ] as const)('an SMS that a crash left unknown is settled by a report of %i', async (state, status, units) => {
    // As after a crash: the lease ends, and no result of the attempt is stored.
    await startWith(20_000, { leaseMs: 50 });
    station.server.next('held');
    const { smsID } = await send();
    const { recipients } = await becomes(smsID, 'unknown');
    expect(recipients[0]?.refunded_units).toBe(0);
    for (const attempt of [2, 3, 0]) expect(await reported(`${smsID}.0.${attempt}`, state)).toBe(200);
    await becomes(smsID, 'unknown');
    for (let time = 0; time < 2; time++) expect(await reported(`${smsID}.0.1`, state)).toBe(200);
    await becomes(smsID, status);
    await holds(units);
    station.server.release();
    await reported(`${smsID}.0.1`, 1);
    await becomes(smsID, status);
    await holds(units);
  });

  test.each([
    [1, 'delivered', 999],
    [2, 'undelivered', 999],
    [16, 'failed', 1000],
  ] as const)(
    'with an idempotency key, no clear answer to any attempt and a report of %i make it %s',
    async (state, status, units) => {
      await startWith(300, { maxAttempts: 2 }, true);
      station.fateOf = () => 'silent';
      const { smsID } = await send();
      await until(() => station.taken.length === 1);
      // The worker still tries, so a report of failure may be about this attempt only.
      await reported(`${smsID}.0`, 16);
      await becomes(smsID, 'unknown');
      expect(station.taken.map(({ reference }) => reference)).toEqual([`${smsID}.0`, `${smsID}.0`]);
      await holds(999);
      for (let time = 0; time < 2; time++) await reported(`${smsID}.0`, state);
      await becomes(smsID, status);
      await holds(units);
      for (const other of [16, 2]) await reported(`${smsID}.0`, other);
      await becomes(smsID, status);
      await holds(units);
    },
  );

  test('without an idempotency key, a reference without an attempt settles nothing but a delivery', async () => {
    await startWith(300);
    station.fateOf = () => 'silent';
    const { smsID } = await send();
    await becomes(smsID, 'unknown');
    for (const state of [2, 16]) await reported(`${smsID}.0`, state);
    await becomes(smsID, 'unknown');
    await holds(999);
  });

  test('a report settles the one recipient whose reference it names', async () => {
    const { smsID } = await client.sent({
      signature: 'INFOS',
      content: 'Bonjour',
      number: [phoneOf(1), phoneOf(2), phoneOf(3)],
    });
    await becomes(smsID, 'sent');
    await reported(station.taken.find(({ to }) => to === phoneOf(2))?.reference, 16);
    await eventually(
      () => client.details(smsID),
      ({ recipients }) => recipients.map(({ status }) => status).join() === 'sent,failed,sent',
    );
    await holds(998);
  });

  test.each(['', 'x', 'sms.0.1', '.0.1', '0199-none.0.1', 'null', '../..'])(
    'a report on %j, which nobody sent, changes nothing',
    async (reference) => {
      const { smsID } = await send();
      await becomes(smsID, 'sent');
      expect(await reported(reference, 16)).toBe(reference === '' ? 400 : 200);
      await becomes(smsID, 'sent');
      await holds(999);
    },
  );

  test('a refusal in the answer fails it at once and refunds it', async () => {
    station.fateOf = () => kannelDouble.refusals.permanent.answer;
    const { smsID } = await send();
    expect((await becomes(smsID, 'failed')).recipients[0]).toMatchObject({ error: 'not_routable', refunded_units: 1 });
    await holds(1000);
  });
});
