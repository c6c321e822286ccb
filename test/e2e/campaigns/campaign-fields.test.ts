import { beforeEach, expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { homeNumbers, startCampaigns } from '../../support/campaigns/campaign-app.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

describeOnBothAdapters('the text and the times of campaigns', (adapter) => {
  // The clock begins at 10:00 UTC on Saturday, 21 November 2026.
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock();
  });

  const start = (options = {}) => startCampaigns(adapter, { clock: { useValue: clock }, ...options });

  test('a campaign has the text and the signature that its template had when it was made', async () => {
    const { campaigns, client, transport } = await start();
    const sales = { name: 'sales', content: 'Bonjour {name}, nos soldes commencent.', signature: 'ALERTE' };
    await client.post('templates', sales);
    const made = await campaigns.create({ content: undefined, signature: undefined, template: 'sales' });
    expect(made).toMatchObject({ template: 'sales', content: sales.content, signature: 'ALERTE' });
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ content: 'Bonjour {name}, trop tard.', signature: 'SERVICE' });
    expect(await client.call('templates/sales', { ...put, body })).toMatchObject({ status: 200 });
    await campaigns.csv(made.id, 'number,name\n22670000001,Awa\n');
    await campaigns.act(made.id, 'start');
    await campaigns.until(made.id, ({ counts }) => counts.sent === 1, { clock });
    expect(transport.taken).toMatchObject([{ signature: 'ALERTE', text: 'Bonjour Awa, nos soldes commencent.' }]);
    expect(await campaigns.get(made.id)).toMatchObject({ content: sales.content });
  });

  test('a window delays the hand-over, and the SMS are charged at once', async () => {
    const { campaigns, client, transport } = await start();
    const window = { from: '10:01', to: '10:30', days: [6] };
    const { id, ...made } = await campaigns.create({ window });
    expect(made).toMatchObject({ window: { ...window, zone: 'recipient' }, valid_for: null, template: null });
    await campaigns.list(id, homeNumbers(3));
    await campaigns.act(id, 'start');
    await campaigns.until(id, ({ counts }) => counts.queued === 3, { clock });
    expect([await client.balance(), transport.taken]).toEqual([9997, []]);
    await campaigns.until(id, ({ counts }) => counts.sent === 3, { clock });
    expect(clock.now()).toBeGreaterThanOrEqual(Date.parse('2026-11-21T10:01:00Z'));
  });

  test('an SMS that its window keeps beyond its validity expires, and is refunded', async () => {
    const { campaigns, client, transport } = await start();
    const { id, valid_for } = await campaigns.create({ window: { from: '12:00', to: '13:00' }, valid_for: 60 });
    expect(valid_for).toBe(60);
    await campaigns.list(id, homeNumbers(3));
    await campaigns.act(id, 'start');
    const done = await campaigns.until(id, ({ status, counts }) => status === 'completed' && counts.failed === 3, {
      clock,
    });
    expect(done).toMatchObject({ status: 'completed', units: 3, refunded_units: 3 });
    expect([await client.balance(), transport.taken]).toEqual([10_000, []]);
    const { body } = await client.call(`campaigns/${id}/recipients`);
    expect(Object(body).items).toMatchObject([{ error: 'expired' }, { error: 'expired' }, { error: 'expired' }]);
  });

  test('a campaign keeps the default window that it was made with; null is no window', async () => {
    const bulk = { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5], zone: 'recipient' };
    const { campaigns } = await start({ sms: { ...OPTIONS.sms, windows: { bulk } } });
    expect(await campaigns.create()).toMatchObject({ window: bulk });
    const { id } = await campaigns.create({ window: null });
    expect(await campaigns.get(id)).toMatchObject({ window: null });
    await campaigns.list(id, homeNumbers(1));
    await campaigns.act(id, 'start');
    // It is Saturday.
    await campaigns.until(id, ({ counts }) => counts.sent === 1, { clock });
  });

  test('a number in whose country the window never opens is not imported', async () => {
    const { campaigns } = await start();
    const { id } = await campaigns.create({ window: { from: '08:00', to: '09:00' } });
    expect(await campaigns.list(id, ['22670000001', '12125550123'])).toEqual({
      imported: 1,
      duplicates: 0,
      invalid: 1,
      errors: [{ row: 2, value: '12125550123', reason: 'window_empty' }],
    });
  });

  const NONE = { content: undefined };
  test.each<[object, string]>([
    [NONE, 'field_missing'],
    [{ template: 'sales' }, 'fields_exclusive'],
    [{ ...NONE, template: 'unknown' }, 'template_not_found'],
    [{ ...NONE, template: 'No name' }, 'template_not_found'],
    [{ ...NONE, template: 'sales', signature: undefined }, 'field_missing'],
    [{ signature: undefined }, 'field_missing'],
    [{ valid_for: 0 }, 'valid_for_invalid'],
    [{ valid_for: 4 }, 'valid_for_invalid'],
    [{ valid_for: 1.5 }, 'valid_for_invalid'],
    [{ valid_for: '60' }, 'valid_for_invalid'],
    [{ valid_for: 2_592_001 }, 'valid_for_invalid'],
    [{ window: { from: '08:00', to: '08:00' } }, 'window_invalid'],
    [{ window: { from: '08:00', to: '20:00', days: [8] } }, 'window_invalid'],
    [{ window: { from: '08:00', to: '20:00', zone: 'Mars' } }, 'window_invalid'],
  ])('a campaign with %j is refused', async (over, error) => {
    const { client } = await start();
    await client.post('templates', { name: 'sales', content: 'Bonjour' });
    const { status, headers } = await client.post('campaigns', {
      name: 'Soldes',
      signature: 'INFOS',
      content: 'Bonjour',
      ...over,
    });
    expect([error === 'template_not_found' ? 404 : 400, error]).toEqual([status, headers.get('x-error-code')]);
  });
});
