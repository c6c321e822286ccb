import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { TemplateService } from '../../../src/sms/templates/template-service.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeServices, type Service } from '../../support/mounting/services.js';

const AWA = '22670000001';
const PARCEL = { name: 'parcel-arrived', content: 'Bonjour {name}, {{colis}}', signature: 'INFOS' };
const TO = [{ number: AWA, vars: { name: 'Awa' } }];

describeServices('templates', (start) => {
  let service: Service;
  let client: ApiClient;

  beforeAll(async () => {
    service = await start();
  });
  beforeEach(async () => {
    client = await service.client(1000);
  });

  const put = (name: string, body: unknown) => client.call(`templates/${name}`, { method: 'PUT', body });

  test('are made, listed by name, read, replaced and removed, each change with its audit entry', async () => {
    const made = await client.post('templates', PARCEL);
    expect([made.status, made.body]).toEqual([
      200,
      { ...PARCEL, variables: ['name'], created_at: expect.any(String), updated_at: expect.any(String) },
    ]);
    await client.post('templates', { name: 'a-second', content: 'Bonjour' });
    const list = await client.call('templates?limit=1');
    expect(list.body).toMatchObject({ items: [{ name: 'a-second', signature: null, variables: [] }] });
    const { next_cursor: cursor } = list.body as { next_cursor: string };
    expect((await client.call(`templates?limit=1&cursor=${cursor}`)).body).toMatchObject({
      items: [{ name: 'parcel-arrived' }],
      next_cursor: null,
    });
    expect((await put('parcel-arrived', { content: 'Bonsoir {name}' })).body).toMatchObject({
      content: 'Bonsoir {name}',
      signature: null,
    });
    expect((await client.call('templates/parcel-arrived')).body).toMatchObject({ content: 'Bonsoir {name}' });
    expect((await client.call('templates/parcel-arrived', { method: 'DELETE' })).body).toEqual({ success: true });
    for (const method of ['GET', 'DELETE']) {
      const gone = await client.call('templates/parcel-arrived', { method });
      expect([gone.status, gone.headers.get('x-error-code')]).toEqual([404, 'template_not_found']);
    }
    const log = service.app.get(StartedStorage, { strict: false }).store(AuditLog);
    const { items } = await log.list({ accountId: client.accountId, limit: 10 });
    const entries = items.filter(({ action }) => action.startsWith('template.'));
    expect(entries.map(({ action, target, before, after }) => [action, target, before, after])).toEqual([
      ['template.removed', 'parcel-arrived', { signature: null, characters: 14 }, undefined],
      [
        'template.changed',
        'parcel-arrived',
        { signature: 'INFOS', characters: 25 },
        { signature: null, characters: 14 },
      ],
      ['template.created', 'a-second', undefined, { signature: null, characters: 7 }],
      ['template.created', 'parcel-arrived', undefined, { signature: 'INFOS', characters: 25 }],
    ]);
    // The log has no texts.
    expect(JSON.stringify(entries)).not.toContain('Bon');
  });

  test('give a send its text and signature, and a change does not change what was accepted', async () => {
    await client.post('templates', PARCEL);
    const receipt = await client.sent({ template: 'parcel-arrived', to: TO });
    expect(receipt).toMatchObject({ signature: 'INFOS', number: [AWA] });
    await put('parcel-arrived', { content: 'Autre' });
    expect(await client.details(receipt.smsID)).toMatchObject({
      content: PARCEL.content,
      recipients: [{ content: 'Bonjour Awa, {colis}' }],
    });
    const quote = await client.post('sms/quote', { template: 'parcel-arrived', number: [AWA] });
    expect(quote.body).toMatchObject({ characters: 5, sms_units: 1 });
  });

  test('without variables may be sent to numbers, and with some they need values', async () => {
    await client.post('templates', { name: 'plain', content: '{{Bonjour}}', signature: 'INFOS' });
    const { smsID } = await client.sent({ template: 'plain', number: [AWA] });
    expect(await client.details(smsID)).toMatchObject({ content: '{Bonjour}', recipients: [{ content: null }] });
    await client.post('templates', PARCEL);
    const refused = await client.send({ template: 'parcel-arrived', number: [AWA] });
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'variable_missing']);
  });

  test.each<[string, object, number, string]>([
    ['an unknown one', { template: 'unknown', to: TO }, 404, 'template_not_found'],
    ['a name that is none', { template: 'Not A Name', to: TO }, 404, 'template_not_found'],
    ['a text beside it', { template: 'mine', content: 'Bonjour', to: TO }, 400, 'fields_exclusive'],
    ['no signature anywhere', { template: 'mine', to: TO }, 400, 'field_missing'],
  ])('are refused with %s', async (_what, body, status, word) => {
    await client.post('templates', { name: 'mine', content: 'Bonjour' });
    const reply = await client.send(body);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([status, word]);
    expect(await client.balance()).toBe(1000);
  });

  test('belong to their account', async () => {
    await client.post('templates', PARCEL);
    const other = await service.client(10);
    expect((await other.call('templates/parcel-arrived')).status).toBe(404);
    expect((await other.send({ template: 'parcel-arrived', to: TO })).status).toBe(404);
    expect((await other.call('templates')).body).toEqual({ items: [], next_cursor: null });
    expect((await other.post('templates', PARCEL)).status).toBe(200);
  });

  test('are at most 500 for an account, also if many are made at the same moment', async () => {
    const templates = service.app.get(TemplateService, { strict: false });
    for (let count = 0; count < 498; count++) {
      await templates.create(client.accountId, { name: `t${count}`, content: 'Bonjour' });
    }
    const many = Array.from({ length: 5 }, (_, index) =>
      client.post('templates', { name: `last${index}`, content: 'Bonjour' }),
    );
    const statuses = (await Promise.all(many)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 409, 409, 409]);
    const again = await client.post('templates', { name: 't0', content: 'Bonjour' });
    expect(again.headers.get('x-error-code')).toBe('template_exists');
  });
});
