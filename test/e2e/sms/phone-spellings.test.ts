import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { MessagingEvent } from '../../../src/events/event-types.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { type ErasureResult, ErasureService } from '../../../src/outbox/retention/erasure-service.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { encodeGsm7 } from '../../../src/sms/segmentation.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { PLAIN_SHORT_MESSAGE } from '../../../src/transports/smpp/pdu/pdu.js';
import { SmppSmsTransport } from '../../../src/transports/smpp/smpp-sms-transport.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

beforeAll(() => Logger.overrideLogger(false));

/** Two spellings of one phone's number each. */
const PHONES = [
  ['Benin', '22997000001', '2290197000001'],
  ["Côte d'Ivoire", '22507080910', '2250707080910'],
  ['Gabon', '24107123456', '24177123456'],
  ['Cameroon', '23770123456', '237670123456'],
  ['Mexico', '5215512345678', '525512345678'],
  ['Argentina', '541123456789', '5491123456789'],
  ['Argentina with 15', '54111523456789', '5491123456789'],
  ['Brazil', '553187654321', '5531987654321'],
] as const;
const [, OLD, TODAY] = PHONES[0];

describeService('two spellings of the number of a phone', (start) => {
  let transport: ScriptedTransport;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;
  let events: MessagingEvent<'optout.added' | 'optout.removed'>[];

  beforeEach(async () => {
    transport = new ScriptedTransport();
    clock = new FakeClock();
    events = [];
    service = await start({
      sms: { ...OPTIONS.sms, transport: { useValue: transport } },
      clock: { useValue: clock },
      otp: { pepper: PEPPER },
      retention: { secret: 'a secret for retention, 0123456789 abcdef' },
    });
    client = await service.client(1000);
    service.app
      .get(MessagingEvents, { strict: false })
      .on(['optout.added', 'optout.removed'], (event) => void events.push(event));
  });

  const says = (text: string, from: string) => transport.sink.inbound([{ route: 'scripted', from, to: 'INFOS', text }]);
  const optOuts = () => service.app.get(OptOutService, { strict: false });
  const send = (...number: string[]) => client.sent({ signature: 'INFOS', content: 'Bonjour', number });
  /** Erases a number. The erasure waits until other processes look for hashes. */
  const erased = async (number: string) => {
    let result: ErasureResult | undefined;
    const erasure = service.app
      .get(ErasureService, { strict: false })
      .erase(number)
      .then((each) => (result = each));
    await eventually(() => result !== undefined, Boolean, { clock, stepMs: 500 });
    return erasure;
  };
  const becomes = async (smsID: string) =>
    (
      await eventually(
        () => client.details(smsID),
        ({ recipients }) => recipients.every(({ status }) => !/^(queued|sending)$/.test(status)),
        { clock, stepMs: 50 },
      )
    ).recipients.map(({ number, status, error }) => `${number} ${status} ${error ?? ''}`.trim());

  test.each(PHONES.flatMap(([where, one, other]) => [[where, one, other] as const, [where, other, one] as const]))(
    '%s: a STOP from %s holds for %s',
    async (_, from, to) => {
      await says('STOP', from);
      const { smsID, sms_units } = await send(to, '22670000001');
      expect(sms_units).toBe(1);
      expect(await becomes(smsID)).toEqual([`${to} failed opted_out`, '22670000001 sent']);
    },
  );

  test('a STOP still holds after the number was erased, under either spelling', async () => {
    await says('STOP', OLD);
    expect(await erased(TODAY)).toMatchObject({ optOuts: 1 });
    for (const number of [OLD, TODAY])
      expect(await becomes((await send(number)).smsID)).toEqual([`${number} failed opted_out`]);
  });

  test('a STOP after the send was accepted applies to everything that waits, in any spelling', async () => {
    transport.answer = ({ attempt }) => (attempt === 1 ? { kind: 'retry', error: 'busy' } : { kind: 'sent' });
    const sent = [await send(OLD), await send(TODAY), await send('22670000001')];
    await eventually(() => transport.taken.length === 3, Boolean, { clock, stepMs: 50 });
    await says('STOP', TODAY);
    const states = await Promise.all(sent.map(({ smsID }) => becomes(smsID)));
    expect(states.flat()).toEqual([`${OLD} failed opted_out`, `${TODAY} failed opted_out`, '22670000001 sent']);
  });

  test('are one entry of the list: added once, found and removed by either spelling', async () => {
    const scope = { accountId: client.accountId, signature: 'INFOS' };
    expect(await optOuts().add(scope, [OLD, TODAY, '22670000001'])).toBe(2);
    expect(await optOuts().add(scope, [TODAY])).toBe(0);
    for (const number of [OLD, TODAY]) {
      expect((await optOuts().list({ ...scope, number })).items).toMatchObject([{ number: OLD }]);
    }
    expect(await optOuts().remove(scope, [TODAY])).toBe(1);
    expect(await becomes((await send(OLD, '22670000001')).smsID)).toEqual([
      `${OLD} sent`,
      '22670000001 failed opted_out',
    ]);
    expect(events.map(({ type, data }) => `${type} ${data.number}`)).toEqual([
      `optout.added ${OLD}`,
      'optout.added 22670000001',
      `optout.removed ${OLD}`,
    ]);
  });

  test('START takes back the STOP of the other spelling', async () => {
    await says('STOP', OLD);
    await says('START', TODAY);
    expect(await becomes((await send(OLD)).smsID)).toEqual([`${OLD} sent`]);
  });

  test('are one recipient of a send: the first spelling is used and charged once', async () => {
    const { number, sms_units, smsID } = await send(OLD, '22670000001', TODAY, OLD);
    expect([number, sms_units]).toEqual([[OLD, '22670000001'], expect.any(Number)]);
    await becomes(smsID);
    expect(transport.taken.map((sms) => sms.number).sort()).toEqual(['22670000001', OLD]);
  });

  test('find the same SMS', async () => {
    const ids = [(await send(OLD)).smsID, (await send(TODAY)).smsID];
    for (const number of [OLD, TODAY]) {
      const { items } = await client.list(`?number=${number}`);
      expect(items.map(({ smsID }) => smsID)).toEqual(ids.toReversed());
    }
  });

  test('are erased together', async () => {
    transport.answer = () => ({ kind: 'sent', final: 'delivered' });
    const { smsID } = await send(OLD);
    await becomes(smsID);
    expect(await erased(TODAY)).toMatchObject({ deliveries: 1, open: 0 });
    expect((await client.details(smsID)).recipients[0]?.number).toMatch(/^\*+$/);
  });

  test('share the limit of codes; a code is verified under the spelling to which it was sent', async () => {
    const ask = (number: string) => client.post('send/otp', { service: 'Boutique', number });
    for (const number of [OLD, TODAY, OLD, TODAY, OLD]) expect((await ask(number)).status).toBe(200);
    for (const number of [OLD, TODAY]) {
      const { status, headers } = await ask(number);
      expect([status, headers.get('x-error-code')]).toEqual([429, 'too_many_codes']);
    }
    expect((await ask('22997000002')).status).toBe(200);
  });
});

describeService('codes to two spellings of the number of a phone', (start) => {
  test('share the cooldown, which ends when one of them is verified', async () => {
    const clock = new FakeClock();
    const transport = new ScriptedTransport();
    const service = await start({
      sms: { ...OPTIONS.sms, transport: { useValue: transport } },
      clock: { useValue: clock },
      otp: { pepper: PEPPER, limits: { cooldownSeconds: 60 } },
    });
    const client = await service.client(1000);
    const ask = async (number: string, service = 'Boutique') => {
      const { status, headers } = await client.post('send/otp', { service, number });
      return [status, headers.get('retry-after')];
    };
    expect(await ask(OLD)).toEqual([200, null]);
    expect(await ask(TODAY)).toEqual([429, '60']);
    expect(await ask(OLD)).toEqual([429, '60']);
    expect(await ask(TODAY, 'Banque')).toEqual([200, null]);
    await eventually(() => transport.taken.length === 2, Boolean, { clock, stepMs: 50 });
    const otp = transport.taken
      .map(({ text }) => /Boutique.*?(\d{4})|(\d{4}).*?Boutique/.exec(text)?.slice(1).find(Boolean))
      .find(Boolean);
    expect((await client.post('verify/otp', { service: 'Boutique', number: OLD, otp })).status).toBe(200);
    expect(await ask(TODAY)).toEqual([200, null]);
    clock.advance(60_000);
    expect(await ask(OLD)).toEqual([200, null]);
  });
});

describeService('a STOP over SMPP in the national form of the home country', (start) => {
  let smsc: TestSmsc;
  let clock: FakeClock;
  let client: ApiClient;

  beforeAll(async () => {
    smsc = await TestSmsc.listen();
    clock = new FakeClock();
    const links = [{ host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret', home: 'BF' }];
    const service = await start({
      sms: { ...OPTIONS.sms, transport: SmppSmsTransport.forRoot({ links }) },
      clock: { useValue: clock },
    });
    client = await service.client();
    await eventually(() => smsc.connections[0]?.bind !== undefined, Boolean, { clock, stepMs: 20 });
  });
  afterAll(() => smsc.close());

  describe.each([
    [0, '70000001', '22670000001'],
    [2, '70000002', '22670000002'],
    [0, '070000003', '22670000003'],
    [1, '22670000004', '22670000004'],
    [0, '0022670000005', '22670000005'],
    [5, '+226 70 00 00 06', '22670000006'],
  ])('TON %d %j', (ton, address, number) => {
    test(`opts ${number} out`, async () => {
      const message = {
        ...PLAIN_SHORT_MESSAGE,
        source: { ton, npi: 1, address },
        destination: { ton: 5, npi: 0, address: 'INFOS' },
        shortMessage: encodeGsm7('STOP'),
      };
      expect((await smsc.connection.deliver(message)).status).toBe(0);
      const { smsID } = await client.sent({ signature: 'INFOS', content: 'Bonjour', number: [number] });
      expect((await client.details(smsID)).recipients).toMatchObject([
        { number, status: 'failed', error: 'opted_out' },
      ]);
    });
  });
});
