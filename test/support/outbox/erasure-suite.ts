import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MediaStore } from '../../../src/media/media-store.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ErasureService } from '../../../src/outbox/retention/erasure-service.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { CarrierSink } from '../../../src/sms/receipts/carrier-sink.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { until } from '../common/until.js';
import { FileServer } from '../http/file-server.js';
import { type Service, startService } from '../mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient } from '../msgapp/msgapp-app.js';
import { PEPPER } from '../otp/otp-app.js';

const NUMBER = '22671234567';
const OTHER = '22670000002';
const SENDER = '22670000100';
const SECRET = 'a secret for retention, 0123456789 abcdef';

/** Texts that only messages to the number contain. */
const WORDS = ['Bonjour Awa Ouedraogo', 'Photo pour Awa', 'Ecris a Awa', 'Zalissa Traore'];

/** A storage for the suite, and a way to read everything that is stored in it. */
export interface ErasureGround {
  readonly storage: MessagingStorage;
  /** The rows of all tables whose names begin with `messaging_`, in JSON. */
  dump(): Promise<ReadonlyMap<string, readonly string[]>>;
  close(): Promise<void>;
}

/** The tables of a database, through a connection of its own or the storage's. */
export async function dumpOf(dataSource: DataSource, tables: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows: Record<string, string>[] = await dataSource.query(tables);
  const names = rows.map((row) => String(row.name));
  const dump = new Map<string, readonly string[]>();
  for (const name of names) {
    const found: object[] = await dataSource.query(`SELECT * FROM ${name}`);
    dump.set(
      name,
      found.map((row) => JSON.stringify(row)),
    );
  }
  return dump;
}

/** The tables in which a text stands. */
function tablesWith(dump: ReadonlyMap<string, readonly string[]>, text: string): string[] {
  return [...dump].filter(([, rows]) => rows.some((row) => row.includes(text))).map(([name]) => name);
}

/**
 * Puts a number into every place where a message can leave it, erases it, and looks for it in every column of every
 * table.
 */
export function erasureSuite(open: () => Promise<ErasureGround>): void {
  let ground: ErasureGround;
  let service: Service;
  let files: FileServer;
  let client: MsgappClient;

  const start = (retention: MessagingOptions['retention']) =>
    startService(
      'express',
      {
        storage: { useValue: ground.storage },
        msgapp: MSGAPP,
        otp: { pepper: PEPPER, limits: { preset: 'strict', cooldownSeconds: 0 } },
        media: { allow: 'loopback' },
        ...(retention ? { retention } : {}),
      },
      { imports: [SandboxModule.forRoot()] },
    );
  const erasure = () => service.app.get(ErasureService, { strict: false });
  const sms = () => service.app.get(SmsService, { strict: false });
  const send = (number: readonly string[], content: string, key: string) => {
    const body = { signature: 'INFOS', content, number: [...number] };
    return sms().send(client.api.accountId, body, { once: { key, body } });
  };
  const ended = (id: string) =>
    until(
      () => sms().get(client.api.accountId, id),
      ({ recipients }) => recipients.every(({ status }) => ['delivered', 'failed'].includes(status)),
    );

  beforeAll(async () => {
    ground = await open();
    files = await FileServer.open();
    service = await start({ secret: SECRET });
    client = await msgappClient(service);
  });

  afterAll(async () => {
    await service.close();
    await files.close();
    await ground.close();
  });

  test('after everything that can be sent to a number, its erasure removes it and the texts from every column', async () => {
    const { app } = service;
    const metadata = { customer: NUMBER };
    await client.link(SENDER);
    const one = await send([NUMBER], WORDS[0] ?? '', 'one');
    const two = await send([OTHER, NUMBER], 'Bonjour a tous', 'two');
    const personal = await sms().send(client.api.accountId, {
      signature: 'INFOS',
      content: 'Bonjour {name}',
      to: [
        { number: NUMBER, vars: { name: WORDS[3] ?? '' } },
        { number: OTHER, vars: { name: 'Paul Kabore' } },
      ],
    });
    await client.settled(MsgappClient.idOf(await client.text({ to: NUMBER, body: WORDS[2], metadata })), 'delivered');
    const media = { to: NUMBER, mediaUrl: files.url('/photo.png'), caption: WORDS[1], metadata };
    const picture = MsgappClient.idOf(await client.media(media, { 'idempotency-key': 'm' }));
    await client.settled(picture, 'delivered');
    const code = { number: NUMBER, service: 'Boutique', metadata };
    expect((await client.api.post('send/otp', code, { 'idempotency-key': 'c' })).status).toBe(200);
    expect((await client.api.post('verify/otp', { ...code, otp: '0' })).status).not.toBe(200);
    for (const { smsID } of [one, two, personal]) await ended(smsID);
    const sink = app.get(CarrierSink, { strict: false });
    await sink.receipts([{ route: 'link', ids: ['unknown'], number: NUMBER, status: 'delivered' }]);
    await sink.inbound([{ route: 'link', from: NUMBER, to: 'INFOS', text: 'STOP' }]);
    const part = { reference: '8:1', total: 2, number: 1 };
    for (const from of [NUMBER, OTHER]) await sink.inbound([{ route: 'link', from, to: 'INFOS', text: 'Un', part }]);
    const deliveries = await until(
      () => ground.dump(),
      (dump) =>
        !(dump.get('messaging_recipient') ?? []).some((row) => row.includes(NUMBER) && !/"due_at":null/.test(row)),
    );
    expect(tablesWith(deliveries, NUMBER).sort()).toEqual(
      [
        'idempotency',
        'message',
        'opt_out',
        'phone_message',
        'policy',
        'recipient',
        'sent_to',
        'sms_long',
        'sms_parked',
      ].map((name) => `messaging_${name}`),
    );

    const result = await erasure().erase(NUMBER);
    expect(result).toMatchObject({ open: 0, deliveries: 6, messages: 4, replies: 3, receipts: 1, optOuts: 1 });
    expect(result.inboundParts).toBe(1);
    expect(result.phones).toBeGreaterThan(3);
    const after = await ground.dump();
    expect(tablesWith(after, NUMBER)).toEqual([]);
    for (const words of WORDS) expect([words, tablesWith(after, words)]).toEqual([words, []]);
    expect(tablesWith(after, 'Bonjour a tous')).not.toEqual([]);
    expect(tablesWith(after, 'Paul Kabore')).not.toEqual([]);
    expect(tablesWith(after, OTHER)).not.toEqual([]);
    expect(await app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);

    expect(await erasure().erase(NUMBER)).toMatchObject({
      deliveries: 0,
      messages: 0,
      replies: 0,
      receipts: 0,
      optOuts: 0,
    });
    const shown = await sms().get(client.api.accountId, one.smsID);
    expect(shown).toMatchObject({ content: null, segments: null, number: ['*'.repeat(11)], sms_units: 1 });
    expect(shown.recipients).toMatchObject([{ number: '*'.repeat(11), status: 'delivered', units: 1 }]);
    expect((await sms().get(client.api.accountId, two.smsID)).number).toEqual([OTHER, '*'.repeat(11)]);
    expect(await client.message(picture)).toMatchObject({
      to: '*'.repeat(11),
      body: null,
      media: null,
      status: 'delivered',
    });
    const store = app.get(MediaStore, { strict: false });
    await expect(store.read(picture)[Symbol.asyncIterator]().next()).rejects.toThrow('not stored');
  });

  test('a repeat under its key is still not sent again', async () => {
    const before = await client.api.balance();
    const again = await send([NUMBER], WORDS[0] ?? '', 'one');
    expect(again.number).toEqual(['*'.repeat(11)]);
    expect(await client.api.balance()).toEqual(before);
  });

  test('a STOP is honoured after the erasure, after a rotation of the secret, and until the phone writes START', async () => {
    const refused = async (key: string) => {
      const { smsID } = await send([NUMBER, OTHER], 'Encore', key);
      const { recipients } = await ended(smsID);
      return recipients.map(({ number, error }) => (error === 'opted_out' ? number : undefined));
    };
    expect(await refused('stop-1')).toEqual([NUMBER, undefined]);
    const keyed = await service.app.get(OptOutService, { strict: false }).list();
    expect(keyed.items.map(({ number }) => number)).toEqual([expect.stringMatching(/^hmac:[\w-]{43}$/)]);
    await service.close();
    service = await start({ secret: `${SECRET} new`, previousSecrets: [SECRET] });
    expect(await refused('stop-2')).toEqual([NUMBER, undefined]);
    const sink = service.app.get(CarrierSink, { strict: false });
    await sink.inbound([{ route: 'link', from: NUMBER, to: 'INFOS', text: 'START' }]);
    expect(await refused('stop-3')).toEqual([undefined, undefined]);
  });

  test('messages under way are left and named, and are removed when they have ended', async () => {
    await service.close();
    service = await start({ secret: SECRET });
    const silent = '22671990003';
    const { smsID } = await send([silent], WORDS[0] ?? '', 'silent');
    await until(
      () => sms().get(client.api.accountId, smsID),
      ({ recipients }) => recipients[0]?.status === 'sent',
    );
    expect(await erasure().erase(silent)).toMatchObject({ open: 1, deliveries: 0, messages: 0 });
    expect(await sms().get(client.api.accountId, smsID)).toMatchObject({ content: WORDS[0], number: [silent] });
    await ground.storage
      .store(OutboxStore)
      .settle([{ messageId: smsID, position: 0, status: 'delivered', at: Date.now() }]);
    expect(await erasure().erase(silent)).toMatchObject({ open: 0, deliveries: 1, messages: 1 });
    expect(tablesWith(await ground.dump(), silent)).toEqual([]);
  });

  test('without a secret an opt-out stays, and the answer says so', async () => {
    await service.close();
    service = await start(undefined);
    const number = '22671000009';
    await service.app.get(OptOutService, { strict: false }).add({ signature: 'INFOS' }, [number]);
    expect(await erasure().erase(number)).toMatchObject({ optOuts: 0, optOutsLeft: 1 });
  });

  test('a malformed number is refused with a sentence', async () => {
    await expect(erasure().erase('+226')).rejects.toMatchObject({ code: 'error.invalid_number' });
  });
}
