import { expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { DAY_MS } from '../../../src/common/time.js';
import { ManagedAccountStore } from '../../../src/management/operator/accounts/managed-account-store.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../common/eventually.js';
import { closeAfterEach } from '../common/opened.js';
import type { Adapter } from '../http/http-apps.js';
import { OPTIONS } from '../mounting/messaging-app.js';
import { clientOf, mount } from '../mounting/mounted.js';
import { documentOf } from '../openapi/openapi-host.js';
import { structuralFaults } from '../openapi/openapi-structure.js';
import { type Postcard, PostcardStore, postcardTables } from './postcard-store.js';
import { PostcardsModule } from './postcards.module.js';

const { sms, storage: _, ...CORE } = OPTIONS;
const TO = '22670000000';
const CARD: Postcard = { messageId: 'm1', accountId: 'a1', number: TO, text: 'Salut', stamp: undefined, printedAt: 1 };

/**
 * Tests of everything that a further capability brings, on one database. `src/storage` and `src/core` do not know it.
 * @param database the URL of an empty database for each test
 */
export function fourthCapability(adapter: Adapter, database: () => Promise<string>): void {
  const opened = closeAfterEach();

  const open = async (url: string, versions?: number, migrations?: 'check'): Promise<TypeormStorage> => {
    const storage = new TypeormStorage({ database: url, ...(migrations && { migrations }) });
    opened({ close: () => storage.stop() });
    await storage.start(versions === undefined ? [] : [postcardTables(versions)]);
    return storage;
  };

  /** The whole application. The line of the capability is the one of `PostcardsModule`. */
  const start = async (options: { readonly price?: number } = {}) => {
    const url = await database();
    const clock = new FakeClock();
    const storage = TypeormStorage.forRoot({ url });
    const core = MessagingCore.forRoot({ ...CORE, storage, clock: { useValue: clock } });
    const modules = [SmsModule.forRoot({ core, ...sms }), PostcardsModule.forRoot({ core, ...options })];
    return { url, clock, running: await mount(adapter, modules) };
  };

  test('charges, prints and shows a card, refunds a refused one, and purges', async () => {
    const { clock, running } = await start();
    const client = await clientOf(running, { units: 12 });
    const cards = async () => Object(await client.call('postcards')).body.items;
    const once = { 'idempotency-key': 'card-1' };
    const card = { number: TO, content: 'Bonne année' };
    const receipt = await client.post('send/postcard', card, once);
    expect(receipt).toMatchObject({ status: 200, body: { cardID: expect.any(String), units: 5 } });
    expect(await client.post('send/postcard', card, once)).toMatchObject({ body: receipt.body });
    const printed = { number: TO, text: 'Bonne année', stamp: 'blue', messageId: Object(receipt.body).cardID };
    expect(await eventually(cards, (items) => items.length === 1, { clock })).toMatchObject([printed]);
    expect(await client.balance()).toBe(7);

    expect((await client.post('send/postcard', { ...card, content: 'illegible' })).status).toBe(200);
    await eventually(
      () => client.balance(),
      (balance) => balance === 7,
      { clock },
    );
    expect((await client.post('send/postcard', card)).status).toBe(200);
    expect(await client.post('send/postcard', card)).toMatchObject({
      status: 400,
      body: { message: 'Solde SMS insuffisant' },
    });
    await eventually(cards, (items) => items.length === 2, { clock });
    clock.advance(DAY_MS + 1);
    expect(await eventually(cards, (items) => items.length === 0, { clock, stepMs: 60_000 })).toEqual([]);
    // SMS beside it are charged as before.
    await client.sent({ signature: 'INFOS', content: 'x', number: [TO] });
    expect(await client.balance()).toBe(1);
  });

  test('reads its own option and refuses unknown names and wrong values', async () => {
    const { running } = await start({ price: 2 });
    const client = await clientOf(running, { units: 3 });
    expect(await client.post('send/postcard', { number: TO, content: 'x' })).toMatchObject({ body: { units: 2 } });
    expect(await client.post('send/postcard', { number: '1', content: 'x' })).toMatchObject({ status: 400 });
    expect(await client.balance()).toBe(1);
    const core = MessagingCore.forRoot(CORE);
    expect(() => PostcardsModule.forRoot({ core, price: 1.5 })).toThrow('Option postcards.price must be an integer');
    expect(() => Reflect.apply(PostcardsModule.forRoot, undefined, [{ core, prize: 5 }])).toThrow(
      'Option prize is not known; the known options are core, price.',
    );
  });

  test('keeps within the daily cap of a key', async () => {
    const { running } = await start();
    const client = await clientOf(running, { units: 20 });
    const { key } = await running.app
      .get(AccountService, { strict: false })
      .issueKey(client.accountId, { dailyUnits: 7 });
    const headers = { 'x-api-key': key };
    const card = { number: TO, content: 'x' };
    expect(await client.post('send/postcard', card, headers)).toMatchObject({ status: 200, body: { units: 5 } });
    expect((await client.post('send/postcard', card, headers)).status).toBe(429);
    expect(await client.balance()).toBe(15);
  });

  test('sends nothing for a suspended account, which may still list its cards', async () => {
    const { running } = await start();
    const client = await clientOf(running, { units: 20 });
    const accounts = running.app.get(MessagingStorage, { strict: false }).store(ManagedAccountStore);
    const call = { by: { kind: 'operator', id: 'awa' }, at: 1, once: undefined, replyOf: () => ({}) } as const;
    await accounts.change(client.accountId, { state: 'suspended' }, call);
    expect((await client.post('send/postcard', { number: TO, content: 'x' })).status).toBe(403);
    expect((await client.call('postcards')).status).toBe(200);
  });

  test('is part of the API description', async () => {
    const { running } = await start({ price: 3 });
    const document = documentOf(running.app);
    expect(document.paths['/api/v1/send/postcard']?.post).toMatchObject({
      operationId: 'sendPostcard',
      tags: ['Postcards'],
      responses: { 200: expect.anything(), 401: expect.anything() },
    });
    expect(document.paths).toHaveProperty(['/api/v1/postcards', 'get']);
    expect(document.tags).toContainEqual({ name: 'Postcards', description: 'A card costs 3 units.' });
    expect(document.components?.schemas).toHaveProperty('SendPostcard');
    expect(structuralFaults(JSON.parse(JSON.stringify(document)))).toEqual([]);
  });

  test('keeps its cards through a version of its schema, in a database that others use without it', async () => {
    const url = await database();
    const first = await open(url, 1);
    await expect(first.store(PostcardStore).print([CARD])).rejects.toThrow();
    await first.stop();
    const second = await open(url, 2);
    await second.store(PostcardStore).print([CARD]);
    expect(await second.store(PostcardStore).printed('a1')).toEqual([CARD]);

    const without = await open(url);
    expect(await without.store(PostcardStore).printed('a1')).toEqual([CARD]);
    await expect(open(url, undefined, 'check')).resolves.toBeDefined();
    await expect(open(url, 1)).rejects.toThrow(
      /^Option storage: the database has schema versions that this process does not know \(\+postcards\/0002-stamps\)/,
    );
    expect(await (await open(url, 2, 'check')).store(PostcardStore).printed('a1')).toEqual([CARD]);
  });

  test('does not start if its tables must exist and do not', async () => {
    const url = await database();
    await open(url);
    await expect(open(url, 1, 'check')).rejects.toThrow(
      "the schema lacks +postcards/0001-initial: start once with migrations: 'run'.",
    );
    const { storage, sms: options, ...rest } = OPTIONS;
    expect(storage).toBeDefined();
    const whole = MessagingModule.forRoot({ ...rest, sms: options, storage: TypeormStorage.forRoot({ url }) });
    await expect(mount(adapter, [whole])).resolves.toBeDefined();
  });
}
