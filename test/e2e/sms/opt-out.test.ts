import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { DELIVERY_EVENTS, type MessagingEvent } from '../../../src/events/event-types.js';
import type { DeliveryData } from '../../../src/events/events.api.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { OptOutStore } from '../../../src/sms/opt-out/opt-out-store.js';
import type { SmsOptions } from '../../../src/sms/sms-options.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import type { InboundSms } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service, startService } from '../../support/mounting/services.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

const NUMBER = '22670000001';
const OTHERS = ['22670000002', '22670000003'];
const ALL = [NUMBER, ...OTHERS];
const SEND = { signature: 'INFOS', content: 'Bonjour', number: ALL };

describeService('phones that opt out', (start) => {
  let transport: ScriptedTransport;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;
  let notices: MessagingEvent<'optout.added'>[];
  let moved: DeliveryData[];

  async function serve(sms: Partial<SmsOptions> = {}): Promise<void> {
    service = await start({
      sms: { ...OPTIONS.sms, ...sms, transport: { useValue: transport } },
      clock: { useValue: clock },
      otp: { pepper: PEPPER },
    });
    client = await service.client(100);
    const events = service.app.get(MessagingEvents, { strict: false });
    events.on('optout.added', (notice) => void notices.push(notice));
    events.on(DELIVERY_EVENTS, ({ data }) => void moved.push(data));
  }

  beforeEach(() => {
    transport = new ScriptedTransport();
    clock = new FakeClock();
    notices = [];
    moved = [];
  });

  const optOuts = () => service.app.get(OptOutService, { strict: false });
  const books = () => service.app.get(LedgerStore, { strict: false }).check();
  const says = (text: string, over: Partial<InboundSms> = {}) =>
    transport.sink.inbound([{ route: 'scripted', from: NUMBER, to: 'INFOS', text, ...over }]);
  const states = async (smsId: string, who = client) =>
    (await who.details(smsId)).recipients.map(({ status, error }) => (error === null ? status : `${status}: ${error}`));
  const settles = (smsId: string, who = client) =>
    eventually(
      () => states(smsId, who),
      (all) => all.every((state) => !/^(queued|sending)/.test(state)),
      { clock, stepMs: 50 },
    );
  const verified = async (accountId: string, name: string) => {
    const signatures = service.app.get(SignatureService, { strict: false });
    await signatures.register(accountId, name);
    await signatures.verify(accountId, name);
  };

  test('get nothing more under that signature, and cost nothing', async () => {
    await serve();
    const timestamp = new Date(clock.now()).toISOString();
    await says('Stop !');
    const { smsID, sms_units, number } = await client.sent(SEND);
    expect([sms_units, number]).toEqual([2, ALL]);
    expect(await client.balance()).toBe(98);
    expect(await settles(smsID)).toEqual(['failed: opted_out', 'sent', 'sent']);
    expect((await client.details(smsID)).recipients[0]).toMatchObject({ units: 0, refunded_units: 0 });
    expect((await client.details(smsID)).refunded_units).toBe(0);
    expect(transport.taken.map((sms) => sms.number).sort()).toEqual(OTHERS);
    expect(moved.filter(({ number: to }) => to === NUMBER)).toMatchObject([
      { status: 'failed', error: 'opted_out', refunded_units: 0 },
    ]);
    expect(notices).toEqual([
      {
        type: 'optout.added',
        account: '*',
        timestamp,
        data: { signature: 'INFOS', number: NUMBER, source: 'phone' },
      },
    ]);
    const other = await client.sent({ ...SEND, signature: 'ALERTE' });
    expect(await settles(other.smsID)).toEqual(['sent', 'sent', 'sent']);
    expect(await books()).toEqual([]);
  });

  test('make a send free whose recipients have all opted out; its answer is kept', async () => {
    await serve();
    for (const from of ALL) await says('ARRÊT', { from });
    const poor = await service.client(0);
    const once = { 'Idempotency-Key': 'k' };
    const reply = await poor.send(SEND, once);
    expect(reply).toMatchObject({ status: 200, body: { sms_units: 0, number: ALL } });
    expect((await poor.send(SEND, once)).headers.get('idempotency-replayed')).toBe('true');
    const { smsID } = reply.body as { smsID: string };
    expect(await states(smsID, poor)).toEqual(Array(3).fill('failed: opted_out'));
    expect((await poor.list()).items).toHaveLength(1);
    expect(transport.taken).toEqual([]);
    expect(await books()).toEqual([]);
  });

  test('after the send was accepted are refunded, and get nothing', async () => {
    transport.answer = ({ attempt }) => (attempt === 1 ? { kind: 'retry', error: 'busy' } : { kind: 'sent' });
    await serve();
    const { smsID } = await client.sent(SEND);
    expect(await client.balance()).toBe(97);
    await eventually(() => transport.taken.length === 3, Boolean, { clock, stepMs: 50 });
    await says('désabonner');
    expect(await settles(smsID)).toEqual(['failed: opted_out', 'sent', 'sent']);
    expect((await client.details(smsID)).refunded_units).toBe(1);
    expect(await client.balance()).toBe(98);
    expect(transport.taken.filter(({ number }) => number === NUMBER)).toHaveLength(1);
    expect(await books()).toEqual([]);
  });

  test('stop every send while their list cannot be read, and no attempt is spent', async () => {
    await serve({ delivery: { maxAttempts: 1 } });
    const { smsID: first } = await client.sent({ ...SEND, number: OTHERS });
    await settles(first);
    const store = service.app.get(OptOutStore, { strict: false });
    const read = store.signatures;
    transport.before = async () => undefined;
    const { smsID } = await client.sent({ ...SEND, number: OTHERS });
    store.signatures = async () => {
      throw new StorageUnavailableError('away');
    };
    clock.advance(10_000);
    await eventually(
      () => states(smsID),
      (all) => all.every((state) => state === 'sending: storage_away'),
      { clock },
    );
    expect((await client.send(SEND)).status).toBe(503);
    store.signatures = read;
    expect(await settles(smsID)).toEqual(['sent', 'sent']);
    expect(await books()).toEqual([]);
  });

  test('from a signature that several accounts hold opt out of those accounts only', async () => {
    await serve();
    const [second, third] = [await service.client(10), await service.client(10)];
    for (const { accountId } of [client, second]) await verified(accountId, '36111');
    await says('STOP', { to: '36111' });
    expect(notices.map(({ account }) => account).sort()).toEqual([client.accountId, second.accountId].sort());
    await verified(third.accountId, '36111');
    for (const [account, units] of [
      [client, 2],
      [second, 2],
      [third, 3],
    ] as const) {
      expect((await account.sent({ ...SEND, signature: '36111' })).sms_units).toBe(units);
    }
    expect((await client.sent(SEND)).sms_units).toBe(3);
  });

  test('can do so at a number that stands for signatures', async () => {
    await serve({ inboundSignatures: { '36222': ['INFOS', 'SHOP'] } });
    await verified(client.accountId, 'SHOP');
    await says('stop', { to: '36222' });
    await says('stop', { to: '36333', from: '22670000002' });
    for (const signature of ['INFOS', 'SHOP']) expect((await client.sent({ ...SEND, signature })).sms_units).toBe(2);
    expect(notices).toHaveLength(2);
  });

  test('can do so at a number in any spelling, and with the name after the word', async () => {
    await serve({ inboundSignatures: { '22670990000': ['INFOS'] } });
    await says('stop', { to: '0022670990000' });
    await says('stop', { to: '70 99 00 00', from: '22670000002' });
    await says('STOP INFOS', { to: '22670990000', from: '22670000003' });
    expect((await client.sent(SEND)).sms_units).toBe(0);
    expect(notices).toHaveLength(3);
  });

  test('can use the host’s own words; other texts have no effect', async () => {
    await serve({ optOutWords: { stop: ['Basta'] } });
    await says('Bonjour, stop à tout');
    expect((await client.sent(SEND)).sms_units).toBe(3);
    await says('basta.');
    expect((await client.sent(SEND)).sms_units).toBe(2);
  });

  test('come back with START, but not from what an operator decided', async () => {
    await serve();
    await optOuts().add({ signature: 'INFOS' }, ['22670000002']);
    await says('STOP');
    expect((await client.sent(SEND)).sms_units).toBe(1);
    for (const from of ALL) await says('Reprendre', { from });
    expect((await client.sent(SEND)).sms_units).toBe(2);
    expect((await optOuts().list()).items).toMatchObject([
      { number: '22670000002', source: 'operator', accountId: undefined },
    ]);
    expect(await optOuts().remove({ signature: 'INFOS' }, ALL)).toBe(1);
    expect((await client.sent(SEND)).sms_units).toBe(3);
  });

  test('change nothing with a repeated text', async () => {
    await serve();
    const said: MessagingEvent<'sms.received'>[] = [];
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (text) => void said.push(text));
    for (let time = 0; time < 3; time++) await says('STOP', { id: 'in-1' });
    expect(notices).toHaveLength(1);
    await says('START', { id: 'in-2' });
    await says('STOP', { id: 'in-1' });
    expect((await client.sent(SEND)).sms_units).toBe(3);
    await says('STOP', { id: 'in-3' });
    await says('START', { id: 'in-2' });
    expect((await client.sent(SEND)).sms_units).toBe(2);
    expect(said).toHaveLength(3);
  });

  test('change nothing with a word in a text whose other parts are missing, which is still shown', async () => {
    await serve();
    const said: MessagingEvent<'sms.received'>[] = [];
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (text) => void said.push(text));
    await says('STOP', { incomplete: true });
    expect((await client.sent(SEND)).sms_units).toBe(3);
    await says('STOP', { key: 'whole' });
    await says('START', { incomplete: true });
    expect((await client.sent(SEND)).sms_units).toBe(2);
    expect(said.map(({ data }) => data.text)).toEqual(['STOP', 'STOP', 'START']);
  });

  test('are acknowledged to the carrier once the opt-out is stored, and no event comes before', async () => {
    transport.callbacks.set('scripted', async ({ body }, sink) => {
      await sink.inbound([
        { route: 'scripted', from: NUMBER, to: 'INFOS', text: Buffer.from(body).toString(), id: '1' },
      ]);
      return { status: 204 };
    });
    await serve();
    const said: MessagingEvent<'sms.received'>[] = [];
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', (text) => void said.push(text));
    const store = service.app.get(OptOutStore, { strict: false });
    const add = store.add;
    store.add = async () => {
      throw new StorageUnavailableError('away');
    };
    const call = () => fetch(`${service.url}/api/v1/sms/callbacks/scripted`, { method: 'POST', body: 'STOP' });
    expect((await call()).status).toBe(503);
    expect([said, notices]).toEqual([[], []]);
    store.add = add;
    expect((await call()).status).toBe(204);
    expect([said.length, notices.length]).toEqual([1, 1]);
    expect((await client.sent(SEND)).sms_units).toBe(2);
  });

  test('get no code under that signature, which is refunded, but one under another signature', async () => {
    await serve();
    await says('STOP');
    expect((await client.post('send/otp', { service: 'Shop', number: NUMBER })).status).toBe(200);
    await eventually(() => moved.some(({ error }) => error === 'opted_out'), Boolean, { clock, stepMs: 50 });
    expect(await client.balance()).toBe(100);
    expect((await client.post('verify/otp', { service: 'Shop', number: NUMBER, otp: '0000' })).status).toBe(404);
    await optOuts().remove({ signature: 'INFOS' }, [NUMBER]);
    await says('STOP', { to: 'ALERTE' });
    expect((await client.post('send/otp', { service: 'Shop', number: NUMBER })).status).toBe(200);
    await eventually(() => transport.taken.length === 1, Boolean, { clock, stepMs: 50 });
    expect(await books()).toEqual([]);
  });

  test('are listed for operators by account or for all, page by page, and wrong input is refused', async () => {
    await serve();
    const { accountId } = client;
    expect(await optOuts().add({ accountId, signature: 'INFOS' }, ALL)).toBe(3);
    expect(await optOuts().add({ accountId, signature: 'INFOS' }, ALL)).toBe(0);
    for (const limit of [0, 1001, 1.5, Number.NaN]) {
      await expect(optOuts().list({ accountId, limit })).rejects.toMatchObject({ code: 'error.field_invalid' });
    }
    const first = await optOuts().list({ accountId, limit: 2 });
    const second = await optOuts().list({ accountId, limit: 2, ...(first.next && { after: first.next }) });
    expect([...first.items, ...second.items].map(({ number }) => number).sort()).toEqual(ALL);
    expect(second.next).toBeUndefined();
    expect((await optOuts().list({ accountId, number: NUMBER })).items).toHaveLength(1);
    expect((await optOuts().list()).items).toEqual([]);
    expect((await client.sent(SEND)).sms_units).toBe(0);
    await expect(optOuts().add({ accountId: 'nobody', signature: 'INFOS' }, ALL)).rejects.toMatchObject({
      code: 'error.account_not_found',
    });
    await expect(optOuts().remove({ signature: 'INFOS' }, ['+226'])).rejects.toMatchObject({
      code: 'error.invalid_number',
    });
    expect(await optOuts().remove({ accountId, signature: 'INFOS' }, ALL)).toBe(3);
    expect((await client.sent(SEND)).sms_units).toBe(3);
  });
});

describe('options about phones that opt out', () => {
  test.each<[string, Partial<SmsOptions>]>([
    ['Option sms.inboundSignatures must name signatures by numbers', { inboundSignatures: { INFOS: ['INFOS'] } }],
    ['Option sms.inboundSignatures must name signatures by numbers', { inboundSignatures: { '36111': [] } }],
    ['Option sms.optOutWords.stop has "!", which is not a word.', { optOutWords: { stop: ['!'] } }],
  ])('%s', async (sentence, sms) => {
    await expect(startService('express', { sms: { ...OPTIONS.sms, ...sms } })).rejects.toThrow(sentence);
  });

  test('a misspelled one is refused', async () => {
    const optOutWords = Object.fromEntries([['stopp', ['x']]]);
    await expect(startService('express', { sms: { ...OPTIONS.sms, optOutWords } })).rejects.toThrow(
      'Option sms.optOutWords.stopp is not known',
    );
  });
});

describe("a send in the host's transaction (SQLite)", () => {
  const file = new SqliteFile();
  let service: Service | undefined;
  afterEach(async () => {
    await service?.close();
    await file.close();
  });

  test('reads the list without waiting for that transaction', async () => {
    const dataSource = await file.dataSource();
    const transport = new ScriptedTransport();
    service = await startService('express', {
      storage: TypeormStorage.forRoot({ dataSource }),
      sms: { ...OPTIONS.sms, transport: { useValue: transport } },
    });
    const { accountId } = await service.client(10);
    await service.app.get(OptOutService, { strict: false }).add({ signature: 'INFOS' }, [NUMBER]);
    const sms = service.app.get(SmsService, { strict: false });
    const receipt = await dataSource.transaction((manager) => sms.send(accountId, SEND, { host: { manager } }));
    expect(receipt.sms_units).toBe(2);
    await eventually(() => transport.taken.length === 2);
  });
});
