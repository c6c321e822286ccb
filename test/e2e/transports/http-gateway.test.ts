import { expect, test } from '@jest/globals';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
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
import { genericDouble } from '../../support/transports/gateway/generic-double.js';
import { orangeDouble } from '../../support/transports/gateway/orange-double.js';
import { twilioDouble } from '../../support/transports/gateway/twilio-double.js';
import type { DoubleCall, VendorDouble } from '../../support/transports/gateway/vendor-double.js';

const PATH = '/api/v1/sms/callbacks';

describeService('SMS by HTTP gateways', (start) => {
  const opened = closeAfterEach();
  let station: GatewayStation;
  let service: Service;
  let client: ApiClient;

  /**
   * @param requestMs on the machine's clock: more than a carrier takes to answer on a machine with ten times the load
   */
  const startWith = async (double: VendorDouble, more: Partial<MessagingOptions> = {}, requestMs = 20_000) => {
    station = opened(await GatewayStation.open(double));
    const transport = HttpSmsTransport.forRoot({
      vendor: double.vendor(station.server.url),
      // The carrier knows only the URL of a proxy.
      callbackUrl: `https://sms.example.org${PATH}/${double.name}`,
      requestMs,
      ...(double.signs ? {} : { callbackSecret: CALLBACK_SECRET }),
    });
    service = await start({ sms: { ...OPTIONS.sms, transport, delivery: { retryBaseMs: 1 } }, ...more });
    client = await service.client(1000);
  };

  /** The carrier calls our route through that proxy. */
  const report = async (call: DoubleCall, path = `${PATH}/${station.double.name}`) => {
    const secret = station.double.signs ? '' : `/${CALLBACK_SECRET}`;
    const query = call.query ? `?${call.query}` : '';
    const init = { method: 'POST', headers: call.headers, body: call.body };
    const answer = await fetch(`${service.url}${path}${secret}${query}`, init);
    return { status: answer.status, text: await answer.text() };
  };
  const publicUrl = () => {
    const secret = station.double.signs ? '' : `/${CALLBACK_SECRET}`;
    return `https://sms.example.org${PATH}/${station.double.name}${secret}`;
  };

  /** The state of the SMS that was sent to a number. */
  const receipt = (number: string, status: 'delivered' | 'undelivered') => {
    const { ids = [], reference } = station.taken.findLast(({ to }) => to === number) ?? {};
    const [id = ''] = ids;
    const known = reference === undefined ? {} : { reference };
    return station.double.receipt({ id, to: number, status, ...known }, publicUrl(), Date.now());
  };

  const turned = (smsId: string, states: Record<string, string>, clock?: FakeClock): Promise<Details> =>
    eventually(
      () => client.details(smsId),
      ({ recipients }) => recipients.every(({ number, status }) => states[number] === status),
      ...(clock === undefined ? [] : [{ clock, stepMs: 5 }]),
    );

  const send = (...number: string[]) => client.sent({ signature: 'INFOS', content: 'Bonjour à tous', number });

  for (const double of [genericDouble, twilioDouble]) {
    const { name } = double;
    test(`${name}: an SMS goes out, and its receipts come back through our own route`, async () => {
      await startWith(double);
      const [good, bad] = [phoneOf(1), phoneOf(2)];
      const { smsID } = await send(good, bad);
      await turned(smsID, { [good]: 'sent', [bad]: 'sent' });
      expect(station.taken.map(({ to, from, text }) => ({ to, from, text }))).toEqual(
        expect.arrayContaining([good, bad].map((to) => ({ to, from: 'INFOS', text: 'Bonjour à tous' }))),
      );
      expect((await report(receipt(good, 'delivered'))).status).toBe(double.signs ? 200 : 204);
      expect((await report(receipt(bad, 'undelivered'))).status).toBeLessThan(300);
      const details = await turned(smsID, { [good]: 'delivered', [bad]: 'undelivered' });
      expect(details).toMatchObject({ refunded_units: 0 });
      // The same receipt again, and one that contradicts it: nothing moves back.
      for (const status of ['delivered', 'undelivered'] as const) {
        for (const number of [good, bad]) expect((await report(receipt(number, status))).status).toBeLessThan(300);
      }
      expect(await client.details(smsID)).toEqual(details);
    });

    test(`${name}: an SMS that the vendor refuses fails and is refunded, one that it cannot take now is sent later`, async () => {
      await startWith(double);
      const [good, refused, busy] = [phoneOf(1), phoneOf(2), phoneOf(3)];
      let turnedAway = 0;
      station.fateOf = (number) => {
        if (number === refused) return double.refusals.permanent.answer;
        return number === busy && turnedAway++ < 2 ? double.refusals.temporary.answer : undefined;
      };
      const { smsID } = await send(good, refused, busy);
      const details = await turned(smsID, { [good]: 'sent', [refused]: 'failed', [busy]: 'sent' });
      expect(details.recipients.find(({ number }) => number === refused)).toMatchObject({
        error: double.refusals.permanent.code,
        refunded_units: 1,
      });
      expect(await client.balance()).toBe(998);
      expect(turnedAway).toBe(3);
    });

    test(`${name}: a call without proof changes nothing`, async () => {
      await startWith(double);
      const number = phoneOf(1);
      const { smsID } = await send(number);
      await turned(smsID, { [number]: 'sent' });
      const call = receipt(number, 'delivered');
      const forged = { ...call, headers: { ...call.headers, 'x-twilio-signature': 'AAAA' } };
      const init = { method: 'POST', headers: forged.headers, body: forged.body };
      for (const secret of double.signs ? [''] : ['', '/a-wrong-path-segment']) {
        const answer = await fetch(`${service.url}${PATH}/${name}${secret}`, init);
        expect(answer.status).toBe(double.signs ? 403 : 404);
      }
      expect((await fetch(`${service.url}${PATH}/nobody/${CALLBACK_SECRET}`, init)).status).toBe(404);
      await turned(smsID, { [number]: 'sent' });
    });

    test(`${name}: an SMS that is never answered is in doubt, is sent once, and costs the usual price`, async () => {
      await startWith(double, {}, 300);
      const number = phoneOf(1);
      station.fateOf = () => 'silent';
      const { smsID } = await send(number);
      await turned(smsID, { [number]: 'unknown' });
      expect(station.asked).toBe(1);
      expect(await client.balance()).toBe(999);
      if (double.signs) {
        // Twilio returns our reference, so its receipt settles even this.
        expect((await report(receipt(number, 'delivered'))).status).toBe(200);
        await turned(smsID, { [number]: 'delivered' });
      }
    });
  }

  test('orange: DeliveredToNetwork stays `sent` past the deadline of reports, until Orange says more', async () => {
    const clock = new FakeClock();
    await startWith(orangeDouble, { clock: { useValue: clock } });
    const [handedOn, silent] = [phoneOf(1), phoneOf(2)];
    const { smsID } = await send(handedOn, silent);
    await turned(smsID, { [handedOn]: 'sent', [silent]: 'sent' }, clock);
    const [id = ''] = station.taken.find(({ to }) => to === handedOn)?.ids ?? [];
    const said = orangeDouble.underWay(id, publicUrl(), clock.now(), 'DeliveredToNetwork');
    expect((await report({ ...said, body: said.body.replace('22670000001', handedOn) })).status).toBe(200);
    clock.advance(73 * 3_600_000);
    // An SMS of which Orange said nothing is in doubt by now; one that it handed on is not.
    await turned(smsID, { [handedOn]: 'sent', [silent]: 'unknown' }, clock);
    expect((await report(receipt(handedOn, 'undelivered'))).status).toBe(200);
    await turned(smsID, { [handedOn]: 'undelivered', [silent]: 'unknown' }, clock);
  });

  test('wrong credentials fail no SMS, which goes out when they are right again', async () => {
    await startWith(twilioDouble);
    const number = phoneOf(1);
    station.server.next(twilioDouble.unauthorized, twilioDouble.unauthorized);
    const { smsID } = await send(number);
    await until(
      () => station.asked,
      (asked) => asked === 3,
    );
    await turned(smsID, { [number]: 'sent' });
    expect(await client.balance()).toBe(999);
  });
});
