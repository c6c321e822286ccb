import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeOnBothAdapters } from '../support/http-apps.js';
import { call } from '../support/http-client.js';
import { OPTIONS } from '../support/messaging-app.js';
import { OtpApp } from '../support/otp-app.js';
import { ScriptedTransport } from '../support/scripted-transport.js';

describeOnBothAdapters('the end of a code', (adapter) => {
  it('is told the carrier with the text; a plain SMS has none', async () => {
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
});
