import { get as httpGet, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import type { LedgerPage } from '../../../src/billing/ledger.api.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { DAY_MS, HOUR_MS } from '../../../src/common/time.js';
import type { CodesView } from '../../../src/management/codes/codes.api.js';
import { LedgerListing } from '../../../src/management/ledger/ledger-listing.js';
import type { OverviewView } from '../../../src/management/usage/overview.api.js';
import type { UsageView } from '../../../src/management/usage/usage.api.js';
import { UsageService } from '../../../src/management/usage/usage-service.js';
import { UsageStore } from '../../../src/management/usage/usage-store.js';
import { MANAGED, userOf } from '../../support/accounts/account-users.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OtpApp } from '../../support/otp/otp-app.js';

const opened = closeAfterEach();

describeOnOneAdapter('what an account has used', (adapter) => {
  const start = async (units = 1000) => {
    const limits = { countries: ['BF'] };
    const otp = opened(await OtpApp.start(adapter, { messaging: MANAGED, units, otp: { limits } }));
    const { app, url, accountId } = otp.app;
    const get = <T>(token: abstract new (...args: never[]) => T): T => app.get(token, { strict: false });
    const program = new ApiClient(`${url}/api/v1`, accountId, otp.app.key);
    return { otp, program, app, url, accountId, get, clock: otp.clock, viewer: userOf(url, accountId, 'viewer') };
  };
  const csvOf = async (viewer: ReturnType<typeof userOf>, path: string) => {
    const { status, headers, body } = await viewer.call(path, { headers: { accept: 'text/csv' } });
    return { status, type: headers.get('content-type'), file: headers.get('content-disposition'), text: String(body) };
  };

  test('the ledger is listed page by page, filtered by kind and time', async () => {
    const { get, accountId, viewer, clock, program } = await start(0);
    const ledger = get(LedgerService);
    await ledger.topUp(accountId, 100, { reference: 'inv-1', note: 'Merci' });
    clock.advance(1000);
    const later = new Date(clock.now()).toISOString();
    await ledger.adjust(accountId, -3);
    clock.advance(1000);
    await program.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000001'] });
    const { items } = await viewer.read<LedgerPage>('ledger');
    expect(items).toMatchObject([
      { kind: 'charge', units: -1, message_id: expect.any(String), position: null, note: null },
      { kind: 'adjust', units: -3, message_id: null },
      { id: 'inv-1', kind: 'topup', units: 100, message_id: null, position: null, note: 'Merci' },
    ]);
    const kinds = async (query: string) =>
      (await viewer.read<LedgerPage>(`ledger?${query}`)).items.map(({ kind }) => kind);
    expect(await kinds('kind=topup')).toEqual(['topup']);
    expect(await kinds('kind=refund')).toEqual([]);
    expect(await kinds('kind=charge')).toEqual(['charge']);
    expect(await kinds(`since=${later}`)).toEqual(['charge', 'adjust']);
    expect(await kinds(`until=${later}`)).toEqual(['topup']);
    const page = await viewer.read<LedgerPage>('ledger?limit=1');
    const rest = await viewer.read<LedgerPage>(`ledger?limit=2&cursor=${page.next_cursor}`);
    expect([...page.items, ...rest.items]).toEqual(items);
    expect(rest.next_cursor).toBeNull();
    for (const query of ['kind=x', 'since=x', 'until=1', 'cursor=AA', 'cursor=*', 'limit=0']) {
      expect(await viewer.call(`ledger?${query}`)).toMatchObject({ status: 400 });
    }
  });

  test('as CSV, the ledger is everything that matches, and no cell of it is a formula', async () => {
    const { get, accountId, viewer, clock } = await start(0);
    const ledger = get(LedgerService);
    const notes = ['=1+1', '+226 70', '-5', '-5 units', '@x', 'a "b", c', 'line\r\nline', 'é 😀', '\t=1'];
    const within = ['a;=1', 'a\n+1', 'a\t@x;-2', 'a";=1', 'a;"=1', 'a=b; c+d'];
    const disguised = ['＝1+1', '＠x', '＋1', '－x', '\ufeff=1', ' =1', '\u200b\u00a0@x', 'a;\ufeff＝1', 'x＝1'];
    notes.push(...within, ...disguised);
    for (const note of notes) {
      await ledger.topUp(accountId, 1, { note });
      clock.advance(1);
    }
    const { status, type, file, text } = await csvOf(viewer, 'ledger?limit=1&kind=topup');
    expect([status, type, file]).toEqual([200, 'text/csv; charset=utf-8', 'attachment; filename="ledger.csv"']);
    const [head, ...lines] = text.split(/\r\n(?=[^l]|$)/);
    expect(head).toBe('id,kind,units,message_id,position,note,at');
    const plain = ["'＝1+1", "'＠x", "'＋1", "'－x", "'\ufeff=1", "' =1", "'\u200b\u00a0@x", "a;'\ufeff＝1", 'x＝1'];
    const guarded = ["a;'=1", `"a\n'+1"`, "a\t'@x;'-2", `"a"";'=1"`, `"a;'""=1"`, 'a=b; c+d'];
    expect(
      lines
        .filter((line) => line !== '')
        .map((line) => /^[^,]*,topup,1,,,(.*),[^,]*Z$/s.exec(line)?.[1])
        .reverse(),
    ).toEqual([
      "'=1+1",
      "'+226 70",
      '-5',
      "'-5 units",
      "'@x",
      '"a ""b"", c"',
      '"line\r\nline"',
      'é 😀',
      "'\t'=1",
      ...guarded,
      ...plain,
    ]);
    for (const path of ['ledger', 'usage']) {
      const { headers } = await viewer.call(path, { headers: { accept: 'text/csv' } });
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await csvOf(viewer, 'ledger?kind=refund')).text).toBe(`${head}\r\n`);
    expect((await csvOf(viewer, 'ledger?kind=x')).status).toBe(400);
    const json = await viewer.call('ledger', { headers: { accept: 'application/json, text/csv;q=0' } });
    expect(json.headers.get('content-type')).toMatch(/^application\/json/);
  });

  test('a client that leaves stops the reading of its file, and a file that a shutdown cuts does not look complete', async () => {
    const { get, url, accountId, app } = await start(0);
    const listing = get(LedgerListing);
    let [read, ended] = [0, 0];
    listing.csv = async function* () {
      try {
        for (;;) {
          read++;
          yield 'x'.repeat(10_000);
          await new Promise(setImmediate);
        }
      } finally {
        ended++;
      }
    };
    const open = () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const token = Reflect.get(userOf(url, accountId, 'viewer'), 'token');
        const headers = { authorization: `Bearer ${token}`, accept: 'text/csv' };
        httpGet(`${url}/api/v1/ledger`, { headers }, resolve).on('error', reject);
      });
    const left = await open();
    await eventually(() => read > 5);
    left.destroy();
    await eventually(() => ended === 1);
    const slow = await open();
    await eventually(() => read > 10);
    const [before] = [read];
    await new Promise((resolve) => setImmediate(resolve));
    expect(read - before).toBeLessThan(1000);
    const cut = new Promise((resolve) => slow.once('error', resolve).once('aborted', resolve));
    slow.resume();
    await app.close();
    await cut;
    expect(slow.complete).toBe(false);
    expect(ended).toBe(2);
  });

  test('usage agrees with the ledger for any grouping, rolled up by the worker or not', async () => {
    const { get, accountId, viewer, clock, otp, program } = await start();
    const rollUp = get(UsageStore).rollUp.bind(get(UsageStore));
    let hours = 0;
    get(UsageStore).rollUp = async (order) => {
      const done = await rollUp(order);
      hours += done.hours;
      return done;
    };
    const sms = (signature: string, ...number: string[]) => program.sent({ signature, content: 'Bonjour', number });
    await sms('INFOS', '22670000001', '221770000001');
    clock.advance(DAY_MS);
    await sms('ALERTE', '22670000001');
    await otp.send({ service: 'Boutique', number: '22670000009' });
    const since = new Date(clock.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    const check = async () => {
      const { items, total } = await viewer.read<UsageView>(`usage?since=${since}&group_by=country,channel,signature`);
      const amounts = (units: number, sends: number, recipients: number) => {
        return { units, refunded_units: 0, net_units: units, sends, recipients };
      };
      expect(items).toEqual([
        { country: 'BF', channel: 'sms', signature: 'ALERTE', ...amounts(1, 1, 1) },
        { country: 'BF', channel: 'sms', signature: 'INFOS', ...amounts(2, 2, 2) },
        { country: 'SN', channel: 'sms', signature: 'INFOS', ...amounts(3, 0, 1) },
      ]);
      expect(total).toEqual(amounts(6, 3, 4));
      const days = await viewer.read<UsageView>(`usage?since=${since}`);
      expect(days.items.map(({ day, units }) => [day, units])).toEqual([
        [new Date(clock.now() - DAY_MS).toISOString().slice(0, 10), 4],
        [new Date(clock.now()).toISOString().slice(0, 10), 2],
      ]);
      expect(days.total).toEqual(total);
      expect((await viewer.read<UsageView>(`usage?since=${since}&group_by=`)).items).toEqual([]);
      expect((await csvOf(viewer, `usage?since=${since}&group_by=country`)).text).toBe(
        'country,units,refunded_units,net_units,sends,recipients\r\nBF,3,0,3,3,3\r\nSN,3,0,3,0,1\r\n',
      );
    };
    await check();
    clock.advance(2 * HOUR_MS);
    await eventually(() => hours === 2, Boolean, { clock, stepMs: 300_000 });
    await check();
    const { total } = await get(UsageService).usage(accountId);
    expect(total.units).toBe(6);
  });

  test('an impossible period is refused', async () => {
    const { viewer } = await start();
    for (const query of [
      'since=x',
      'until=2026-02-30',
      'since=2026-01-02&until=2026-01-01',
      'since=2025-01-01&until=2026-06-01',
      'group_by=x',
      'group_by=day,day',
      'group_by=day,',
      'group_by=DAY',
      'group_by=day&group_by=key',
      'since=2026-11-01T10:30:00Z',
    ]) {
      const reply = await viewer.call(`usage?${query}`);
      expect([query, reply.status]).toEqual([query, 400]);
    }
    expect(await viewer.call('usage?since=2026-01-01&until=2026-01-01')).toMatchObject({ status: 200 });
    expect(await viewer.call('codes?since=2026-01-01T10:00:00Z')).toMatchObject({ status: 400 });
  });

  test('codes are counted by country, and refusals by rule', async () => {
    const { otp, viewer } = await start();
    const ask = { service: 'Boutique', number: '22670000009' };
    await otp.send(ask);
    const [text = ''] = await otp.texts(ask.number, 1);
    const code = /\d{4,}/.exec(text)?.[0];
    expect(await otp.verify({ ...ask, otp: code })).toMatchObject({ status: 200 });
    for (const number of ['221770000001', '221770000002']) await otp.send({ service: 'Boutique', number });
    const counted = await eventually(
      () => viewer.read<CodesView>('codes'),
      ({ items, refusals }) => items[0]?.verified === 1 && refusals[0]?.count === 2,
      { clock: otp.clock, stepMs: 500 },
    );
    expect(counted.items).toEqual([{ country: 'BF', sent: 1, verified: 1, conversion: 1 }]);
    expect(counted.refusals).toEqual([{ reason: 'country', count: 2 }]);
  });

  test('the overview shows totals, what is waiting and what needs attention', async () => {
    const { get, accountId, viewer, program, clock } = await start(3);
    await get(AccountService).setLowBalance(accountId, 100);
    await get(AccountService).issueKey(accountId);
    await get(SignatureService).register(accountId, 'MARQUE');
    await get(SignatureService).reject(accountId, 'MARQUE', 'Non');
    await program.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000001', '22670000002'] });
    const overview = await eventually(
      () => viewer.read<OverviewView>('overview'),
      ({ today }) => today.delivered === 2,
      { clock, stepMs: 1000 },
    );
    expect(overview).toEqual({
      balance: 1,
      oldest_waiting: null,
      today: { delivered: 2 },
      last_week: {},
      capped: { today: false, last_week: false },
      attention: [
        { kind: 'balance_low', target: '100', at: null },
        { kind: 'signature_rejected', target: 'MARQUE', at: expect.any(String) },
      ],
    });
    clock.advance(7 * DAY_MS);
    const later = await viewer.read<OverviewView>('overview');
    expect(later).toMatchObject({ today: {}, last_week: { delivered: 2 } });
  });

  test('a key cannot reach any of these routes', async () => {
    const { otp } = await start();
    for (const path of ['ledger', 'usage', 'overview', 'codes']) {
      const { status } = await fetch(`${otp.app.url}/api/v1/${path}`, { headers: { 'x-api-key': otp.app.key } });
      expect(status).toBe(403);
    }
  });
});
