import { afterEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { AccountService } from '../../../src/accounts/account-service.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { eventually } from '../../support/common/eventually.js';
import { HookApp } from '../../support/hooks/hook-app.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';

const NUMBER = '22670000001';

describeOnOneAdapter('the management of log-in hooks', (adapter) => {
  let app: HookApp;
  afterEach(() => app.close());

  test('shows the secret once, keeps it encrypted, and repeats it under an Idempotency-Key only', async () => {
    app = await HookApp.start(adapter);
    const { url, key } = app.app;
    const headers = { 'x-api-key': key, 'idempotency-key': 'one' };
    const ask = () =>
      call(`${url}/api/v1/hooks`, { method: 'POST', headers, body: { kind: 'logto', signature: 'INFOS' } });
    const [first, again] = [await ask(), await ask()];
    const { secret } = Object(first.body);
    expect([first.status, again.headers.get('idempotency-replayed'), again.body]).toEqual([200, 'true', first.body]);
    const { body } = await app.ask('GET', 'hooks');
    expect(Object(body).items).toHaveLength(1);
    expect(JSON.stringify(body)).not.toContain(secret);
    for (const table of ['messaging_login_hook', 'messaging_idempotency', 'messaging_audit']) {
      expect(JSON.stringify(app.storage.database.prepare(`SELECT * FROM ${table}`).all())).not.toContain(secret);
    }
  });

  test('accepts both secrets for a while after a rotation, and a secret that the log-in system has made', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const own = `v1,whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const rotated = await app.ask('POST', `hooks/${id}/rotate`, { secret: own, keep_hours: 1 });
    expect([rotated.status, Object(rotated.body).secret]).toEqual([200, own]);
    const statusOf = async (used: string) => (await app.call(id, app.supabase([used], { uuid: used }))).status;
    expect([await statusOf(secret), await statusOf(own)]).toEqual([200, 200]);
    app.clock.advance(3_600_001);
    expect([await statusOf(secret), await statusOf(own)]).toEqual([401, 200]);
    expect(new Webhook(own.replace('v1,', ''))).toBeDefined();
  });

  const WRONG = [
    [{ kind: 'auth0' }, 'Le champ kind est invalide'],
    [{ kind: 'generic' }, 'mapping'],
    [{ kind: 'generic', mapping: { number: '/a' } }, 'mapping.code'],
    [{ kind: 'generic', mapping: { number: 'a', code: '/b' } }, 'Le champ mapping.number est invalide'],
    [{ mapping: { number: '/a', code: '/b' } }, 'Le champ mapping est invalide'],
    [{ secret: 'short' }, 'Le champ secret est invalide'],
    [{ name: 'a\nb' }, 'Le champ name est invalide'],
    [{ limits: { max_segments: 11 } }, 'Le champ limits.max_segments doit'],
    [{ channel: 'fax' }, 'Canal inconnu : fax'],
    [{ signature: 'NOT MINE' }, 'Signature non vérifiée ou invalide'],
  ] as const;

  test('refuses wrong fields', async () => {
    app = await HookApp.start(adapter);
    for (const [draft, message] of WRONG) {
      const { status, body } = await app.ask('POST', 'hooks', { kind: 'supabase', signature: 'INFOS', ...draft });
      expect([draft, status, Object(body).message]).toEqual([draft, 400, expect.stringContaining(message)]);
    }
  });

  test('refuses a key with a daily cap, because sends of a hook do not count towards it', async () => {
    app = await HookApp.start(adapter);
    const { id } = await app.hook();
    const accounts = app.app.app.get(AccountService, { strict: false });
    const capped = await accounts.issueKey(app.app.accountId, { dailyUnits: 5 });
    const ask = (path: string, body: object) =>
      call(`${app.app.url}/api/v1/hooks${path}`, { method: 'POST', headers: { 'x-api-key': capped.key }, body });
    for (const [path, body] of [
      ['', { kind: 'logto', signature: 'INFOS' }],
      [`/${id}/rotate`, {}],
      [`/${id}/test`, { number: NUMBER }],
    ] as const) {
      const reply = await ask(path, body);
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([403, 'login_hook_key_capped']);
    }
  });

  test('sends a test, which is charged, listed and audited', async () => {
    app = await HookApp.start(adapter);
    const { id } = await app.hook({ name: 'Boutique' });
    const { status, body } = await app.ask('POST', `hooks/${id}/test`, { number: '70 00 00 01' });
    expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }]);
    expect((await app.texts(NUMBER, 1))[0]).toMatch(/^\d{6} .*Boutique/);
    const [listed] = await app.calls(id, 1);
    expect(listed).toMatchObject({
      outcome: 'accepted',
      test: true,
      number: '226******01',
      message: Object(body).message,
    });
    expect(await app.balance()).toBe(999);
    const { items } = await app.app.app
      .get(AuditLog, { strict: false })
      .list({ accountId: app.app.accountId, limit: 1 });
    expect(items[0]).toMatchObject({ action: 'login_hook.tested', target: id });
  });

  test('looks up one hook as the list has it, without its secret', async () => {
    app = await HookApp.start(adapter);
    const { id, url, secret } = await app.hook({ name: 'Boutique', limits: { daily_units: 7 } });
    await app.hook();
    const { status, body } = await app.ask('GET', `hooks/${id}`);
    expect([status, body]).toEqual([200, Object((await app.ask('GET', 'hooks')).body).items[1]]);
    expect(body).toMatchObject({ id, url, name: 'Boutique', limits: { max_segments: 2, daily_units: 7 } });
    expect(JSON.stringify(body)).not.toContain(secret);
    for (const unknown of ['none', '019d0f52-3a00-7d41-9b0e-6c8f4a2d1e36']) {
      const reply = await app.ask('GET', `hooks/${unknown}`);
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([404, 'login_hook_not_found']);
    }
  });

  test('refuses the test of a disabled hook with login_hook_disabled, charges nothing, and lists the refusal', async () => {
    app = await HookApp.start(adapter);
    const { id } = await app.hook();
    await app.ask('POST', `hooks/${id}/disable`);
    const test = () => app.ask('POST', `hooks/${id}/test`, { number: NUMBER });
    const refused = await test();
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([403, 'login_hook_disabled']);
    expect(await app.balance()).toBe(1000);
    const [listed] = await app.calls(id, 1);
    expect(listed).toMatchObject({ outcome: 'disabled', test: true, message: null });
    await app.ask('POST', `hooks/${id}/enable`);
    expect((await test()).status).toBe(200);
  });

  test('stops a hook at its own limits: segments, and units of a day', async () => {
    app = await HookApp.start(adapter);
    const mapping = { number: '/to', text: '/text' };
    const { id, secret } = await app.hook({ kind: 'generic', mapping, limits: { daily_units: 3 } });
    const ask = (to: string, text: string) =>
      app.call(id, { body: JSON.stringify({ to, text }), headers: { authorization: secret } });
    const long = await ask(NUMBER, 'a'.repeat(153 * 5));
    expect([long.status, Object(long.body).message]).toEqual([400, 'Message trop long : 5 segments, maximum 2']);
    expect((await ask(NUMBER, `Code ${'1'.repeat(200)}`)).status).toBe(200);
    expect((await ask('22670000002', `Code ${'1'.repeat(200)}`)).status).toBe(429);
    expect((await ask('22670000002', 'Code 1234')).status).toBe(200);
    expect((await app.calls(id, 4)).map(({ outcome }) => outcome).sort()).toEqual([
      'accepted',
      'accepted',
      'too_long',
      'too_many_codes',
    ]);
    app.clock.advance(86_400_000);
    expect((await ask('22670000003', `Code ${'1'.repeat(200)}`)).status).toBe(200);
  });

  test('answers an opted-out number as any other, sends nothing and gives the units back', async () => {
    app = await HookApp.start(adapter);
    const { id, secret } = await app.hook();
    const { accountId } = app.app;
    await app.app.app.get(OptOutService, { strict: false }).add({ accountId, signature: 'INFOS' }, [NUMBER]);
    expect((await app.call(id, app.supabase([secret]))).body).toEqual({});
    await eventually(
      () => app.balance(),
      (balance) => balance === 1000,
      { clock: app.clock },
    );
    await expect(app.texts(NUMBER, 0)).resolves.toEqual([]);
  });
});
