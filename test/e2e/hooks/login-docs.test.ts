import { createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MessagingClient } from '../../../src/client/messaging-client.js';
import { blocksOf } from '../../support/docs/readme.js';
import { HookApp } from '../../support/hooks/hook-app.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

const FOLDER = join(ROOT, 'test/.readme-login');
const PLACEHOLDER = 'https://api.example.com/api/v1/hooks/HOOK';

/** A snippet of docs/login.md. */
function snippet(name: string): string {
  const found = blocksOf('docs/login.md').find((each) => each.name === name);
  if (!found) throw new Error(`docs/login.md has no snippet ${name}.`);
  return found.text;
}

/** The values of a snippet of `name=value` lines. */
function settings(name: string): Readonly<Record<string, string>> {
  const lines = snippet(name).trim().split('\n');
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** The value of a key in a snippet of YAML. */
function yamlValue(text: string, key: string): string {
  return new RegExp(`^\\s*(?:- )?${key}: (.*)$`, 'm').exec(text)?.[1] ?? '';
}

describeOnOneAdapter('docs/login.md', (adapter) => {
  let app: HookApp;
  let client: MessagingClient;
  let phones = 0;
  /** A number that has had no code yet. */
  const next = () => `2267000${1000 + phones++}`;

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    app = await HookApp.start(adapter);
    client = new MessagingClient({ baseUrl: `${app.app.url}/api/v1`, apiKey: app.app.key });
  });

  afterAll(async () => {
    rmSync(FOLDER, { recursive: true, force: true });
    await app.close();
  });

  /** The functions that a snippet exports. */
  const imported = async (name: string): Promise<Record<string, (...given: unknown[]) => Promise<unknown>>> => {
    const path = join(FOLDER, `${name}.ts`);
    writeFileSync(path, snippet(name).replaceAll('nestjs-messaging/client', '../../src/client/index.js'));
    return import(pathToFileURL(path).href);
  };
  const made = async (draft: object) => app.hook({ kind: 'generic', ...draft });
  const post = (url: string, headers: Readonly<Record<string, string>>, body: object) =>
    call(url, { method: 'POST', headers, body });
  /** The URL of a snippet as that of a hook. */
  const at = (url: string, hook: string) => {
    expect(url).toBe(PLACEHOLDER);
    return hook;
  };

  test('Supabase: the variables of its container', async () => {
    const { makeHook } = await imported('login.make');
    const { id, url, secret } = Object(await makeHook?.(client));
    const values = settings('login.supabase');
    expect(at(values.GOTRUE_HOOK_SEND_SMS_URI ?? '', url)).toBe(url);
    const secrets = values.GOTRUE_HOOK_SEND_SMS_SECRETS?.replace('v1,whsec_SECRET', secret).split('|') ?? [];
    const phone = next();
    expect((await app.call(id, app.supabase(secrets, { phone, otp: '204060' }))).status).toBe(200);
    expect((await app.texts(phone, 1))[0]).toContain('204060');
  });

  test('Zitadel: the hook first, then the provider, then its signing key', async () => {
    const { id, url } = await app.hook({ kind: 'zitadel' });
    expect(at(JSON.parse(snippet('login.zitadel')).endpoint, url)).toBe(url);
    const { useSigningKey } = await imported('login.zitadel-key');
    const signingKey = 'wQvPYhhEqpTtYAmmYQpNnbwZDkBEyb7H';
    await useSigningKey?.(client, id, signingKey);
    const phone = next();
    const payload = (oTP: string) => ({
      contextInfo: { eventType: 'session.otp.sms.challenged', recipientPhoneNumber: `+${phone}` },
      templateData: { title: 'VerifySMSOTP.Title', text: `${oTP} is your code.\n@example.com #${oTP}` },
      args: { oTP, domain: 'example.com', expiry: 300_000_000_000 },
    });
    const first = app.zitadel(signingKey, payload('314159'));
    expect((await app.call(id, first)).status).toBe(200);
    // Zitadel tries again with another time in its signature.
    app.clock.advance(60_000);
    expect((await app.call(id, app.zitadel(signingKey, payload('314159')))).status).toBe(200);
    expect((await app.call(id, app.zitadel(signingKey, payload('271828')))).status).toBe(200);
    expect(await app.texts(phone, 2)).toEqual([
      '314159 is your code.\n@example.com #314159',
      '271828 is your code.\n@example.com #271828',
    ]);
    expect((await app.call(id, app.zitadel('another key, 0123456789', payload('1')))).status).toBe(401);
    app.clock.advance(301_000);
    expect((await app.call(id, first)).status).toBe(401);
  });

  test('Logto: the configuration of its connector', async () => {
    const { url, secret } = await app.hook({ kind: 'logto', name: 'Boutique' });
    const { endpoint, authorization } = JSON.parse(snippet('login.logto'));
    const headers = { authorization: authorization.replace('SECRET', secret) };
    const phone = next();
    const body = { to: phone, type: 'SignIn', payload: { code: '424242' } };
    expect((await post(at(endpoint, url), headers, body)).status).toBe(200);
    expect((await app.texts(phone, 1))[0]).toMatch(/^424242.*Boutique/);
  });

  test('authentik: its blueprint, and Basic', async () => {
    const { url, secret } = await app.hook({ kind: 'authentik' });
    const blueprint = snippet('login.authentik');
    expect([yamlValue(blueprint, 'provider'), yamlValue(blueprint, 'auth_type')]).toEqual(['generic', 'bearer']);
    const bearer = { authorization: `Bearer ${yamlValue(blueprint, 'auth').replace('SECRET', secret)}` };
    const basic = { authorization: `Basic ${Buffer.from(`sms:${secret}`).toString('base64')}` };
    const phone = next();
    for (const [headers, token] of [
      [bearer, '111222'],
      [basic, '333444'],
    ] as const) {
      const Message = `Use this code to authenticate in authentik: ${token}`;
      const body = { From: yamlValue(blueprint, 'from_number'), To: `+${phone}`, Body: token, Message };
      expect((await post(at(yamlValue(blueprint, 'account_sid'), url), headers, body)).status).toBe(200);
    }
    expect(await app.texts(phone, 2)).toEqual([
      'Use this code to authenticate in authentik: 111222',
      'Use this code to authenticate in authentik: 333444',
    ]);
  });

  test('any other system: a hook with an HMAC, and its calls', async () => {
    const { makeGenericHook, sendCode } = await imported('login.generic');
    const { url, secret } = Object(await makeGenericHook?.(client));
    const phone = next();
    const body = { user: { phone }, code: '987123', id: 'call 1', expires_in: 120 };
    for (let time = 0; time < 2; time++) {
      expect(await sendCode?.(url, secret, body)).toMatchObject({ status: 200 });
    }
    expect(await sendCode?.(url, secret, { ...body, id: undefined })).toMatchObject({ status: 400 });
    expect(await app.texts(phone, 1)).toEqual([expect.stringContaining('987123')]);
    const wrong = createHmac('sha256', 'another secret').update('{}').digest('hex');
    expect((await post(url, { 'X-Signature': wrong }, {})).status).toBe(401);
  });

  test('Keycloak: the settings of its authenticator', async () => {
    const { url, secret } = await made(JSON.parse(snippet('login.keycloak-hook')));
    const config = settings('login.keycloak');
    const phone = next();
    // As the plugin writes it: in this order, without escaping.
    const body = [
      `"${config.uuidAttribute}":"2b1f2a0e-8b0d-4a0a-9a1b-0d6f6a3f9f11"`,
      `"${config.messageattribute}":"Your SMS code is 606060 and is valid for 5 minutes."`,
      `"${config.receiverattribute}":"+${phone}"`,
      `"${config.senderattribute}":"${config.senderId}"`,
    ];
    expect([config.apiTokenInHeader, config.useUuid]).toEqual(['true', 'true']);
    const headers = { authorization: config.apitoken?.replace('SECRET', secret) ?? '' };
    const reply = await call(at(config.apiurl ?? '', url), { method: 'POST', headers, body: `{${body.join()}}` });
    expect(reply.status).toBe(200);
    expect(await app.texts(phone, 1)).toEqual(['Your SMS code is 606060 and is valid for 5 minutes.']);
  });

  test('Ory: the channel and its template', async () => {
    const { url, secret } = await made(JSON.parse(snippet('login.ory-hook')));
    const channel = snippet('login.ory');
    expect(yamlValue(channel, 'body')).toMatch(/\.jsonnet$/);
    // This template is JavaScript too, once its object is an expression.
    const template = snippet('login.ory-template').replace(/^function\(ctx\) (\{[\s\S]*\})\s*$/, '((ctx) => ($1))');
    const phone = next();
    const render: (ctx: object) => object = new Function(`return ${template}`)();
    const body = render({
      recipient: `+${phone}`,
      body: 'Your login code is: 505050',
      template_type: 'login_code_valid',
    });
    const header = yamlValue(channel, 'name');
    const headers = { [header]: yamlValue(channel, 'value').replace('SECRET', secret) };
    expect((await post(at(yamlValue(channel, 'url'), url), headers, body)).status).toBe(200);
    expect(await app.texts(phone, 1)).toEqual(['Your login code is: 505050']);
  });
});
