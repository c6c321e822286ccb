import { expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { homeNumbers, startCampaigns } from '../../support/campaigns/campaign-app.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

describeOnBothAdapters('campaigns', (adapter) => {
  test('a campaign from the draft to its end: list, quote, start, counts, recipients', async () => {
    const { campaigns, client, transport } = await startCampaigns(adapter);
    const numbers = homeNumbers(2500);
    const { id, status } = await campaigns.create({ metadata: { season: 'summer' } });
    expect(status).toBe('draft');
    expect(await campaigns.list(id, numbers)).toEqual({ imported: 2500, duplicates: 0, invalid: 0, errors: [] });
    expect(await campaigns.quote(id)).toMatchObject({
      recipients: 2500,
      units: 2500,
      opted_out: 0,
      invalid: 0,
      distribution: [{ segments: 1, recipients: 2500, units: 2500 }],
      countries: [{ country: 'BF', recipients: 2500, units: 2500 }],
    });
    await campaigns.act(id, 'start');
    const done = await campaigns.until(id, ({ status, counts }) => status === 'completed' && counts.sent === 2500);
    expect(done).toMatchObject({
      units: 2500,
      refunded_units: 0,
      counts: { pending: 0, queued: 0 },
      expected_end: null,
    });
    expect(transport.taken.map(({ number }) => number).sort()).toEqual([...numbers].sort());
    expect(await client.balance()).toBe(7500);
    const { body } = await client.call(`campaigns/${id}/recipients?limit=2&status=sent`);
    expect(body).toMatchObject({
      items: [{ status: 'sent', units: 1 }, { status: 'sent' }],
      next_cursor: expect.any(String),
    });
  });

  test('a CSV file is read as a stream, its wrong rows are named by their lines', async () => {
    const { campaigns } = await startCampaigns(adapter);
    const { id } = await campaigns.create();
    const file =
      '\ufeffname;mobile\r\n"Awa\nKaboré";22670000001\r\nIssa;7000\r\n=1+1;22670000002\r\nAwa;22670000001\r\nAli\r\n';
    expect(await campaigns.csv(id, file, '?number=mobile')).toEqual({
      imported: 2,
      duplicates: 1,
      invalid: 2,
      errors: [
        { row: 4, value: '7000', reason: 'invalid_number' },
        { row: 7, value: '', reason: 'csv_short_row' },
      ],
    });
    expect(await campaigns.csv(id, 'number\n22670000002\n22670000003\n')).toMatchObject({ imported: 1, duplicates: 1 });
    expect(await campaigns.get(id)).toMatchObject({ recipients_count: 3, counts: { pending: 3 } });
  });

  test.each([
    ['Latin-1', Buffer.from('number,name\n22670000001,Awa\n22670000002,Kabor\xe9\n', 'latin1'), 'csv_encoding', '3'],
    ['a file that ends within quotes', 'number,name\n22670000001,Awa\n22670000002,"Is', 'csv_cut', '3'],
    ['a file that ends before the last cell', 'number,name\n22670000001,Awa\n2267000', 'csv_cut', '3'],
    ['a file that ends within a number', 'number\n22670000001\n2267000', 'csv_cut', '3'],
    ['two columns of one name', 'number,name,name\n22670000001,a,b\n', 'csv_column_twice', 'name'],
    ['no column of the numbers', 'mobile\n22670000001\n', 'csv_no_column', 'number'],
    ['a file without a row', '\n\n', 'csv_empty', ''],
    ['an empty file', '', 'csv_empty', ''],
    ['a file with nothing but a byte order mark', '\ufeff', 'csv_empty', ''],
    ['UTF-16', Buffer.from('\ufeffnumber\n22670000001\n', 'utf16le'), 'csv_encoding', '1'],
    ['a stray quote', 'number,name\n22670000001,"a"b\n', 'csv_malformed', '2'],
  ])('%s is refused, and nothing is imported', async (_, file, error, named) => {
    const { campaigns } = await startCampaigns(adapter);
    const { id } = await campaigns.create();
    const { status, body, headers } = await campaigns.file(id, file);
    expect({ status, word: headers.get('x-error-code') }).toEqual({ status: 400, word: error });
    expect(body).toMatchObject({ message: expect.stringContaining(named) });
    expect(await campaigns.get(id)).toMatchObject({ recipients_count: 0 });
    expect(await campaigns.csv(id, 'number,name\n22670000001,Awa\n')).toMatchObject({ imported: 1, duplicates: 0 });
  });

  test('a tab separates cells; a name of 10 000 characters and a file of column names only import nobody', async () => {
    const { campaigns } = await startCampaigns(adapter);
    const { id } = await campaigns.create({ content: 'Bonjour {name}' });
    const file = `name\tnumber\nAwa, Kaboré; \t22670000001\n${'x'.repeat(10_000)}\t22670000002\n`;
    expect(await campaigns.csv(id, file)).toEqual({
      imported: 1,
      duplicates: 0,
      invalid: 1,
      errors: [{ row: 3, value: 'name', reason: 'field_too_long' }],
    });
    expect(await campaigns.csv(id, 'number,name\n')).toEqual({ imported: 0, duplicates: 0, invalid: 0, errors: [] });
    expect(await campaigns.csv(id, 'number\n22670000003\n')).toMatchObject({
      imported: 0,
      errors: [{ row: 2, value: 'name', reason: 'variable_missing' }],
    });
  });

  test('a purse that runs dry pauses the campaign with everything accepted that it pays', async () => {
    const { campaigns, client, app } = await startCampaigns(adapter, {}, 1337);
    const { id } = await campaigns.create();
    await campaigns.list(id, homeNumbers(2000));
    await campaigns.act(id, 'start');
    const paused = await campaigns.until(id, ({ status }) => status === 'paused');
    expect(paused).toMatchObject({ pause_reason: 'insufficient_balance', units: 1337, counts: { pending: 663 } });
    expect(await client.balance()).toBe(0);
    await app.get(LedgerService, { strict: false }).topUp(client.accountId, 1000);
    await campaigns.act(id, 'resume');
    const done = await campaigns.until(id, ({ status, counts }) => status === 'completed' && counts.sent === 2000);
    expect(done).toMatchObject({ status: 'completed', units: 2000 });
    expect(await client.balance()).toBe(337);
  });

  test('a canceled campaign sends no more, and its other recipients are canceled', async () => {
    const { campaigns, client } = await startCampaigns(adapter);
    const { id } = await campaigns.create({ per_minute: 6 });
    await campaigns.list(id, homeNumbers(20));
    await campaigns.act(id, 'start');
    await campaigns.until(id, ({ counts }) => counts.sent === 1);
    expect(await campaigns.act(id, 'pause')).toMatchObject({ status: 'paused', pause_reason: 'user' });
    expect(await campaigns.act(id, 'resume')).toMatchObject({ status: 'running' });
    expect(await campaigns.act(id, 'cancel')).toMatchObject({
      status: 'canceled',
      counts: { canceled: 19, pending: 0 },
    });
    expect(await client.post(`campaigns/${id}/resume`, {})).toMatchObject({ status: 409 });
    const csv = await client.call(`campaigns/${id}/recipients?status=canceled`, { headers: { accept: 'text/csv' } });
    expect(String(csv.body).split('\r\n')).toHaveLength(21);
  });
});
