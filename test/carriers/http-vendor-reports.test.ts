import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LedgerService } from '../../src/billing/ledger-service.js';
import { HOUR_MS } from '../../src/common/time.js';
import type { DeliveryStatus } from '../../src/outbox/delivery-state.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { HttpSmsTransport, smsgate } from '../../src/transports/http/index.js';
import { eventually } from '../support/common/eventually.js';
import type { ApiClient, Details } from '../support/http/api-client.js';
import { ONE_ADAPTER } from '../support/http/http-apps.js';
import { phoneOf } from '../support/http/sms-client.js';
import { OPTIONS } from '../support/mounting/messaging-app.js';
import { type Service, startService } from '../support/mounting/services.js';
import { PEPPER } from '../support/otp/otp-app.js';
import { CALLBACK_SECRET } from '../support/transports/gateway/gateway-fixture.js';
import type { GatewayAnswer, Trouble } from '../support/transports/gateway/gateway-server.js';
import { GatewayStation } from '../support/transports/gateway/gateway-station.js';
import { httpsmsDouble, httpsmsEvent } from '../support/transports/gateway/httpsms-double.js';
import { jasminDouble } from '../support/transports/gateway/jasmin-double.js';
import { kannelDouble } from '../support/transports/gateway/kannel-double.js';
import { mtnDouble } from '../support/transports/gateway/mtn-double.js';
import { smsgateDouble } from '../support/transports/gateway/smsgate-double.js';
import { textbeeDouble } from '../support/transports/gateway/textbee-double.js';
import { type DoubleCall, json, type VendorDouble } from '../support/transports/gateway/vendor-double.js';

const UNITS = 1000;
/** More than a double takes to answer on a machine with ten times the load. */
const REQUEST_MS = 20_000;
const HTML: GatewayAnswer = { status: 200, body: '<html>Welcome</html>' };

/** SMSGate with one phone, which may get a request again. */
const onePhoneDouble: VendorDouble = {
  ...smsgateDouble,
  vendor: (baseUrl) =>
    smsgate({
      username: 'phone',
      password: 'smsgate-fixture-password',
      ...smsgateDouble.options,
      deviceId: 'phone-1',
      baseUrl,
    }),
};

/** A vendor, and what its documentation lets us expect of it. */
interface Expectations {
  readonly double: VendorDouble;
  /** Its reports name no attempt and no SMS of ours, so they cannot settle an SMS whose answer was lost. */
  readonly namesNoReference?: true;
  /** One SMS for all attempts. */
  readonly isIdempotent?: true;
  /** It never reports that it sent nothing. */
  readonly refusesNothing?: true;
  /** It reports no texts from phones. */
  readonly hasNoInbound?: true;
}

const VENDORS: readonly (readonly [string, Expectations])[] = [
  ['SMSGate with one phone', { double: onePhoneDouble, isIdempotent: true }],
  ['SMSGate', { double: smsgateDouble }],
  ['httpSMS', { double: httpsmsDouble }],
  ['textbee', { double: textbeeDouble, namesNoReference: true }],
  ['Kannel', { double: kannelDouble }],
  ['Jasmin', { double: jasminDouble }],
  ['MTN', { double: mtnDouble, refusesNothing: true, hasNoInbound: true }],
];

let phones = 0;

beforeAll(() => Logger.overrideLogger(false));

describe.each(VENDORS)(
  'the service over %s',
  (_name, { double, namesNoReference, isIdempotent, refusesNothing, hasNoInbound }) => {
    const path = `/api/v1/sms/callbacks/${double.name}/${CALLBACK_SECRET}`;
    const url = `https://sms.example.org${path}`;
    const clock = new FakeClock();
    let station: GatewayStation;
    let service: Service;
    let client: ApiClient;
    let number: string;

    beforeAll(async () => {
      station = await GatewayStation.open(double);
      const transport = HttpSmsTransport.forRoot({
        vendor: double.vendor(station.server.url),
        callbackUrl: `https://sms.example.org/api/v1/sms/callbacks/${double.name}`,
        callbackSecret: CALLBACK_SECRET,
        requestMs: REQUEST_MS,
      });
      const inboundSignatures = { 36200: ['INFOS'], 22670990000: ['INFOS'] };
      service = await startService(ONE_ADAPTER, {
        sms: { ...OPTIONS.sms, transport, inboundSignatures, delivery: { retryBaseMs: 1, retryMaxMs: 5 } },
        webhooks: { pepper: PEPPER },
        clock: { useValue: clock },
      });
    });
    afterAll(async () => {
      await service.close();
      await station.close();
    });
    beforeEach(async () => {
      client = await service.client(UNITS);
      number = phoneOf(++phones);
      station.fateOf = () => undefined;
    });

    const send = (who = client, to = number) => who.sent({ signature: 'INFOS', content: 'Bonjour', number: [to] });
    const called = async ({ method, query, headers, body }: DoubleCall): Promise<number> => {
      const init = method === 'GET' ? { method, headers } : { method: 'POST', headers, body };
      return (await fetch(`${service.url}${path}${query ? `?${query}` : ''}`, init)).status;
    };
    /** The SMS to this test's phone, as the vendor read it from its latest request. */
    const order = (to = number) => {
      const known = station.taken.findLast((sms) => sms.to === to);
      if (known) return known;
      const asked = station.server.requests.map((request) => double.read(request));
      const sms = asked.findLast((each) => typeof each !== 'string' && each.to === to);
      if (sms === undefined || typeof sms === 'string') throw new Error(`Nothing was sent to ${to}.`);
      return { ...sms, ids: [] };
    };
    const place = ({ to, ids, reference }: ReturnType<typeof order> = order()) => ({
      id: ids[0] ?? 'unknown-id',
      to,
      ...(reference === undefined ? {} : { reference }),
    });
    const reportOf = (status: 'delivered' | 'undelivered', of = place()) =>
      double.receipt({ ...of, status }, url, clock.now());
    const refusalOf = (of = place()) => double.refused?.(of, url, clock.now()) ?? reportOf('undelivered', of);
    const becomes = (smsId: string, wanted: DeliveryStatus, who = client): Promise<Details> =>
      eventually(
        () => who.details(smsId),
        ({ recipients }) => recipients.every(({ status }) => status === wanted),
        { clock, stepMs: 50 },
      );
    /** The worker's timers run on the fake clock, so nothing is handed over while it stands still. */
    const happens = (isIt: () => boolean) => eventually(isIt, Boolean, { clock, stepMs: 5 });
    const holds = async (units: number, who = client) => {
      expect(await who.balance()).toBe(units);
      expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
    };
    const undelivered = double.failure ?? 'undelivered';
    const afterUndelivered = undelivered === 'failed' ? UNITS : UNITS - 1;

    test('a report of delivery makes an SMS delivered, and later reports change nothing', async () => {
      const { smsID } = await send();
      await becomes(smsID, 'sent');
      expect(order()).toMatchObject({ from: double.ownNumber ?? 'INFOS', text: 'Bonjour' });
      expect(await called(reportOf('delivered'))).toBe(200);
      const details = await becomes(smsID, 'delivered');
      for (const call of [
        reportOf('delivered'),
        double.underWay(place().id, url, clock.now()),
        reportOf('undelivered'),
        refusalOf(),
      ])
        expect(await called(call)).toBe(200);
      expect(await client.details(smsID)).toEqual(details);
      await holds(UNITS - 1);
    });

    test('a report of failure, three times at once, refunds an SMS once', async () => {
      const { smsID } = await send();
      await becomes(smsID, 'sent');
      const call = refusalOf();
      expect(await Promise.all([1, 2, 3].map(() => called(call)))).toEqual([200, 200, 200]);
      const { recipients } = await becomes(smsID, refusesNothing ? 'undelivered' : 'failed');
      expect(recipients[0]?.refunded_units).toBe(refusesNothing ? 0 : 1);
      for (const late of [reportOf('delivered'), call]) expect(await called(late)).toBe(200);
      await holds(refusesNothing ? UNITS - 1 : UNITS);
    });

    test.each(['delivered', 'undelivered'] as const)(
      'a report of %s that overtakes the answer is neither lost nor delayed',
      async (status) => {
        station.server.next('held');
        const { smsID } = await send();
        await happens(() => station.taken.some(({ to }) => to === number));
        expect(await called(reportOf(status))).toBe(200);
        station.server.release();
        await becomes(smsID, status === 'delivered' ? status : undelivered);
        await holds(status === 'delivered' ? UNITS - 1 : afterUndelivered);
      },
    );

    test('a report of an earlier attempt neither ends nor refunds a later one', async () => {
      let earlier: ReturnType<typeof place> | undefined;
      station.fateOf = () => (earlier === undefined ? double.refusals.throttled.answer : undefined);
      const { smsID } = await send();
      await happens(() => station.server.requests.some((request) => Object(double.read(request)).to === number));
      earlier = place();
      await becomes(smsID, 'sent');
      expect(place().reference === earlier.reference).toBe(isIdempotent === true || namesNoReference === true);
      if (isIdempotent) return;
      for (const call of [reportOf('undelivered', earlier), refusalOf(earlier)]) expect(await called(call)).toBe(200);
      await becomes(smsID, 'sent');
      await holds(UNITS - 1);
      await called(refusalOf());
      await becomes(smsID, refusesNothing ? 'undelivered' : 'failed');
    });

    test.each<readonly [string, GatewayAnswer | Trouble]>([
      ['a page of HTML', HTML],
      ['half an answer', 'malformed'],
      ['500', { status: 500, body: 'Internal Server Error' }],
    ])('%s leaves an SMS in doubt, and never sends it twice', async (_answer, fate) => {
      station.fateOf = () => fate;
      const before = station.asked;
      const { smsID } = await send();
      if (isIdempotent) {
        await happens(() => station.asked > before);
        station.fateOf = () => undefined;
        await becomes(smsID, 'sent');
        return;
      }
      await becomes(smsID, 'unknown');
      expect(station.asked).toBe(before + 1);
      await holds(UNITS - 1);
      for (let time = 0; time < 2; time++) expect(await called(reportOf('undelivered'))).toBe(200);
      await becomes(smsID, namesNoReference ? 'unknown' : undelivered);
      await holds(namesNoReference ? UNITS - 1 : afterUndelivered);
    });

    test('503 is tried again until the vendor takes the SMS', async () => {
      let refusals = 0;
      station.fateOf = () => (refusals++ < 3 ? { status: 503, body: '' } : undefined);
      const { smsID } = await send();
      await becomes(smsID, 'sent');
      expect(station.taken.filter(({ to }) => to === number)).toHaveLength(1);
      await holds(UNITS - 1);
    });

    test('409 with a message is success for SMSGate, which has the SMS, and a refusal for all others', async () => {
      station.fateOf = () => json(409, { message: 'message with the same ID already exists' });
      const { smsID } = await send();
      await becomes(smsID, double.name === 'smsgate' ? 'sent' : 'failed');
      await holds(double.name === 'smsgate' ? UNITS - 1 : UNITS);
      if (double.name !== 'smsgate') return;
      await called(reportOf('delivered'));
      await becomes(smsID, 'delivered');
    });

    test('a state that nobody knows is acknowledged and changes nothing', async () => {
      const { smsID } = await send();
      const details = await becomes(smsID, 'sent');
      const { id, reference = id } = place();
      for (const state of ['brandnew', 'constructor', '64', 'ESME_ROK'])
        expect(await called(double.underWay(double.hasNoIds ? reference : id, url, clock.now(), state))).toBe(200);
      expect(await client.details(smsID)).toEqual(details);
    });

    test("a report on one account's SMS changes no other account", async () => {
      const other = await service.client(UNITS);
      const another = phoneOf(++phones);
      const [own, theirs] = [await send(), await send(other, another)];
      await becomes(own.smsID, 'sent');
      const details = await becomes(theirs.smsID, 'sent', other);
      expect(await called(refusalOf())).toBe(200);
      await becomes(own.smsID, refusesNothing ? 'undelivered' : 'failed');
      // The number of another account's SMS, and the id of ours, which is settled.
      expect(await called(refusalOf({ ...place(), to: another }))).toBe(200);
      expect(await other.details(theirs.smsID)).toEqual(details);
      await holds(UNITS - 1, other);
    });

    if (double.ownNumber !== undefined) {
      test('a phone that is off for an hour leaves an SMS sent, until it is back and reports', async () => {
        const { smsID } = await send();
        await becomes(smsID, 'sent');
        clock.advance(HOUR_MS);
        if (double.name === 'httpsms') {
          const about = { message_id: place().id, request_id: place().reference, contact: `+${number}` };
          const expired = (isFinal: boolean) =>
            called(httpsmsEvent('message.send.expired', { ...about, is_final: isFinal }, url, clock.now()));
          expect(await expired(false)).toBe(200);
          await becomes(smsID, 'sent');
          expect(await expired(true)).toBe(200);
          await becomes(smsID, 'unknown');
        }
        const [recipient] = (await client.details(smsID)).recipients;
        const status = double.name === 'httpsms' ? 'unknown' : 'sent';
        expect(recipient).toMatchObject({ status, refunded_units: 0 });
        expect(await called(reportOf('delivered'))).toBe(200);
        await becomes(smsID, 'delivered');
        await holds(UNITS - 1);
      });
    }

    if (!hasNoInbound) {
      test('a text from a phone is an event of the account that wrote to it, and STOP ends its SMS', async () => {
        const received = async () => {
          const { status, body } = await client.call('events?types=sms.received');
          expect(status).toBe(200);
          return (body as { items: { data: Record<string, unknown> }[] }).items.map(({ data }) => data);
        };
        expect(await received()).toEqual([]);
        await becomes((await send()).smsID, 'sent');
        const to = double.ownNumber ?? '36200';
        const stop = double.inbound({ from: number, to, text: 'STOP' }, url, clock.now());
        for (let time = 0; time < 2; time++) expect(await called(stop)).toBe(200);
        const texts = await eventually(received, (all) => all.length > 0, { clock });
        expect(texts).toMatchObject([{ from: number, to, text: 'STOP', truncated: false }]);
        const { smsID, sms_units } = await send();
        expect(sms_units).toBe(0);
        expect((await becomes(smsID, 'failed')).recipients[0]).toMatchObject({ error: 'opted_out', units: 0 });
        await holds(UNITS - 1);
      });
    }
  },
);
