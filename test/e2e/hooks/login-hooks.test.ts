import { afterEach, expect, test } from '@jest/globals';
import { LoginHookStore } from '../../../src/hooks/login-hook-store.js';
import { eventually } from '../../support/common/eventually.js';
import { HookApp } from '../../support/hooks/hook-app.js';
import { describeOnBothAdapters, describeOnOneAdapter } from '../../support/http/http-apps.js';

const NUMBER = '22670000001';

describeOnBothAdapters('a log-in hook of Supabase', (adapter) => {
  let app: HookApp;
  afterEach(() => app.close());

  test('sends the code of a call that standardwebhooks has signed, and charges it', async () => {
    app = await HookApp.start(adapter);
    const { id, secret, url } = await app.hook({ name: 'Boutique' });
    expect(secret).toMatch(/^v1,whsec_[A-Za-z0-9+/]{43}=$/);
    expect(url).toBe(`${app.app.url}/api/v1/hooks/${id}`);
    const { status, body, headers } = await app.call(id, app.supabase([secret]));
    expect([status, body]).toEqual([200, {}]);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const [text] = await app.texts(NUMBER, 1);
    expect(text).toContain('561166');
    expect(text).toContain('Boutique');
    expect(await app.balance()).toBe(999);
    const [call] = await app.calls(id, 1);
    expect(call).toMatchObject({ outcome: 'accepted', number: '226******01', test: false });
  });

  test('refuses a body of 1 MB before it reads it', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const call = app.supabase([secret]);
    const { status } = await app.call(id, { ...call, body: ' '.repeat(1_048_576) + call.body });
    expect(status).toBe(413);
    expect(await app.balance()).toBe(1000);
  });
});

describeOnOneAdapter('the rules of log-in hooks', (adapter) => {
  let app: HookApp;
  afterEach(() => app.close());

  test.each([
    ['a comma and a blank, as its own code does', ', '],
    ['a blank, as the specification says', ' '],
  ])('takes the right one of several signatures joined by %s', async (_, joint) => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const other = 'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { status, body } = await app.call(id, app.supabase([other, secret], { joint }));
    expect([status, body]).toEqual([200, {}]);
  });

  test('refuses a wrong, an old, a missing and a doubled proof with 401 and sends nothing', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const right = app.supabase([secret]);
    const { 'webhook-signature': signature = '', 'webhook-id': messageId = '', ...rest } = right.headers;
    const forged = [
      app.supabase(['v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']),
      app.supabase([secret], { ageSeconds: 301 }),
      app.supabase([secret], { ageSeconds: -301 }),
      { ...right, headers: { 'webhook-id': messageId, ...rest } },
      { ...right, headers: { ...rest, 'webhook-signature': signature } },
      { ...right, headers: { ...right.headers, 'webhook-id': `${messageId}, ${messageId}` } },
      { ...right, headers: { ...right.headers, 'webhook-signature': signature.replace('v1,', 'v1a,') } },
      { ...right, body: right.body.replace('561166', '561167') },
      { ...right, headers: { ...right.headers, 'webhook-timestamp': 'now' } },
    ];
    for (const call of forged) {
      const { status, body } = await app.call(id, call);
      expect([status, Object(body).error?.http_code]).toEqual([401, 401]);
    }
    expect(await app.balance()).toBe(1000);
    // A stranger cannot fill the list of calls.
    expect((await app.calls(id, 5)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('unauthorized'));
    // A signature that is there twice is still right.
    const twice = { ...right, headers: { ...right.headers, 'webhook-signature': `${signature}, ${signature}` } };
    expect((await app.call(id, twice)).status).toBe(200);
  });

  test('knows a repeat by metadata.uuid: 200, one SMS, one charge, also for repeats at the same time', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const tries = ['one', 'two', 'three'].map((uuid) =>
      app.supabase([secret], { uuid: 'the same', id: `msg_${uuid}` }),
    );
    const together = await Promise.all(tries.map((each) => app.call(id, each)));
    const later = await app.call(id, app.supabase([secret], { uuid: 'the same' }));
    expect([...together, later].map(({ status, body }) => [status, body])).toEqual(Array(4).fill([200, {}]));
    await app.texts(NUMBER, 1);
    app.clock.advance(23 * 3_600_000);
    expect((await app.call(id, app.supabase([secret], { uuid: 'the same' }))).body).toEqual({});
    expect(await app.balance()).toBe(999);
    expect((await app.calls(id, 5)).map(({ outcome }) => outcome).sort()).toEqual([
      'accepted',
      ...Array(4).fill('repeated'),
    ]);
  });

  test('answers a refusal with 200 and an error that Supabase shows', async () => {
    app = await HookApp.start(adapter, { units: 0 });
    const { id, secret } = await app.hook();
    const { status, body } = await app.call(id, app.supabase([secret]));
    expect([status, body]).toEqual([200, { error: { http_code: 400, message: 'Solde SMS insuffisant' } }]);
    const [call] = await app.calls(id, 1);
    expect(call).toMatchObject({ outcome: 'insufficient_balance', message: null });
  });

  test('counts towards the limits of one-time passcodes', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    for (const uuid of ['1', '2', '3', '4', '5']) {
      expect((await app.call(id, app.supabase([secret], { uuid }))).body).toEqual({});
    }
    const { status, body } = await app.call(id, app.supabase([secret], { uuid: '6' }));
    const message = 'Trop de codes demandés, réessayez plus tard';
    expect([status, body]).toEqual([200, { error: { http_code: 429, message } }]);
    app.clock.advance(601_000);
    expect((await app.call(id, app.supabase([secret], { uuid: '7' }))).body).toEqual({});
  });

  test.each([
    ['with a plus sign', '+22670000001'],
    ['with blanks', '+226 70 00 00 01'],
    ['in national form', '70 00 00 01'],
  ])('reads a number %s', async (_, phone) => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    expect((await app.call(id, app.supabase([secret], { phone }))).body).toEqual({});
    expect(await app.texts(NUMBER, 1)).toHaveLength(1);
  });

  test('refuses what it cannot read: another body, no JSON, a bad number', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook({ kind: 'logto' });
    const authorization = `Bearer ${secret}`;
    for (const body of ['{', '[]', 'null', '{"to":"+22670000001"}', '{"to":"+22670000001","payload":{"code":"<b>"}}']) {
      expect((await app.call(id, { body, headers: { authorization } })).status).toBe(400);
    }
    const bad = { body: JSON.stringify({ to: '12', payload: { code: '123456' } }), headers: { authorization } };
    const { status, body } = await app.call(id, bad);
    expect([status, Object(body).message]).toEqual([400, 'Numéro invalide : 12']);
    expect((await app.calls(id, 6)).map(({ outcome }) => outcome)).toEqual([
      'invalid_number',
      ...Array(5).fill('unreadable'),
    ]);
  });

  test('keeps the text encrypted, and only until the hand-over', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    await app.call(id, app.supabase([secret], { otp: '938471' }));
    const payloads = () => app.storage.database.prepare('SELECT payload FROM messaging_message').all();
    const everything = () =>
      app.storage.database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        .all()
        .filter((table) => Object(table).name !== 'messaging_sandbox_message')
        .map((table) => JSON.stringify(app.storage.database.prepare(`SELECT * FROM ${Object(table).name}`).all()))
        .join();
    expect(JSON.stringify(payloads())).toContain('sealed');
    expect(everything()).not.toContain('938471');
    await app.texts(NUMBER, 1);
    await eventually(payloads, (rows) => !JSON.stringify(rows).includes('sealed'), { clock: app.clock });
    expect(payloads()).toEqual([{ payload: '{"kind":"login","removed":true}' }]);
    const left = app.storage.database.prepare("SELECT id FROM messaging_policy WHERE id LIKE 'login-code-%'").all();
    expect(left).toEqual([]);
    expect(app.log.join()).not.toMatch(/938471|22670000001/);
  });

  test('of a suspended account or a disabled hook is refused, and a removed hook is unknown', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    expect((await app.ask('POST', `hooks/${id}/disable`)).body).toMatchObject({ id, status: 'disabled' });
    const refused = await app.call(id, app.supabase([secret]));
    expect(refused.body).toEqual({ error: { http_code: 403, message: 'Hook de connexion désactivé' } });
    expect((await app.ask('POST', `hooks/${id}/enable`)).body).toMatchObject({ id, status: 'enabled' });
    const { accountId } = app.app;
    app.storage.database.prepare("UPDATE messaging_account SET state = 'suspended' WHERE id = ?").run(accountId);
    app.clock.advance(10_000);
    const suspended = () => app.call(id, app.supabase([secret]));
    const { body } = await eventually(suspended, (reply) => Object(reply.body).error !== undefined, {
      clock: app.clock,
    });
    expect(Object(body).error.http_code).toBe(403);
    await app.service.remove(accountId, id);
    expect((await app.call(id, app.supabase([secret]))).status).toBe(404);
  });

  test('that is removed during a call sends the code of that call once, and keeps no record of it', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const store = app.app.app.get(LoginHookStore, { strict: false });
    const find = store.find.bind(store);
    store.find = async (wanted) => {
      const hook = await find(wanted);
      if (hook) await app.service.remove(app.app.accountId, id);
      return hook;
    };
    const { status, body } = await app.call(id, app.supabase([secret]));
    expect([status, body]).toEqual([200, {}]);
    expect((await app.call(id, app.supabase([secret]))).status).toBe(404);
    expect(await app.texts(NUMBER, 1)).toHaveLength(1);
    expect(await app.balance()).toBe(999);
    const left = () => app.storage.database.prepare('SELECT * FROM messaging_login_hook_call').all();
    expect(left()).toEqual([]);
    expect(app.log.join()).not.toContain('was not recorded');
  });
});
