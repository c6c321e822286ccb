import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DAY_MS } from '../../../src/common/time.js';
import { until } from '../../support/common/until.js';
import { openScreen, sharedDashboard } from '../../support/dashboard/dashboard-fixture.js';
import type { FakeRequest } from '../../support/dashboard/fake-api.js';
import { FULL, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { appMessageOf, eventOf, recipientOf, smsOf } from '../../support/dashboard/fake-screens-data.js';
import { accessibilityFaults, hasBrowser } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('the messages of the dashboard', () => {
  const shared = sharedDashboard();
  let page: Page;

  beforeEach(() => {
    shared.fixture.api.routes = { ...sessionRoutes('viewer'), ...FULL };
    shared.fixture.api.requests.length = 0;
  });

  afterEach(async () => {
    await page.context().close();
  });

  const open = async (screen: string, timezoneId = 'UTC') => {
    const viewport = { width: 320, height: 700 };
    ({ page } = await openScreen(shared.browser, shared.fixture, screen, { locale: 'en', viewport, timezoneId }));
  };
  const asked = (path: string) => shared.fixture.api.requests.filter((request) => request.path === path);
  const at = (minutes: number) => new Date(Date.UTC(2026, 10, 23, 10) - minutes * 60_000).toISOString();

  test('are filtered by the server, and the address contains the filters', async () => {
    await open('messages');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Number').fill('70 11 22 33');
    await page.getByLabel('Status').selectOption('failed');
    await page.getByLabel('To (included)').fill('2026-11-20');
    await page.getByLabel('Metadata').fill('order=47=11');
    await until(() => asked('sms').some(({ query }) => query.get('metadata.order') === '47=11'));
    expect(
      Object.fromEntries(asked('sms').findLast(({ query }) => query.has('metadata.order'))?.query ?? []),
    ).toMatchObject({
      number: '22670112233',
      status: 'failed',
      until: '2026-11-21T00:00:00.000Z',
      'metadata.order': '47=11',
    });
    await until(() => asked('msgapp/messages').some(({ query }) => query.get('to') === '22670112233'));
    expect(await page.evaluate('location.hash')).toContain('status=failed');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    expect(await page.getByLabel('Number').inputValue()).toBe('');
    await until(() => asked('sms').at(-1)?.query.get('status') === null);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('of all channels are merged into one list by time, page after page', async () => {
    const sms = (minutes: number) => smsOf(`s${minutes}`, { date_sent: at(minutes), signature: `S${minutes}` });
    shared.fixture.api.routes['GET sms'] = ({ query }: FakeRequest) =>
      query.get('cursor') === null
        ? { items: [sms(1), sms(5)], next_cursor: 'c' }
        : { items: [sms(6), sms(9)], next_cursor: null };
    shared.fixture.api.routes['GET msgapp/messages'] = {
      items: [3, 7].map((minutes) => appMessageOf(`a${minutes}`, { queued_at: at(minutes), from: `F${minutes}` })),
      next_cursor: null,
    };
    await open('messages');
    const senders = async () =>
      (await page.locator('td[data-title=Sender] bdi').allTextContents()).map((each) => each.trim());
    // F7 is held back, because an SMS that is not loaded yet may come before it.
    await until(async () => (await senders()).length === 3);
    expect(await senders()).toEqual(['S1', 'F3', 'S5']);
    await page.getByRole('button', { name: 'Show more' }).click();
    await until(async () => (await senders()).length === 6);
    expect(await senders()).toEqual(['S1', 'F3', 'S5', 'S6', 'F7', 'S9']);
  });

  test('that were not searched to the end are not “none”: the list says how far it looked, and goes on', async () => {
    const rare = smsOf('rare', { content: 'Trouvé', date_sent: at(500) });
    const pages: Readonly<Record<string, object>> = {
      first: { items: [], next_cursor: 'second', searched_until: at(120) },
      second: { items: [], next_cursor: 'third', searched_until: at(300) },
      third: { items: [rare], next_cursor: null, searched_until: null },
    };
    shared.fixture.api.routes['GET sms'] = ({ query }: FakeRequest) => pages[query.get('cursor') ?? 'first'];
    // An app message older than what was searched of the SMS: SMS may come before it.
    const app = appMessageOf('a1', { queued_at: at(200), body: 'Plus ancien' });
    shared.fixture.api.routes['GET msgapp/messages'] = { items: [app], next_cursor: null, searched_until: null };
    await open('messages?status=failed');
    await page.getByText(/^Nothing found back to Nov 23, 2026/).waitFor();
    expect(await page.getByText('Nothing matches').count()).toBe(0);
    expect(await page.getByText('Plus ancien').count()).toBe(0);
    await page.getByRole('button', { name: 'Search further' }).click();
    await page.getByText('Plus ancien').waitFor();
    await page.getByText(/^Searched back to/).waitFor();
    await page.getByRole('button', { name: 'Search further' }).click();
    await page.getByText('Trouvé').waitFor();
    expect(await page.getByRole('button', { name: 'Search further' }).count()).toBe(0);
  });

  test('are asked for by the days of the reader’s zone, also when the clocks change', async () => {
    // 25 October 2026 has 25 hours in Paris.
    await open('messages?from=2026-10-25&to=2026-10-25', 'Europe/Paris');
    const { query } = asked('sms')[0] ?? {};
    expect([query?.get('since'), query?.get('until')]).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ]);
  });

  test('are “yesterday” only if they were accepted on the calendar’s yesterday', async () => {
    const midnight = new Date().setUTCHours(0, 0, 0, 0);
    const sent = [-1, -24 * 60 + 1, -24 * 60 - 1].map((minutes) => new Date(midnight + minutes * 60_000));
    shared.fixture.api.routes['GET sms'] = {
      items: sent.map((each, index) => smsOf(`s${index}`, { date_sent: each.toISOString() })),
      next_cursor: null,
    };
    shared.fixture.api.routes['GET msgapp/messages'] = { items: [], next_cursor: null };
    await open('messages');
    const shown = await page.locator('td time').allTextContents();
    expect(shown.slice(0, 2)).toEqual([
      expect.stringMatching(/^(yesterday, 11:59|\d+ (min|sec|hr)\.)/),
      expect.stringMatching(/^yesterday, 12:01/),
    ]);
    expect(shown[2]).toMatch(/^[A-Z][a-z]{2} \d+(, \d{4})?, 11:59/);
  });

  test('appear without a reload', async () => {
    shared.fixture.api.routes['GET sms'] = { items: [], next_cursor: null };
    shared.fixture.api.routes['GET msgapp/messages'] = { items: [], next_cursor: null };
    await open('messages');
    await page.getByText('No messages yet').waitFor();
    shared.fixture.api.routes['GET sms'] = { items: [smsOf('s1', { content: 'Tout neuf' })], next_cursor: null };
    await page.getByText('Tout neuf').waitFor();
  });

  test('each show their schedule, and a timeline with attempts, errors, the report and the refund', async () => {
    shared.fixture.api.routes['GET sms/m-2'] = smsOf('m-2', { date_sent: at(10) });
    const attempts = [
      { at: at(9), route: 'orange', status: 'retry', error: 'temporary', segments: null },
      { at: at(8), route: 'moov', status: 'failed', error: 'refused', segments: null },
    ];
    const failed = { status: 'failed', error: 'refused', refunded_units: 1, attempts, attempts_count: 5 };
    shared.fixture.api.routes['GET sms/m-2/recipients'] = {
      items: [recipientOf('22670112233', { ...failed, updated_at: at(8) })],
      next_cursor: null,
    };
    await open('messages/m-2');
    await page.getByRole('list', { name: 'Timeline for +226 70 11 22 33' }).waitFor();
    expect(await page.locator('.timeline .what').allTextContents()).toEqual([
      'Accepted and charged',
      '3 earlier attempts not shown',
      'Handed to orange',
      'Handed to moov',
      '1 unit refunded',
    ]);
    await page.getByText('From 08:00 to 20:00, Monday to Friday, in the recipient’s country').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('that wait for their moment are moved and canceled, and show the own text of each recipient', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    const due_at = inDays(30);
    const day = inDays(31).slice(0, 10);
    const waiting = { status: 'queued', attempts: [], attempts_count: 0, due_at };
    const own = [
      recipientOf('22670112233', { ...waiting, content: 'Bonjour Awa' }),
      recipientOf('22671223344', { ...waiting, content: 'Bonjour Zoé 🎉' }),
    ];
    const message = {
      content: 'Bonjour {name}',
      segments: null,
      recipients_count: 2,
      send_at: due_at,
      recipients: own,
    };
    const moved: unknown[] = [];
    shared.fixture.api.routes = {
      ...shared.fixture.api.routes,
      ...sessionRoutes('sender'),
      'GET sms/m-2': smsOf('m-2', message),
      'GET sms/m-2/recipients': { items: own, next_cursor: null },
      'PATCH sms/m-2': ({ body }: FakeRequest) => {
        moved.push(body);
        return smsOf('m-2', message);
      },
    };
    await open('messages/m-2');
    const zone = await page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone');
    await page.getByText('Goes out on').first().waitFor();
    expect(await page.getByText(`(${zone})`).count()).toBeGreaterThan(3);
    await page.locator('summary', { hasText: '+226 71 22 33 44' }).click();
    await page.getByRole('region', { name: 'Own text' }).getByText('1 segment · UCS-2').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    const button = page.getByRole('main').getByRole('button', { name: 'Move' });
    await button.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Day').fill(day);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Move' }).click();
    await page.getByRole('status').getByText('Moved.').waitFor();
    expect(moved).toEqual([{ send_at: expect.stringContaining(`${day}T`) }]);
    expect(await button.evaluate('document.activeElement.textContent')).toBe('Move');

    shared.fixture.api.routes['DELETE sms/m-2'] = { canceled: 2, too_late: 0, refunded_units: 2 };
    shared.fixture.api.routes['GET sms/m-2'] = smsOf('m-2', { ...message, recipients: [] });
    await page.getByRole('button', { name: 'Cancel the message' }).click();
    await dialog.getByRole('button', { name: 'Cancel the message' }).click();
    await page.getByRole('status').getByText('2 canceled, 0 too late, 2 units refunded.').waitFor();
    await until(async () => (await page.getByRole('button', { name: 'Cancel the message' }).count()) === 0);
    expect(await page.evaluate('document.activeElement.id')).toBe('screen-title');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('find their events by a binary search of the log, and the webhook calls with them', async () => {
    const start = Date.parse(at(0)) - 3_000_000;
    const logged = Array.from({ length: 3000 }, (_, index) =>
      eventOf(index + 1, {
        timestamp: new Date(start + index * 1000).toISOString(),
        data: { id: index === 2500 ? 'm-2' : 'other', number: '22670112233' },
      }),
    );
    shared.fixture.api.routes['GET sms/m-2'] = smsOf('m-2', { date_sent: new Date(start + 2_490_000).toISOString() });
    shared.fixture.api.routes['GET events'] = ({ query }: FakeRequest) => {
      const after = Number(query.get('after') ?? 0);
      const items = logged.slice(after, after + Number(query.get('limit')));
      return { items, next_after: after + items.length, last: 3000 };
    };
    shared.fixture.api.routes['GET webhooks'] = {
      items: [{ id: 'w-1', url: 'https://caisse.example.com/x' }],
      next_cursor: null,
    };
    shared.fixture.api.routes['GET webhooks/w-1/attempts'] = {
      items: [{ id: 'c', sequence: 2501, sequences: [2501], status: 'failed', http_status: 503 }],
      next_cursor: null,
    };
    await open('messages/m-2');
    await page.getByRole('button', { name: 'Find events' }).click();
    await page.getByRole('link', { name: 'caisse.example.com: 503' }).waitFor();
    expect(await page.getByText('2501').count()).toBe(1);
    // The moment has its milliseconds in the text, which a finger and a keyboard can reach.
    await page.getByText('.000').first().waitFor();
    // A bounded number of reads: 12 steps of the search and a page, not the whole log.
    expect(asked('events').length).toBeLessThanOrEqual(16);
    expect(asked('events').filter(({ query }) => query.get('limit') === '500').length).toBeLessThanOrEqual(2);
  });

  test('say that a call is not among the newest ones, unless all calls since the event were read', async () => {
    const sent = Date.parse(at(60));
    const event = eventOf(1, { timestamp: at(60), data: { id: 'm-2', number: '22670112233' }, type: 'send.completed' });
    shared.fixture.api.routes['GET sms/m-2'] = smsOf('m-2', { date_sent: at(61) });
    shared.fixture.api.routes['GET events'] = { items: [event], next_after: 1, last: 1 };
    shared.fixture.api.routes['GET webhooks'] = {
      items: [{ id: 'w-1', url: 'https://x.example.com' }],
      next_cursor: null,
    };
    // Pages of 100 calls without an end, each call `step` ms before the one above it.
    const calls = (step: number) => (request: FakeRequest) => {
      const from = Number(request.query.get('cursor') ?? 0);
      const items = Array.from({ length: 100 }, (_, index) => {
        const time = new Date(sent + 300_000 - (from + index) * step).toISOString();
        return { id: `c${from + index}`, at: time, sequence: 9, sequences: [9], status: 'delivered', http_status: 204 };
      });
      return { items, next_cursor: String(from + 100) };
    };
    shared.fixture.api.routes['GET webhooks/w-1/attempts'] = calls(1);
    await open('messages/m-2');
    await page.getByRole('button', { name: 'Find events' }).click();
    await page.getByText('not among the newest 400 calls of each webhook').waitFor();
    shared.fixture.api.routes['GET webhooks/w-1/attempts'] = calls(1000);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('none', { exact: true }).waitFor();
  });
});
