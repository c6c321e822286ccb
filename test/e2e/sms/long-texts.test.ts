import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { MessagingEvent } from '../../../src/events/event-types.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { ReceivedSmsStore } from '../../../src/sms/inbound/received-sms-store.js';
import { CarrierSink } from '../../../src/sms/receipts/carrier-sink.js';
import { encodeGsm7 } from '../../../src/sms/segmentation.js';
import type { InboundSms } from '../../../src/sms/sms-transport.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { HttpSmsTransport } from '../../../src/transports/http/http-sms-transport.js';
import { vonage } from '../../../src/transports/http/vendors/vonage.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../src/transports/smpp/pdu/pdu.js';
import { TAG } from '../../../src/transports/smpp/pdu/tlv.js';
import { SmppSmsTransport } from '../../../src/transports/smpp/smpp-sms-transport.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

const NUMBER = '22670000001';
const TO = '36111';
const WAIT_MS = 600_000;

beforeAll(() => Logger.overrideLogger(false));

describeService('long texts from phones, whose parts reach two processes', (start) => {
  const opened = closeAfterEach();
  let clock: FakeClock;
  let file: SqliteFile;
  /** Two processes, each with its own connection to the database. */
  let services: [Service, Service];
  let client: ApiClient;
  let heard: MessagingEvent<'sms.received'>[];

  const process = async (sms: Partial<MessagingOptions['sms']> = {}): Promise<Service> => {
    const service = await start({
      storage: file.storage(),
      clock: { useValue: clock },
      sms: { ...OPTIONS.sms, ...sms },
    });
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (event) => void heard.push(event));
    return opened(service);
  };
  const serve = async (sms?: Partial<MessagingOptions['sms']>) => {
    services = [await process(sms), await process(sms)];
    const [{ app }] = services;
    client = await services[1].client(100);
    await app
      .get(StartedStorage, { strict: false })
      .store(EventLog)
      .switchOn(client.accountId, Number.MAX_SAFE_INTEGER);
    const signatures = app.get(SignatureService, { strict: false });
    await signatures.register(client.accountId, TO);
    await signatures.verify(client.accountId, TO);
  };

  beforeEach(() => {
    clock = new FakeClock();
    heard = [];
    file = opened(new SqliteFile());
  });

  const says = ({ app }: Service, text: string, part: InboundSms['part'], over: Partial<InboundSms> = {}) =>
    app
      .get(CarrierSink, { strict: false })
      .inbound([{ route: 'carrier', from: NUMBER, to: TO, text, ...(part && { part }), ...over }]);
  const place = (number: number, total: number, reference = '8:7') => ({ reference, total, number });
  const said = async (account = client.accountId) => {
    const log = services[1].app.get(StartedStorage, { strict: false }).store(EventLog);
    const { events } = await log.read({ accountId: account, after: 0, types: ['sms.received'], limit: 100 });
    return events.flatMap(({ data }) => ('text' in data ? [data.text] : []));
  };
  const mayBeSent = async () =>
    (await client.sent({ signature: TO, content: 'Bonjour', number: [NUMBER] })).sms_units > 0;
  const store = ({ app }: Service) => app.get(ReceivedSmsStore, { strict: false });
  /** The parts that wait, in all processes. */
  const waiting = async () =>
    (await store(services[1]).dueTexts({ dueBy: Number.MAX_SAFE_INTEGER, maxTexts: 0, maxCharacters: 0, limit: 9999 }))
      .length;
  const passedOn = (count: number) =>
    eventually(
      () => heard.length,
      (length) => length >= count,
      { clock, stepMs: 15_000 },
    );

  test.each([
    ['the last one in the other process', [1, 2, 3], [0, 0, 1]],
    ['by turns', [1, 2, 3], [0, 1, 0]],
    ['backwards', [3, 2, 1], [1, 0, 1]],
    ['the last one first', [3, 1, 2], [0, 1, 1]],
    ['all in one process', [2, 3, 1], [1, 1, 1]],
  ])('are joined into one text: %s', async (_, numbers, processes) => {
    await serve();
    const words = ['Bonjour, ', 'je voudrais ', 'un rendez-vous'];
    for (const [turn, number] of numbers.entries()) {
      expect(heard).toEqual([]);
      await says(services[processes[turn] ?? 0] ?? services[0], words[number - 1] ?? '', place(number, 3));
    }
    expect(await said()).toEqual([words.join('')]);
    expect(heard).toHaveLength(1);
    clock.advance(2 * WAIT_MS);
    expect(await eventually(waiting, (count) => count === 0)).toBe(0);
    expect(await said()).toHaveLength(1);
  });

  test('are joined once each if both processes get a last part at the same moment', async () => {
    await serve();
    const phones = Array.from({ length: 20 }, (_, index) => `2267000${1000 + index}`);
    await Promise.all(
      phones.flatMap((from) =>
        [1, 2].map((number) =>
          says(services[number - 1] ?? services[0], `${from} ${number}.`, place(number, 2), { from }),
        ),
      ),
    );
    expect((await said()).sort()).toEqual(phones.map((from) => `${from} 1.${from} 2.`));
    expect(heard).toHaveLength(20);
    expect(await waiting()).toBe(0);
  });

  test('are joined once if the carrier repeats parts, before and after the last one, in any process and at once', async () => {
    await serve();
    const [one, two] = services;
    for (const each of [one, two, one]) await says(each, 'Un ', place(1, 2));
    await Promise.all([one, two, one, two].map((each) => says(each, 'deux', place(2, 2))));
    for (const each of [two, one]) await says(each, 'Un ', place(1, 2));
    expect([await said(), await waiting(), heard.length]).toEqual([['Un deux'], 0, 1]);
    clock.advance(WAIT_MS - 1);
    await says(two, 'deux', place(2, 2));
    expect(await waiting()).toBe(0);
  });

  test('are another text if a reference returns with other words', async () => {
    await serve();
    const [one, two] = services;
    for (const [text, number] of [
      ['ST', 1],
      ['OP', 2],
      ['RT', 2],
      ['STA', 1],
    ] as const) {
      await says(number === 1 ? one : two, text, place(number, 2));
    }
    expect(await said()).toEqual(['STOP', 'START']);
    // The same words are recognised for an hour, as in one process.
    clock.advance(3_600_000);
    for (const number of [1, 2]) await says(one, ['ST', 'OP'][number - 1] ?? '', place(number, 2));
    expect(await said()).toEqual(['STOP', 'START', 'STOP']);
  });

  test('are kept apart by phone, destination, route, reference and length', async () => {
    await serve();
    const [one, two] = services;
    const others: readonly (readonly [string, ReturnType<typeof place>, Partial<InboundSms>])[] = [
      ['phone', place(2, 2), { from: '22670000002' }],
      ['destination', place(2, 2), { to: '36112' }],
      ['route', place(2, 2), { route: 'other' }],
      ['reference', place(2, 2, '16:7'), {}],
      ['length', place(2, 3), {}],
    ];
    await says(one, 'a1 ', place(1, 2));
    for (const [text, part, over] of others) await says(two, text, part, over);
    expect(heard).toEqual([]);
    await says(two, 'a2', place(2, 2));
    expect(await said()).toEqual(['a1 a2']);
    expect(await waiting()).toBe(others.length);
  });

  test('are passed on as a fragment, once, if a part is missing after ten minutes; its words opt nobody out', async () => {
    await serve();
    const [one, two] = services;
    await says(one, 'ST', place(1, 3));
    clock.advance(WAIT_MS / 2);
    await says(two, 'OP', place(2, 3));
    clock.advance(WAIT_MS / 2 - 30_000);
    expect([await waiting(), heard.length]).toEqual([1, 0]);
    await passedOn(1);
    expect(await said()).toEqual(['STOP']);
    expect(await mayBeSent()).toBe(true);
    clock.advance(60_000);
    expect([await eventually(waiting, (count) => count === 0), heard.length]).toEqual([0, 1]);
  });

  test('opt out and in once they are complete', async () => {
    await serve();
    const [one, two] = services;
    await says(one, 'ST', place(1, 2));
    expect(await mayBeSent()).toBe(true);
    await says(two, 'OP', place(2, 2));
    expect(await mayBeSent()).toBe(false);
    await says(two, 'START', undefined);
    // The repeat of an old part does not undo what came after it.
    await says(one, 'OP', place(2, 2));
    expect(await mayBeSent()).toBe(true);
    expect(await said()).toEqual(['STOP', 'START']);
  });

  test('survive the processes that received them', async () => {
    await serve();
    await says(services[0], 'Un ', place(1, 3));
    await says(services[1], 'deux ', place(2, 3));
    for (const service of services) await service.close();
    services = [await process(), await process()];
    await says(services[1], 'trois', place(3, 3));
    expect(await said()).toEqual(['Un deux trois']);
  });

  test('are complete again with the repeat of the last part if the text could not be stored', async () => {
    await serve();
    const [one, two] = services;
    await says(one, 'Un ', place(1, 2));
    const { receive } = store(one);
    store(one).receive = () => Promise.reject(new StorageUnavailableError('away'));
    await expect(says(one, 'deux', place(2, 2))).rejects.toThrow(StorageUnavailableError);
    await says(two, 'deux', place(2, 2));
    store(one).receive = receive;
    await says(one, 'deux', place(2, 2));
    expect([await said(), heard.length]).toEqual([['Un deux'], 1]);
  });

  test('are passed on by another process if the one with the last part has died with it', async () => {
    await serve();
    const [one] = services;
    store(one).receive = () => Promise.reject(new StorageUnavailableError('away'));
    await says(one, 'ST', place(1, 2));
    await expect(says(one, 'OP', place(2, 2))).rejects.toThrow(StorageUnavailableError);
    await one.close();
    clock.advance(15_000);
    expect([await waiting(), heard.length]).toEqual([1, 0]);
    await passedOn(1);
    expect(await said()).toEqual(['STOP']);
    expect(await mayBeSent()).toBe(false);
  });

  test('are limited to a thousand that wait: the oldest is passed on', async () => {
    await serve();
    for (let index = 0; index < 1001; index++) {
      clock.advance(1);
      const from = String(22_670_000_000 + index);
      await says(services[index % 2] ?? services[0], `${index}`, place(1, 2), { from });
    }
    expect([await said(), await waiting()]).toEqual([['0'], 1000]);
  });

  test('are limited to a million characters that wait: the oldest are passed on', async () => {
    await serve();
    for (let index = 0; index < 40; index++) {
      clock.advance(1);
      await says(services[index % 2] ?? services[0], `${index} ${'a'.repeat(30_000)}`, place(1, 2, `sar:${index}`));
    }
    const left = await waiting();
    expect(left).toBe(33);
    expect((await said()).map((text) => text?.split(' ')[0])).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  });

  test.each([place(0, 2), place(3, 2), place(1, 1), place(Number.NaN, 2)])(
    'are complete by themselves at the position %j, which does not exist',
    async (part) => {
      await serve();
      await says(services[0], 'Bonjour', part);
      expect([await said(), await waiting()]).toEqual([['Bonjour'], 0]);
    },
  );

  test('are joined if a part cut an emoji in two; half of one becomes a replacement character', async () => {
    await serve();
    await says(services[0], '\ude00B', place(2, 2));
    await says(services[1], 'A\ud83d', place(1, 2));
    await says(services[1], 'A\ud83d', place(1, 2, '8:8'));
    await passedOn(2);
    expect(await said()).toEqual(['A😀B', 'A\ufffd']);
  });

  test('cost a text of one part nothing', async () => {
    await serve();
    const asked: string[] = [];
    store(services[0]).addPart = async () => void asked.push('addPart');
    store(services[0]).dueTexts = async () => [void asked.push('dueTexts')].flatMap(() => []);
    await says(services[0], 'Bonjour', undefined, { id: '1' });
    expect([await said(), asked]).toEqual([['Bonjour'], []]);
  });

  test('are joined over SMPP, in the header or as sar_ parameters, on one link of each process', async () => {
    const smsc = await TestSmsc.listen();
    const links = [{ host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' }];
    await serve({ transport: SmppSmsTransport.forRoot({ links }) });
    await eventually(
      () => smsc.connections.filter(({ bind }) => bind !== undefined).length,
      (bound) => bound === 2,
      { clock, stepMs: 20 },
    );
    const message = (over: Partial<ShortMessage>): ShortMessage => ({
      ...PLAIN_SHORT_MESSAGE,
      source: { ton: 1, npi: 1, address: NUMBER },
      destination: { ton: 3, npi: 0, address: TO },
      ...over,
    });
    const header = (number: number, text: string) =>
      message({
        esmClass: 0x40,
        shortMessage: Buffer.concat([Uint8Array.of(5, 0, 3, 7, 2, number), encodeGsm7(text)]),
      });
    const sar = (number: number, text: string) =>
      message({
        shortMessage: encodeGsm7(text),
        tlvs: [
          { tag: TAG.sarMsgRefNum, value: Uint8Array.of(0, 7) },
          { tag: TAG.sarTotalSegments, value: Uint8Array.of(2) },
          { tag: TAG.sarSegmentSeqnum, value: Uint8Array.of(number) },
        ],
      });
    const deliver = async (link: number, pdu: ShortMessage) => (await smsc.connections[link]?.deliver(pdu))?.status;
    expect(await deliver(0, header(1, 'Un '))).toBe(0);
    expect(await deliver(1, header(2, 'deux'))).toBe(0);
    expect(await Promise.all([deliver(1, sar(1, 'Trois ')), deliver(0, sar(2, 'quatre'))])).toEqual([0, 0]);
    expect(await said()).toEqual(['Un deux', 'Trois quatre']);
    for (const service of services) await service.close();
    await smsc.close();
  });

  test('are joined over HTTP, by the callbacks of Vonage at one process and the other', async () => {
    const callbackSecret = 'a-secret-of-the-path-0123456789';
    const vendor = vonage({ apiKey: 'k', apiSecret: 's', baseUrl: 'http://127.0.0.1:9' });
    await serve({ transport: HttpSmsTransport.forRoot({ vendor, callbackSecret }) });
    const call = async ({ url }: Service, text: string, part: number) => {
      const fields = { msisdn: NUMBER, to: TO, type: 'text', messageId: `0B${text}`, text };
      const concat = { concat: 'true', 'concat-ref': '7', 'concat-total': '2', 'concat-part': String(part) };
      const query = new URLSearchParams({ ...fields, ...concat }).toString();
      return (await fetch(`${url}/api/v1/sms/callbacks/vonage/${callbackSecret}?${query}`)).status;
    };
    expect(await call(services[0], 'Un ', 1)).toBe(200);
    expect(await said()).toEqual([]);
    expect(await call(services[1], 'deux', 2)).toBe(200);
    expect(await call(services[0], 'deux', 2)).toBe(200);
    expect(await said()).toEqual(['Un deux']);
  });
});
