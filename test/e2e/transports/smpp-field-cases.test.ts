import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MessagingEvents, type MessagingOptions } from 'nestjs-messaging';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { PLAIN_SHORT_MESSAGE } from '../../../src/transports/smpp/pdu/pdu.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient, Details } from '../../support/http/api-client.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import type { SmscSubmit } from '../../support/transports/smsc/smsc-submit.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

beforeAll(() => Logger.overrideLogger(false));

const NUMBER = '22670000000';
const LONG = `${'a'.repeat(153)}${'b'.repeat(10)}`;
const RECEIPT = 0x04;

describeService('what real carriers do over SMPP', (start) => {
  let smsc: TestSmsc;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;
  /** The sends that were reported as completed. */
  const completed: string[] = [];

  const options = (): Partial<MessagingOptions> => ({
    clock: { useValue: clock },
    otp: { pepper: 'a pepper for tests, 0123456789 abcdef' },
    sms: {
      tariff: { base: 1, international: 3, home: 'BF' },
      transport: SmppSmsTransport.forRoot({
        links: [
          {
            host: '127.0.0.1',
            port: smsc.port,
            systemId: 'client',
            password: 'secret',
            unmarkedReceipts: true,
            receipts: 'per-message',
            receiptStates: { PARKED: 'sent' },
          },
        ],
      }),
    },
  });

  beforeAll(async () => {
    smsc = await TestSmsc.listen();
    clock = new FakeClock();
    service = await start(options());
    service.app.get(MessagingEvents, { strict: false }).on('send.completed', ({ data }) => {
      completed.push(JSON.stringify(data));
    });
  });
  afterAll(() => smsc.close());
  beforeEach(async () => {
    smsc.onSubmit = (submit) => submit.answer();
    client = await service.client(100);
  });

  const send = (content: string) => client.sent({ signature: 'INFOS', content, number: [NUMBER] });
  const isCompleted = ({ smsID }: { smsID: string }) => completed.some((data) => data.includes(smsID));

  const turnTo = ({ smsID }: { smsID: string }, status: string): Promise<Details> =>
    eventually(
      () => client.details(smsID),
      ({ recipients }) => recipients.every((recipient) => recipient.status === status),
      { clock, stepMs: 20 },
    );

  /** The carrier's text, marked as a receipt unless `esmClass` is 0. */
  async function deliver(text: string, esmClass = RECEIPT): Promise<void> {
    const answer = await smsc.connection.deliver({
      ...PLAIN_SHORT_MESSAGE,
      source: { ton: 1, npi: 1, address: NUMBER },
      destination: { ton: 5, npi: 0, address: 'INFOS' },
      esmClass,
      shortMessage: Buffer.from(text, 'latin1'),
    });
    expect(answer.status).toBe(0);
  }

  const idOf = (submit: SmscSubmit | undefined) => submit?.idAs('decimal') ?? '';

  test('a session that the carrier has forgotten is bound again, and the SMS goes out at its first attempt', async () => {
    const bindings = smsc.connections.length;
    smsc.onSubmit = (submit) => submit.answer({ status: 0x04 });
    const receipt = await send('Bonjour');
    await eventually(() => smsc.connections.length >= bindings + 3, Boolean, { clock, stepMs: 20 });
    expect((await client.details(receipt.smsID)).recipients[0]?.error).toBeNull();
    smsc.onSubmit = (submit) => submit.answer();
    const { recipients } = await turnTo(receipt, 'sent');
    expect(recipients).toMatchObject([{ attempts: [{ status: 'sent' }], refunded_units: 0 }]);
    expect(await client.balance()).toBe(99);
  });

  test.each(['SUBMITD', 'ACCEPTD', 'BUFFRED', 'PARKED', 'NOBODY-KNOWS'])(
    'a receipt with %s ends nothing, and the next one does',
    async (state) => {
      const receipt = await send('Bonjour');
      await turnTo(receipt, 'sent');
      const id = idOf(smsc.submits.at(-1));
      await deliver(`id:${id} submit date:2611211000 done date:2611211001 stat:${state} err:000 text:`);
      expect((await client.details(receipt.smsID)).recipients).toMatchObject([{ status: 'sent', error: null }]);
      expect(isCompleted(receipt)).toBe(false);
      await deliver(`id:${id} submit date:2611211000 done date:2611211001 stat:DELIVRD err:000 text:`);
      await turnTo(receipt, 'delivered');
      await eventually(() => isCompleted(receipt), Boolean, { clock, stepMs: 20 });
    },
  );

  test.each(['NOCRED', 'NOROUTE', 'BLIST'])(
    'a receipt with %s says that nothing was sent, and the SMS is refunded once',
    async (state) => {
      const receipt = await send('Bonjour');
      await turnTo(receipt, 'sent');
      const text = `id:${idOf(smsc.submits.at(-1))} done date:2611211001 stat:${state} err:007 text:`;
      await deliver(text);
      await deliver(text);
      const { recipients } = await turnTo(receipt, 'failed');
      expect(recipients).toMatchObject([{ error: `smpp: ${state.toLowerCase()} 007`, refunded_units: 1 }]);
      expect(await client.balance()).toBe(100);
    },
  );

  test('a receipt without a mark is read as one, and the words of a person are a text', async () => {
    const texts: object[] = [];
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (text) => texts.push(text));
    const receipt = await send('Bonjour');
    await turnTo(receipt, 'sent');
    const id = idOf(smsc.submits.at(-1));
    await deliver(`id:${id} submit date:2607110700 done date:0000000000 stat:DELIVRD err:000 text:`, 0);
    await turnTo(receipt, 'delivered');
    expect(texts).toEqual([]);
    await deliver(`Wo bleibt id:${id} stat:DELIVRD err:000?`, 0);
    await eventually(() => texts.length > 0, Boolean, { clock, stepMs: 20 });
    expect(texts).toMatchObject([{ data: { text: `Wo bleibt id:${id} stat:DELIVRD err:000?` } }]);
  });

  test.each(['a7 ', 'b7\r\n', ' c7', '\td7 \r\n'])(
    'the id %j of the answer matches that of the receipt',
    async (messageId) => {
      smsc.onSubmit = (submit) => submit.answer({ messageId });
      const receipt = await send('Bonjour');
      await turnTo(receipt, 'sent');
      await deliver(`id:${messageId.trim()} stat:DELIVRD err:000 text:`);
      await turnTo(receipt, 'delivered');
    },
  );

  test.each([0, 1])('one receipt for two parts, with the id of part %i, applies to both', async (part) => {
    const before = smsc.submits.length;
    const receipt = await send(LONG);
    await turnTo(receipt, 'sent');
    await deliver(`id:${idOf(smsc.submits[before + part])} done date:2611211001 stat:DELIVRD err:000 text:`);
    const { recipients } = await turnTo(receipt, 'delivered');
    expect(recipients).toMatchObject([{ units: 2, refunded_units: 0 }]);
  });

  test('one receipt of refusal for two parts refunds the units of both, once', async () => {
    const before = smsc.submits.length;
    const receipt = await send(LONG);
    await turnTo(receipt, 'sent');
    for (const submit of smsc.submits.slice(before)) {
      await deliver(`id:${idOf(submit)} done date:2611211001 stat:REJECTD err:001 text:`);
    }
    const { recipients } = await turnTo(receipt, 'failed');
    expect(recipients).toMatchObject([{ units: 2, refunded_units: 2 }]);
    expect(await client.balance()).toBe(100);
  });

  test('the ledger is correct afterwards', async () => {
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  });
});
