import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { Idempotency } from '../../../src/outbox/idempotency.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { rawSend } from '../../support/http/raw-send.js';
import { describeService, type Service, startService } from '../../support/mounting/services.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const KEY = { 'idempotency-key': 'order-1' };
const MALFORMED = {
  statusCode: 400,
  message: 'En-tête Idempotency-Key invalide : 1 à 255 caractères visibles',
  error: 'Bad Request',
};
const OTHER_BODY = {
  statusCode: 422,
  message: 'Cette Idempotency-Key a déjà servi pour une autre requête',
  error: 'Unprocessable Entity',
};

describeService('an Idempotency-Key', (start) => {
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;
  beforeAll(async () => {
    clock = new FakeClock();
    service = await start({ clock: { useValue: clock } });
  });
  beforeEach(async () => {
    client = await service.client(10);
  });

  test('gets the first answer byte for byte, marked as a replay, and neither sends nor charges again', async () => {
    const first = await rawSend(client, KEY, JSON.stringify({ ...SEND, number: ['22670000000', '33612345678'] }));
    expect(first).toMatchObject({ status: 200, replayed: null });
    clock.advance(1000);
    for (const body of [
      '{"signature":"INFOS","content":"Bonjour","number":["22670000000","33612345678"]}',
      ' { "number" : ["22670000000", "33612345678"],\n"content":"Bonjou\\u0072", "signature":"INFOS" } ',
    ]) {
      expect(await rawSend(client, KEY, body)).toEqual({ status: 200, replayed: 'true', text: first.text });
    }
    expect(await client.balance()).toBe(6);
    expect((await client.list()).items).toHaveLength(1);
  });

  test('is a 422 with another body, whatever differs', async () => {
    const other = { more: { b: 1, a: [2] } };
    await client.sent({ ...SEND, ...other }, KEY);
    expect(await client.send({ ...other, ...SEND, more: { a: [2], b: 1 } }, KEY)).toMatchObject({ status: 200 });
    for (const body of [
      SEND,
      { ...SEND, ...other, content: 'Bonsoir' },
      { ...SEND, ...other, signature: 'ALERTE' },
      { ...SEND, ...other, number: ['22670000001'] },
      { ...SEND, ...other, number: ['22670000000', '22670000000'] },
      { ...SEND, more: { b: 1, a: [3] } },
      { ...SEND, more: { b: 1, a: { 0: 2 } } },
      // This is detected before any other check: neither the empty text nor the signature is named.
      { ...SEND, content: '' },
      { ...SEND, signature: 'NOBODY' },
    ]) {
      expect(await client.send(body, KEY)).toMatchObject({ status: 422, body: OTHER_BODY });
    }
    expect(await client.balance()).toBe(9);
  });

  test('still replays if a new send would be refused', async () => {
    const signatures = service.app.get(SignatureService, { strict: false });
    await signatures.register(client.accountId, 'SHOP');
    await signatures.verify(client.accountId, 'SHOP');
    const body = { ...SEND, signature: 'SHOP', content: 'a'.repeat(1530) };
    const first = await client.sent(body, KEY);
    expect(await client.balance()).toBe(0);
    await signatures.reject(client.accountId, 'SHOP');
    const replay = await client.send(body, KEY);
    expect([replay.status, replay.body, replay.headers.get('idempotency-replayed')]).toEqual([200, first, 'true']);
    expect((await client.send(body, { 'idempotency-key': 'order-2' })).body).toMatchObject({
      message: 'Signature non vérifiée ou invalide',
    });
    expect((await client.send(body, { ...KEY, 'x-api-key': 'no' })).status).toBe(401);
  });

  test('is not used up by a refusal', async () => {
    const poor = await service.client(0);
    for (const body of [SEND, { ...SEND, content: '' }, { ...SEND, signature: 'NOBODY' }, { signature: 5 }]) {
      expect((await poor.send(body, KEY)).status).toBe(400);
    }
    await service.app.get(LedgerService, { strict: false }).topUp(poor.accountId, 1);
    const reply = await poor.send(SEND, KEY);
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await poor.balance()).toBe(0);
  });

  test('belongs to the account, not to the API key', async () => {
    const other = await service.client(10);
    const first = await client.sent(SEND, KEY);
    const theirs = await other.sent({ ...SEND, content: 'Another body' }, KEY);
    expect(theirs.smsID).not.toBe(first.smsID);
    const { key } = await service.app.get(AccountService, { strict: false }).issueKey(client.accountId);
    const again = await new ApiClient(client.url, client.accountId, key).send(SEND, KEY);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first, 'true']);
  });

  test('belongs to the route: a quote ignores it, and another route starts afresh', async () => {
    await client.sent(SEND, KEY);
    const quote = await client.post('sms/quote', { content: 'x', number: ['22670000000'] }, KEY);
    expect([quote.status, quote.headers.get('idempotency-replayed')]).toEqual([200, null]);
    const gate = service.app.get(Idempotency, { strict: false });
    const worked = { reply: { fresh: true }, replayed: false };
    const run = (route: string) =>
      gate.run(client.accountId, route, { key: KEY['idempotency-key'], body: SEND }, async () => worked);
    expect(await run('send/otp')).toBe(worked);
    expect(await run('send/sms')).toMatchObject({ replayed: true });
  });

  test('works the same for a host’s own code', async () => {
    const sms = service.app.get(SmsService, { strict: false });
    const once = { key: KEY['idempotency-key'], body: SEND };
    const first = await sms.accept(client.accountId, SEND, { once });
    expect(first.replayed).toBe(false);
    const reply = await client.send({ ...SEND }, KEY);
    expect([reply.body, reply.headers.get('idempotency-replayed')]).toEqual([first.reply, 'true']);
  });

  test('is kept for 24 hours, and not a moment longer', async () => {
    const first = await client.sent(SEND, KEY);
    clock.advance(24 * 3_600_000 - 1);
    const replay = await client.send(SEND, KEY);
    expect([replay.body, replay.headers.get('idempotency-replayed')]).toEqual([first, 'true']);
    clock.advance(1);
    const again = await client.send({ ...SEND, content: 'Another body' }, KEY);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect((again.body as { smsID: string }).smsID).not.toBe(first.smsID);
    expect(await client.balance()).toBe(8);
    expect((await client.send({ ...SEND, content: 'Another body' }, KEY)).headers.get('idempotency-replayed')).toBe(
      'true',
    );
  });

  test.each([
    ['empty', ''],
    ['with a blank', 'a b'],
    ['with a tab', 'a\tb'],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a letter beyond ASCII', 'clé'],
    ['given twice', 'a, a'],
  ])('is a 400 if it is malformed: %s', async (_how, key) => {
    const reply = await client.send(SEND, { 'idempotency-key': key });
    expect([reply.status, reply.body]).toEqual([400, MALFORMED]);
    expect(await client.balance()).toBe(10);
  });

  test.each([
    ['of 255 characters', 'k'.repeat(255)],
    ['of one', '!'],
    ['of all visible characters', Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('')],
    ['like a property of every object', '__proto__'],
  ])('may have any other form: %s', async (_what, key) => {
    const first = await client.sent(SEND, { 'idempotency-key': key });
    expect((await client.send(SEND, { 'idempotency-key': key })).body).toEqual(first);
    // Upper and lower case are different.
    expect(await client.send(SEND, { 'idempotency-key': `${key.slice(0, -1)}Z` })).toMatchObject({ status: 200 });
    expect(await client.balance()).toBe(8);
  });
});

describeOnBothAdapters('the gate', (adapter) => {
  test('compares bodies of any depth that a request may have', async () => {
    const service = await startService(adapter);
    try {
      const client = await service.client(10);
      const deep = `${'[{"a":'.repeat(499)}1${'}]'.repeat(499)}`;
      const body = `{"signature":"INFOS","content":"x","number":["22670000000"],"deep":${deep}}`;
      const first = await rawSend(client, KEY, body);
      expect(first.status).toBe(200);
      expect(await rawSend(client, KEY, body)).toEqual({ status: 200, replayed: 'true', text: first.text });
      expect(await rawSend(client, KEY, body.replace(':1}', ':2}'))).toMatchObject({ status: 422 });
    } finally {
      await service.close();
    }
  });
});
