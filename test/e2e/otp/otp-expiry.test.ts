import { expect, test } from '@jest/globals';
import { eventually } from '../../support/common/eventually.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { codeIn, OtpApp, PEPPER } from '../../support/otp/otp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

describeOnOneAdapter('the end of a code', (adapter) => {
  test('is given to the carrier with the text; a plain SMS has none', async () => {
    const transport = new ScriptedTransport();
    const messaging = { sms: { ...OPTIONS.sms, transport: { useValue: transport } } };
    const app = await OtpApp.start(adapter, { messaging });
    const { body } = await app.send({ service: 'Boutique', number: '22670000000' });
    const { url, key } = app.app;
    const sms = { signature: 'INFOS', content: 'Bonjour', number: ['22670000001'] };
    await call(`${url}/api/v1/send/sms`, { method: 'POST', body: sms, headers: { 'x-api-key': key } });
    await eventually(() => transport.taken.length === 2, Boolean, { clock: app.clock });
    await app.close();
    const ends = new Map(transport.taken.map(({ number, expiresAt }) => [number, expiresAt]));
    expect(ends.get('22670000000')).toBe(Date.parse(Object(body).expires_at));
    expect(ends.get('22670000001')).toBeUndefined();
  });

  test('comes with the end of its pepper: a check is a 404, and the next send makes a new code', async () => {
    const storage = new SqliteMemory();
    const [old, fresh] = ['1', '2'].map((version) => ({ version, secret: `${PEPPER} ${version}` }));
    const before = await OtpApp.start(adapter, { storage, otp: { pepper: old ? [old] : [] } });
    const binding = { service: 'Boutique', number: '22670000002' };
    const { body: first } = await before.send(binding);
    const [text = ''] = await before.texts(binding.number, 1);
    await before.close();
    const after = await OtpApp.start(adapter, { storage, otp: { pepper: fresh ? [fresh] : [] } });
    const post = (route: string, body: object) =>
      call(`${after.app.url}/api/v1/${route}`, { method: 'POST', headers: { 'x-api-key': before.app.key }, body });
    const { status, body } = await post('verify/otp', { ...binding, otp: codeIn(text) });
    expect([status, body]).toEqual([
      404,
      { statusCode: 404, message: 'Code de vérification non trouvé ou déjà vérifié', error: 'Not Found' },
    ]);
    const second = await post('send/otp', binding);
    expect([second.status, Object(second.body).otpID === Object(first).otpID]).toEqual([200, false]);
    await after.close();
  });
});
