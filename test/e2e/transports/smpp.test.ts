import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MessagingEvents, type MessagingOptions } from 'nestjs-messaging';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { encodeGsm7 } from '../../../src/sms/segmentation.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { decodeGsm7 } from '../../../src/transports/smpp/incoming/decode-text.js';
import { PLAIN_SHORT_MESSAGE } from '../../../src/transports/smpp/pdu/pdu.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient, Details } from '../../support/http/api-client.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { textOf } from '../../support/transports/smpp-fixture.js';
import type { SmscSubmit } from '../../support/transports/smsc/smsc-submit.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

beforeAll(() => Logger.overrideLogger(false));

const NUMBER = '22670000000';
/** The bit of `esm_class` that says that a short message begins with a header. */
const UDH = 0x40;
const LONG = `${'a'.repeat(153)}${'b'.repeat(153)}${'c'.repeat(10)}`;

describeService('SMS over SMPP', (start) => {
  let smsc: TestSmsc;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;

  const options = (): Partial<MessagingOptions> => ({
    clock: { useValue: clock },
    otp: { pepper: 'a pepper for tests, 0123456789 abcdef' },
    sms: {
      tariff: { base: 1, international: 3, home: 'BF' },
      transport: SmppSmsTransport.forRoot({
        links: [{ host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' }],
      }),
    },
  });

  beforeAll(async () => {
    smsc = await TestSmsc.listen();
    clock = new FakeClock();
    service = await start(options());
  });
  afterAll(() => smsc.close());
  beforeEach(async () => {
    smsc.onSubmit = (submit) => submit.answer();
    client = await service.client(100);
  });

  const send = (content: string, number = [NUMBER]) => client.sent({ signature: 'INFOS', content, number });

  const turnTo = ({ smsID }: { smsID: string }, status: string): Promise<Details> =>
    eventually(
      () => client.details(smsID),
      ({ recipients }) => recipients.every((recipient) => recipient.status === status),
      { clock, stepMs: 20 },
    );

  /** The submits that arrive while `act` runs, as soon as there are this many. */
  async function submitsOf(count: number, act: () => Promise<unknown>): Promise<readonly SmscSubmit[]> {
    const before = smsc.submits.length;
    await act();
    await eventually(() => smsc.submits.length >= before + count, Boolean, { clock, stepMs: 20 });
    return smsc.submits.slice(before);
  }

  test('is sent when the carrier has taken it, and delivered when the carrier says so', async () => {
    const receipt = await send('Bonjour');
    await turnTo(receipt, 'sent');
    const submit = smsc.submits.at(-1);
    expect(submit?.pdu).toMatchObject({
      source: { ton: 5, npi: 0, address: 'INFOS' },
      destination: { ton: 1, npi: 1, address: NUMBER },
      registeredDelivery: 1,
    });
    expect(await submit?.receipt()).toBe(0);
    const { recipients } = await turnTo(receipt, 'delivered');
    expect(recipients).toMatchObject([{ error: null, units: 1, refunded_units: 0 }]);
  });

  test('of several parts is delivered when all of them are', async () => {
    let receipt = { smsID: '' };
    const submits = await submitsOf(3, async () => {
      receipt = await send(LONG);
    });
    await turnTo(receipt, 'sent');
    expect(submits.map(({ pdu }) => textOf(pdu)).join('')).toBe(LONG);
    await submits[2]?.receipt();
    await submits[0]?.receipt();
    expect((await client.details(receipt.smsID)).recipients[0]?.status).toBe('sent');
    await submits[1]?.receipt();
    await turnTo(receipt, 'delivered');
  });

  test('with personal texts has parts, coding and headers by the text of each recipient', async () => {
    const names = new Map([
      ['22670000001', 'Awa'],
      ['22670000002', 'é'.repeat(170)],
      ['22670000003', 'ê'],
      ['22670000004', 'ê'.repeat(80)],
    ]);
    const to = [...names].map(([number, name]) => ({ number, vars: { name } }));
    const submits = await submitsOf(6, () => client.sent({ signature: 'INFOS', content: 'Bonjour {name}', to }));
    const partsOf = (number: string) => submits.flatMap(({ pdu }) => (pdu.destination.address === number ? [pdu] : []));
    const shapes = [...names.keys()].map((number) =>
      partsOf(number).map(({ dataCoding, esmClass }) => [dataCoding, (esmClass & UDH) !== 0]),
    );
    expect(shapes).toEqual([
      [[0, false]],
      [
        [0, true],
        [0, true],
      ],
      [[8, false]],
      [
        [8, true],
        [8, true],
      ],
    ]);
    for (const [number, name] of names) {
      const octets = Buffer.from(partsOf(number).map(textOf).join(''), 'latin1');
      const isUcs2 = partsOf(number)[0]?.dataCoding === 8;
      expect(isUcs2 ? octets.swap16().toString('utf16le') : decodeGsm7(octets)).toBe(`Bonjour ${name}`);
    }
  });

  test.each([
    ['UNDELIV', 'undelivered', 0],
    ['EXPIRED', 'undelivered', 0],
    ['REJECTD', 'failed', 1],
  ] as const)('that ends as %s is %s, and %i units are refunded', async (state, status, refunded) => {
    const receipt = await send('Bonjour');
    await turnTo(receipt, 'sent');
    await smsc.submits.at(-1)?.receipt({ state, err: '045' });
    const { recipients } = await turnTo(receipt, status);
    expect(recipients).toMatchObject([{ error: `smpp: ${state.toLowerCase()} 045`, refunded_units: refunded }]);
    expect(await client.balance()).toBe(99 + refunded);
  });

  test('that the carrier refuses is failed and refunded', async () => {
    smsc.onSubmit = (submit) => submit.answer({ status: 0x0b });
    const { recipients } = await turnTo(await send('Bonjour'), 'failed');
    expect(recipients).toMatchObject([{ error: 'smpp: 0x0b', refunded_units: 1 }]);
    expect(await client.balance()).toBe(100);
  });

  test('whose receipt overtakes the answer is delivered', async () => {
    const early: Promise<number>[] = [];
    smsc.onSubmit = (submit) => {
      early.push(submit.receipt());
      void early[0]?.then(() => submit.answer());
    };
    await turnTo(await send('Bonjour'), 'delivered');
    expect(await Promise.all(early)).toEqual([0]);
  });

  test('whose link drops is unknown, is not sent again, and is not refunded', async () => {
    const before = smsc.submits.length;
    smsc.onSubmit = (submit) => submit.connection.drop();
    const receipt = await send('Bonjour');
    await turnTo(receipt, 'unknown');
    smsc.onSubmit = (submit) => submit.answer();
    await turnTo(await send('Bonsoir'), 'sent');
    expect(smsc.submits.slice(before).map(({ pdu }) => textOf(pdu))).toEqual(['Bonjour', 'Bonsoir']);
    expect(await client.balance()).toBe(98);
  });

  test('with a code has no value for the carrier after its time', async () => {
    const [submit] = await submitsOf(1, () => client.post('send/otp', { service: 'Banque', number: NUMBER }));
    const [, minutes, seconds] = /^00000000(\d\d)(\d\d)000R$/.exec(submit?.pdu.validityPeriod ?? '') ?? [];
    const left = Number(minutes) * 60 + Number(seconds);
    expect(left).toBeGreaterThan(290);
    expect(left).toBeLessThanOrEqual(300);
  });

  test('from a phone is passed to the host', async () => {
    const heard: object[] = [];
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (text) => heard.push(text));
    const answer = await smsc.connection.deliver({
      ...PLAIN_SHORT_MESSAGE,
      source: { ton: 1, npi: 1, address: NUMBER },
      destination: { ton: 3, npi: 0, address: '888' },
      shortMessage: encodeGsm7('STOP'),
    });
    expect(answer.status).toBe(0);
    expect(heard).toMatchObject([{ account: '*', data: { from: NUMBER, to: '888', text: 'STOP' } }]);
  });

  test('leaves a correct ledger', async () => {
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  });
});
