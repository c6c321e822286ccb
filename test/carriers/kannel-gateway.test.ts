import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LedgerService } from '../../src/billing/ledger-service.js';
import type { DeliveryStatus } from '../../src/outbox/delivery-state.js';
import { HttpSmsTransport, kannel } from '../../src/transports/http/index.js';
import { messageParts } from '../../src/transports/smpp/parts/message-parts.js';
import { resolveSmppSettings } from '../../src/transports/smpp/resolve-settings.js';
import { until } from '../support/common/until.js';
import { snippets } from '../support/docs/readme.js';
import type { ApiClient, Details } from '../support/http/api-client.js';
import { type Service, startService } from '../support/mounting/services.js';
import { PEPPER } from '../support/otp/otp-app.js';
import { hasKannel, Kannel, MAX_MESSAGES, UNROUTED_PREFIX } from '../support/transports/carriers/kannel.js';
import { Forwarder } from '../support/transports/forwarder.js';
import { CALLBACK_SECRET } from '../support/transports/gateway/gateway-fixture.js';
import { smsOf } from '../support/transports/smpp-fixture.js';

import type { SmscSubmit } from '../support/transports/smsc/smsc-submit.js';
import { TestSmsc } from '../support/transports/smsc/test-smsc.js';

const suite = hasKannel() ? describe : describe.skip;

suite('a service whose HTTP gateway is Kannel', () => {
  let smsc: TestSmsc;
  let box: Kannel;
  let forwarder: Forwarder;
  let service: Service;
  let client: ApiClient;
  let phones = 22_670_000_000;
  let balance = 1000;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    smsc = opened(await TestSmsc.listen({ accounts: { kannel: 'secret' } }));
    forwarder = opened(await Forwarder.listen());
    const callbackUrl = `${forwarder.url}/api/v1/sms/callbacks/kannel`;
    const [, documented = ''] = snippets('ini').find(([name]) => name === 'kannel-service') ?? [];
    const texts = documented.replace(/https:\S*\/SECRET/, `${callbackUrl}/${CALLBACK_SECRET}`);
    box = opened(await Kannel.start({ smscPort: smsc.port, service: texts }));
    await until(() => smsc.connections.some(({ bind }) => bind !== undefined));
    const transport = HttpSmsTransport.forRoot({
      vendor: kannel({ username: 'test', password: 'secret', baseUrl: box.url, maxSegments: MAX_MESSAGES }),
      callbackUrl,
      callbackSecret: CALLBACK_SECRET,
    });
    const tariff = { base: 1, international: 3, home: 'BF' } as const;
    const sms = { tariff, transport, inboundSignatures: { 36200: ['INFOS'] }, delivery: { retryBaseMs: 1 } };
    service = opened(await startService('express', { sms, webhooks: { pepper: PEPPER } }));
    forwarder.target = service.url;
    client = await service.client(balance);
  });
  afterAll(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });

  function opened<T extends { close(): Promise<void> }>(each: T): T {
    open.push(each);
    return each;
  }

  const sent = async (content: string, number = String(++phones)) => {
    const { smsID } = await client.sent({ signature: 'INFOS', content, number: [number] });
    return { smsID, number };
  };
  const becomes = (smsId: string, wanted: DeliveryStatus): Promise<Details> =>
    until(
      () => client.details(smsId),
      ({ recipients }) => recipients.every(({ status }) => status === wanted),
      25_000,
    );
  /** Resolves with the submits to a number at the SMSC behind Kannel, once there are `count` of them. */
  const submitsTo = async (number: string, parts = 1): Promise<readonly SmscSubmit[]> => {
    const own = () => smsc.submits.filter(({ pdu }) => pdu.destination.address === number);
    await until(() => own().length >= parts);
    return own();
  };
  /** Asserts what the account has paid since the last call. */
  const paid = async (units: number) => {
    balance -= units;
    expect(await client.balance()).toBe(balance);
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  };

  test('an SMS that Kannel accepts is sent', async () => {
    const { smsID, number } = await sent('Bonjour Émile, à 15 h @ 12 $');
    await becomes(smsID, 'sent');
    expect(await submitsTo(number)).toHaveLength(1);
    await paid(1);
  });

  test.each([
    ['DELIVRD', 'delivered'],
    ['UNDELIV', 'undelivered'],
    ['EXPIRED', 'undelivered'],
  ] as const)('%s at the SMSC becomes %s, and is paid for', async (state, status) => {
    const { smsID, number } = await sent('Bonjour');
    const [submit] = await submitsTo(number);
    for (let time = 0; time < 2; time++) expect(await submit?.receipt({ state })).toBe(0);
    await becomes(smsID, status);
    await paid(1);
  });

  test('an SMS that the SMSC refuses fails and is refunded once', async () => {
    smsc.onSubmit = (submit) => {
      smsc.onSubmit = (next) => next.answer();
      submit.answer({ status: 0x0b });
    };
    const { smsID, number } = await sent('Bonjour');
    const details = await becomes(smsID, 'failed');
    expect(details.recipients[0]).toMatchObject({ error: 'kannel_16', refunded_units: 1 });
    expect(await submitsTo(number)).toHaveLength(1);
    await paid(0);
    // Kannel's call is repeated, as after a lost answer.
    const call = forwarder.calls.findLast((path) => path.includes(`${smsID}.0.1`)) ?? '';
    expect(call).toContain('state=16');
    expect((await fetch(`${forwarder.url}${call}`)).status).toBe(200);
    expect((await client.details(smsID)).refunded_units).toBe(1);
    await paid(0);
  });

  test('an SMS for which Kannel has no route is refused at once and refunded', async () => {
    const { smsID, number } = await sent('Bonjour', `${UNROUTED_PREFIX}000001`);
    expect((await becomes(smsID, 'failed')).recipients[0]).toMatchObject({ error: 'not_routable', refunded_units: 1 });
    expect(smsc.submits.filter(({ pdu }) => pdu.destination.address === number)).toEqual([]);
    await paid(0);
  });

  test.each([
    ['three parts of GSM-7', 'Réunion déplacée à 15 h, là-bas. '.repeat(10), 3],
    ['three parts of UCS-2', 'الرمز الخاص بك صالح لمدة خمس دقائق. '.repeat(5), 3],
  ])('a text of %s gets one report', async (_, content, parts) => {
    const { smsID, number } = await sent(content);
    const submits = await submitsTo(number, parts);
    expect(submits).toHaveLength(parts);
    for (const submit of submits) await submit.receipt({ state: 'DELIVRD' });
    await becomes(smsID, 'delivered');
    await paid(parts);
    expect(forwarder.calls.filter((path) => path.includes(`${smsID}.0.1`))).toHaveLength(1);
  });

  describe('with the sms-service of docs/carriers.md', () => {
    /** A phone sends a text to 36200, through the SMSC and Kannel. */
    const textFrom = async (from: string, text: string) => {
      const [link] = resolveSmppSettings({
        links: [{ host: 'localhost', systemId: 'client', password: 'secret' }],
      }).links;
      const [sms] = smsOf(text);
      const parts = link && sms ? messageParts(sms, link.format, () => 7, 0) : [];
      const source = { ton: 1, npi: 1, address: from };
      const destination = { ton: 3, npi: 0, address: '36200' };
      for (const part of parts) {
        const answer = await smsc.connection.deliver({ ...part, source, destination, registeredDelivery: 0 });
        expect(answer).toMatchObject({ command: 'deliver_sm_resp', status: 0 });
      }
    };
    const received = async (from: string) => {
      const { body } = await client.call('events?types=sms.received');
      const { items } = body as { items: { data: Record<string, unknown> }[] };
      return items.map(({ data }) => data).filter((data) => data.from === from);
    };

    test.each([
      ['GSM-7 with extension characters', 'Été à Ouaga : [12 €] & 100 % + 1'],
      ['three parts of GSM-7', 'Réunion déplacée à 15 h, là-bas. '.repeat(10).trim()],
      ['two parts of UCS-2', 'الرمز الخاص بك صالح لمدة خمس دقائق 😀. '.repeat(3).trim()],
    ])('a text from a phone in %s is received, and the phone gets no answer', async (_, text) => {
      await client.call('events?types=sms.received');
      const { smsID, number } = await sent('Bonjour');
      await becomes(smsID, 'sent');
      await textFrom(number, text);
      const texts = await until(
        () => received(number),
        (all) => all.length > 0,
      );
      expect(texts).toMatchObject([{ from: number, to: '36200', text, truncated: false }]);
      await submitsTo((await sent('Après')).number);
      expect(await submitsTo(number)).toHaveLength(1);
      await paid(2);
    });

    test('STOP from a phone ends the SMS to it', async () => {
      const { smsID, number } = await sent('Bonjour');
      await becomes(smsID, 'sent');
      await textFrom(number, 'Stop');
      await until(
        () => received(number),
        (all) => all.length > 0,
      );
      const { smsID: later } = await sent('Encore', number);
      expect((await becomes(later, 'failed')).recipients[0]).toMatchObject({ error: 'opted_out', units: 0 });
      expect(await submitsTo(number)).toHaveLength(1);
      await paid(1);
    });
  });
});
