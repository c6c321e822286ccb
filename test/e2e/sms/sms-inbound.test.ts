import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { DAY_MS } from '../../../src/common/time.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { MessagingEvent } from '../../../src/events/event-types.js';
import type { ReceivedSms } from '../../../src/events/events.api.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { ReceivedSmsStore } from '../../../src/sms/inbound/received-sms-store.js';
import { encodeGsm7 } from '../../../src/sms/segmentation.js';
import type { SmsOptions } from '../../../src/sms/sms-options.js';
import type { InboundSms } from '../../../src/sms/sms-transport.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../src/transports/smpp/pdu/pdu.js';
import { SmppSmsTransport } from '../../../src/transports/smpp/smpp-sms-transport.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

const NUMBER = '22670000001';

beforeAll(() => Logger.overrideLogger(false));

const logOf = ({ app }: Service) => app.get(StartedStorage, { strict: false }).store(EventLog);

/** The texts in an account's log, oldest first. */
async function textsOf(service: Service, { accountId }: ApiClient): Promise<ReceivedSms[]> {
  const { events } = await logOf(service).read({ accountId, after: 0, types: ['sms.received'], limit: 100 });
  return events.flatMap(({ data }) => ('text' in data && 'to' in data ? [data] : []));
}

/** Keeps recording on, because a log that nobody uses is switched off after a week. */
async function record(service: Service, ...clients: ApiClient[]): Promise<void> {
  for (const { accountId } of clients) await logOf(service).switchOn(accountId, Number.MAX_SAFE_INTEGER);
}

async function verify({ app }: Service, { accountId }: ApiClient, name: string): Promise<void> {
  const signatures = app.get(SignatureService, { strict: false });
  await signatures.register(accountId, name);
  await signatures.verify(accountId, name);
}

describeService('texts from phones', (start) => {
  let transport: ScriptedTransport;
  let clock: FakeClock;
  let service: Service;
  let first: ApiClient;
  let second: ApiClient;
  let heard: MessagingEvent<'sms.received'>[];

  async function serve(sms: Partial<SmsOptions> = {}): Promise<void> {
    const transported = { ...OPTIONS.sms, ...sms, transport: { useValue: transport } };
    service = await start({ sms: transported, clock: { useValue: clock } });
    [first, second] = [await service.client(100), await service.client(100)];
    await record(service, first, second);
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (event) => void heard.push(event));
  }

  beforeEach(() => {
    transport = new ScriptedTransport();
    clock = new FakeClock();
    heard = [];
  });

  const says = (text: string, over: Partial<InboundSms> = {}) =>
    transport.sink.inbound([{ route: 'scripted', from: NUMBER, to: '36111', text, ...over }]);
  /** Waits until this many SMS have been handed over, because a phone answers what it has received. */
  const reached = (count: number) =>
    eventually(
      () => transport.taken.length,
      (taken) => taken >= count,
      { clock, stepMs: 50 },
    );
  const said = async (client: ApiClient) => (await textsOf(service, client)).map(({ text }) => text);

  test('are events of the accounts that hold the destination’s name, and of no others', async () => {
    await serve();
    await verify(service, first, '36111');
    await says('Bonjour', { id: 'in-1' });
    expect(await textsOf(service, first)).toEqual([
      {
        id: expect.any(String),
        from: NUMBER,
        to: '36111',
        text: 'Bonjour',
        truncated: false,
        received_at: new Date(clock.now()).toISOString(),
      },
    ]);
    expect(await said(second)).toEqual([]);
    await verify(service, second, '36111');
    await says('Bonsoir', { id: 'in-2' });
    expect([await said(first), await said(second)]).toEqual([['Bonjour', 'Bonsoir'], ['Bonsoir']]);
    expect(heard.map(({ account }) => account).sort()).toEqual(
      [first.accountId, first.accountId, second.accountId].sort(),
    );
  });

  test('to unused destinations are logged once a minute, escaped and cut', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await serve();
    for (const to of ['\r\n[Nest] ERROR forged', '\u001b[2J', `9${'x'.repeat(5000)}`, '\u009b31m'])
      await says('STOP', { to });
    const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('no account uses'));
    warn.mockRestore();
    expect(lines).toHaveLength(1);
    expect(lines.join('')).toContain('The destination is \\r\\n[Nest] ERROR forged.');
  });

  test('arrive once, however often the carrier repeats them: recognised by its id for 30 days', async () => {
    await serve();
    await verify(service, first, '36111');
    for (let time = 0; time < 3; time++) await says('Bonjour', { id: 'in-1' });
    clock.advance(29 * DAY_MS);
    await says('Bonjour', { id: 'in-1' });
    await says('Bonjour', { id: 'in-1', route: 'other' });
    expect(await said(first)).toHaveLength(2);
    clock.advance(DAY_MS);
    await says('Bonjour', { id: 'in-1' });
    expect(await said(first)).toHaveLength(3);
    expect(heard).toHaveLength(3);
  });

  test('without an id are recognised by the transport’s key for an hour, otherwise by their contents for ten minutes', async () => {
    await serve();
    await verify(service, first, '36111');
    for (const key of ['a 1', 'a 1', 'a 2']) await says('OK', { key });
    expect(await said(first)).toHaveLength(2);
    for (let time = 0; time < 3; time++) await says('OK');
    await says('Oui');
    expect(await said(first)).toEqual(['OK', 'OK', 'OK', 'Oui']);
    clock.advance(600_000);
    await says('OK');
    await says('OK', { key: 'a 1' });
    clock.advance(3_000_000);
    await says('OK', { key: 'a 1' });
    expect(await said(first)).toHaveLength(6);
  });

  test('repeated many times at once arrive once', async () => {
    await serve();
    await verify(service, first, '36111');
    await Promise.all(Array.from({ length: 20 }, () => says('Bonjour', { id: 'in-1' })));
    expect(await said(first)).toEqual(['Bonjour']);
    expect(heard).toHaveLength(1);
  });

  test('under a default signature belong to the account that wrote last to this phone within 30 days', async () => {
    await serve({ inboundSignatures: { '36111': ['INFOS', 'ALERTE'] } });
    await says('Qui ?', { id: '0' });
    expect(heard.map(({ account }) => account)).toEqual(['*']);
    await first.sent({ signature: 'INFOS', content: 'Bonjour', number: [NUMBER] });
    await reached(1);
    clock.advance(1000);
    await second.sent({ signature: 'SERVICE', content: 'Bonjour', number: [NUMBER] });
    await reached(2);
    await says('Un', { id: '1' });
    clock.advance(1000);
    await second.sent({ signature: 'ALERTE', content: 'Bonjour', number: [NUMBER, '22670000002'] });
    await reached(4);
    await says('Deux', { id: '2' });
    await says('Trois', { id: '3', from: '22670000003' });
    expect([await said(first), await said(second)]).toEqual([['Un'], ['Deux']]);
    clock.advance(30 * DAY_MS + 1);
    await says('Quatre', { id: '4' });
    expect(await said(second)).toEqual(['Deux']);
    expect(heard.map(({ account }) => account)).toEqual(['*', first.accountId, second.accountId, '*', '*']);
  });

  test('are one event for an account that holds several of the names', async () => {
    await serve({ inboundSignatures: { '36111': ['SHOP', 'CLUB', 'INFOS'] } });
    for (const name of ['SHOP', 'CLUB']) await verify(service, first, name);
    await first.sent({ signature: 'INFOS', content: 'Bonjour', number: [NUMBER] });
    await reached(1);
    await says('Bonjour', { id: '1' });
    expect(await said(first)).toEqual(['Bonjour']);
  });

  test('with STOP are events too, after they have taken effect', async () => {
    await serve();
    await verify(service, first, '36111');
    await says('STOP', { id: '1' });
    expect(await said(first)).toEqual(['STOP']);
    expect((await first.sent({ signature: '36111', content: 'Bonjour', number: [NUMBER] })).sms_units).toBe(0);
    await says('START', { id: '2' });
    await says('STOP', { id: '1' });
    expect(await said(first)).toEqual(['STOP', 'START']);
    expect((await first.sent({ signature: '36111', content: 'Bonjour', number: [NUMBER] })).sms_units).toBe(1);
  });

  test('are acknowledged to the carrier only once they are stored', async () => {
    await serve();
    await verify(service, first, '36111');
    const store = service.app.get(ReceivedSmsStore, { strict: false });
    const { receive } = store;
    store.receive = async () => {
      throw new StorageUnavailableError('away');
    };
    await expect(says('Bonjour', { id: '1' })).rejects.toThrow(StorageUnavailableError);
    expect(heard).toEqual([]);
    store.receive = receive;
    await says('Bonjour', { id: '1' });
    expect(await said(first)).toEqual(['Bonjour']);
  });

  test.each([
    ['letters', 'a', 20_000],
    ['emoji', '😀', 10_000],
    ['what JSON escapes', '\u0001', 8000],
    ['halves of emoji', '\ud83d', 9000],
  ])('that are too long are cut, with a mark: %s', async (_, character, count) => {
    await serve();
    await verify(service, first, '36111');
    await says(character.repeat(count), { id: '1', to: '36111' });
    const [text] = await textsOf(service, first);
    expect(text?.truncated).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(8000);
    expect(text?.text).not.toMatch(/\p{Surrogate}/u);
    expect(text?.text.length).toBeGreaterThan(1000);
  });
});

describeService('texts from phones over SMPP', (start) => {
  let smsc: TestSmsc;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;

  beforeAll(async () => {
    smsc = await TestSmsc.listen();
    clock = new FakeClock();
    const links = [{ host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' }];
    service = await start({
      sms: { ...OPTIONS.sms, transport: SmppSmsTransport.forRoot({ links }) },
      clock: { useValue: clock },
    });
    client = await service.client();
    await record(service, client);
    await verify(service, client, '888');
  });
  afterAll(() => smsc.close());

  const text = (words: string, part?: readonly [number: number, of: number]): ShortMessage => ({
    ...PLAIN_SHORT_MESSAGE,
    source: { ton: 1, npi: 1, address: NUMBER },
    destination: { ton: 3, npi: 0, address: '888' },
    esmClass: part ? 0x40 : 0,
    shortMessage: part
      ? Buffer.concat([Uint8Array.of(5, 0, 3, 7, part[1], part[0]), encodeGsm7(words)])
      : encodeGsm7(words),
  });
  const isBound = () => smsc.connections.at(-1)?.closed === false && smsc.connections.at(-1)?.bind !== undefined;
  const deliver = async (message: ShortMessage) => {
    await eventually(isBound, Boolean, { clock, stepMs: 20 });
    return (await smsc.connection.deliver(message)).status;
  };
  /** The carrier loses the answer, and repeats the text on its next connection. */
  const cut = async () => {
    smsc.connection.drop();
    await eventually(isBound, (bound) => !bound);
  };

  test('arrive once, even if the carrier repeats them on its next connection', async () => {
    expect(await deliver(text('Un'))).toBe(0);
    await cut();
    expect(await deliver(text('Un'))).toBe(0);
    expect(await deliver(text('Deux', [2, 2]))).toBe(0);
    expect(await deliver(text('Un-', [1, 2]))).toBe(0);
    await cut();
    expect(await deliver(text('Un-', [1, 2]))).toBe(0);
    expect(await deliver(text('Trois'))).toBe(0);
    expect((await textsOf(service, client)).map((each) => each.text)).toEqual(['Un', 'Un-Deux', 'Trois']);
  });

  test('arrive twice if the phone has sent them twice', async () => {
    for (const words of ['Oui', 'Oui', 'STOP', 'START']) expect(await deliver(text(words))).toBe(0);
    expect((await textsOf(service, client)).slice(3).map((each) => each.text)).toEqual(['Oui', 'Oui', 'STOP', 'START']);
  });
});
