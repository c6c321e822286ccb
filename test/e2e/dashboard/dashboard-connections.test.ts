import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../../support/common/until.js';
import { openScreen, sharedDashboard } from '../../support/dashboard/dashboard-fixture.js';
import { FakeAnswer, type FakeRequest } from '../../support/dashboard/fake-api.js';
import { EMPTY, FULL, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { endpointOf, eventOf, hookOf, sessionOf } from '../../support/dashboard/fake-screens-data.js';
import { accessibilityFaults, hasBrowser } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

/** One pixel. */
const PICTURE = `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='}`;

const stream = (text: string) => new FakeAnswer(200, text, { 'Content-Type': 'text/event-stream' });
const said = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

suite('numbers, webhooks, carriers, queues and the palette of the dashboard', () => {
  const shared = sharedDashboard();
  let page: Page;

  afterEach(async () => {
    await page.context().close();
  });

  const open = async (role: Parameters<typeof sessionRoutes>[0], screen: string, routes = FULL) => {
    shared.fixture.api.routes = { ...sessionRoutes(role), ...routes };
    shared.fixture.api.requests.length = 0;
    ({ page } = await openScreen(shared.browser, shared.fixture, screen, { locale: 'en' }));
  };
  const asked = (method: string, path: string) =>
    shared.fixture.api.requests.filter((request) => request.method === method && request.path === path);
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click();

  describe('a number', () => {
    test('is linked by a code that is shown live, even if the stream is cut', async () => {
      await open('developer', 'numbers', EMPTY);
      let opened = 0;
      let seen = false;
      shared.fixture.api.routes['POST msgapp/web/connect'] = { sessionID: 's-9', qrToken: 'tok', status: 'created' };
      shared.fixture.api.routes['GET msgapp/web/qr/tok'] = async () => {
        opened++;
        const code = said('qr', { qr: 'x', image: PICTURE, expires_at: new Date(Date.now() + 60_000).toISOString() });
        if (opened === 1) return stream(code);
        await until(() => seen);
        return stream(said('status', { status: 'connected', number: '22676010203' }));
      };
      await page.getByRole('main').getByRole('button', { name: 'Link a number' }).first().click();
      await page.getByRole('img', { name: 'Code to scan' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      seen = true;
      await page.getByText('+226 76 01 02 03 is linked.').waitFor();
      expect(await page.getByRole('img').count()).toBe(0);
      await press('Done');
    });

    test('gives up its code when the dialog is closed', async () => {
      await open('developer', 'numbers', EMPTY);
      shared.fixture.api.routes['POST msgapp/web/connect'] = { sessionID: 's-9', qrToken: 'tok', status: 'created' };
      shared.fixture.api.routes['GET msgapp/web/qr/tok'] = () => stream(said('qr', { image: PICTURE, expires_at: '' }));
      shared.fixture.api.routes['GET msgapp/web/status'] = {
        status: 'created',
        sessions: [sessionOf('s-9', { number: null })],
      };
      shared.fixture.api.routes['DELETE msgapp/web/s-9'] = { success: true };
      await page.getByRole('main').getByRole('button', { name: 'Link a number' }).first().click();
      await page.getByRole('img', { name: 'Code to scan' }).waitFor();
      await page.keyboard.press('Escape');
      await until(() => asked('DELETE', 'msgapp/web/s-9').length === 1);
    });

    test('is unlinked after a confirmation', async () => {
      await open('developer', 'numbers');
      shared.fixture.api.routes['DELETE msgapp/web/s-1'] = { success: true };
      await press('Unlink +226 76 01 02 03');
      expect(asked('DELETE', 'msgapp/web/s-1')).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click();
      await until(() => asked('DELETE', 'msgapp/web/s-1').length === 1);
    });

    test('has no buttons for a viewer', async () => {
      await open('viewer', 'numbers');
      await page.getByText('+226 76 01 02 03').waitFor();
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    });
  });

  describe('an endpoint', () => {
    test('is created, and its secret is shown once', async () => {
      await open('developer', 'webhooks', EMPTY);
      shared.fixture.api.routes['POST webhooks'] = endpointOf('w-9', { secret: 'whsec_c2VjcmV0' });
      await page.getByRole('main').getByRole('button', { name: 'New endpoint' }).first().click();
      await page.getByLabel('Address').fill('https://caisse.example.com/hooks');
      await page.getByLabel('Order').selectOption('strict');
      await page.getByRole('dialog').getByRole('button', { name: 'New endpoint' }).click();
      await page.getByText('whsec_c2VjcmV0').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(asked('POST', 'webhooks')[0]).toMatchObject({
        headers: { 'idempotency-key': expect.stringMatching(/^\w{32}$/) },
        body: { url: 'https://caisse.example.com/hooks', types: ['*'], ordering: 'strict', signature: 'hmac' },
      });
      await press('I have stored it');
      expect(await page.content()).not.toContain('whsec_c2VjcmV0');
    });

    test('is tested, replayed, called again and disabled', async () => {
      await open('developer', 'webhooks/w-1');
      shared.fixture.api.routes['POST webhooks/w-1/test'] = { status: 500, ms: 12.4, response: '<b>no</b>' };
      shared.fixture.api.routes['POST webhooks/w-1/replay'] = { events: 41 };
      shared.fixture.api.routes['POST webhooks/w-1/attempts/4711/retry'] = { success: true };
      shared.fixture.api.routes['POST webhooks/w-1/disable'] = endpointOf('w-1', {
        status: 'disabled',
        reason: 'requested',
      });
      await press('Send a test');
      await page.getByText('Answered 500 after 12 ms.').waitFor();
      await press('Replay');
      await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
      await page.getByText('41 events will be called again.').waitFor();
      expect(asked('POST', 'webhooks/w-1/replay')[0]?.body).toEqual({ only_failed: true });
      await press('Call again with event 4711');
      await until(() => asked('POST', 'webhooks/w-1/attempts/4711/retry').length === 1);
      await page.locator('summary').first().click();
      await page.getByText('"sequence": 4711').first().waitFor();
      await press('Disable');
      expect(asked('POST', 'webhooks/w-1/disable')).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
      await until(() => asked('POST', 'webhooks/w-1/disable').length === 1);
      shared.fixture.api.routes['POST webhooks/w-1/enable'] = endpointOf('w-1');
      await press('Undo');
      await page.getByText('The endpoint is enabled.').waitFor();
      expect(asked('POST', 'webhooks/w-1/enable')).toHaveLength(1);
    });

    test('shows events live, and continues after the last one when the stream is cut', async () => {
      await open('developer', 'webhooks');
      const places: unknown[] = [];
      shared.fixture.api.routes['GET events'] = { items: [eventOf(1)], next_after: 1, last: 4710 };
      shared.fixture.api.routes['GET events/stream'] = ({ query, headers }: FakeRequest) => {
        if (headers['x-user-token'] !== 'token') return new FakeAnswer(401, {});
        places.push(headers['last-event-id'] ?? query.get('after'));
        const sequence = 4710 + places.length;
        return stream(`id: ${sequence}\ndata: ${JSON.stringify(eventOf(sequence, { type: 'optout.added' }))}\n\n`);
      };
      await page.getByRole('link', { name: 'Live events' }).click();
      await page.getByText('4711').first().waitFor();
      await page.getByText('4712').first().waitFor();
      expect(places.slice(0, 2)).toEqual(['4690', '4711']);
      await press('Pause');
      await page.getByText('Paused').waitFor();
    });
  });

  describe('a log-in hook', () => {
    test('is created by the keyboard, and Escape does not lose its secret', async () => {
      await open('developer', 'hooks', { 'GET signatures': FULL['GET signatures'] ?? [], ...EMPTY });
      shared.fixture.api.routes['POST hooks'] = { ...hookOf('h-9'), secret: 'v1,whsec_c2VjcmV0' };
      await page.getByRole('main').getByRole('button', { name: 'New hook' }).first().focus();
      await page.keyboard.press('Enter');
      await page.getByLabel(/^Name/).waitFor();
      await page.keyboard.type('Boutique');
      await page.keyboard.press('Enter');
      await page.getByText('v1,whsec_c2VjcmV0').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(asked('POST', 'hooks')[0]).toMatchObject({
        headers: { 'idempotency-key': expect.stringMatching(/^\w{32}$/) },
        body: {
          kind: 'supabase',
          name: 'Boutique',
          signature: 'PHARMACIE',
          channel: 'sms',
          limits: { max_segments: 2 },
        },
      });
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
      expect(await page.getByText('v1,whsec_c2VjcmV0').isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Copy: URL' }).waitFor();
      await page.getByRole('button', { name: 'Copy: Secret' }).waitFor();
      await press('I have stored it');
      expect(await page.content()).not.toContain('whsec_c2VjcmV0');
    });

    test('of another system says where its values are', async () => {
      await open('admin', 'hooks');
      shared.fixture.api.routes['POST hooks'] = { ...hookOf('h-9'), secret: 'of-a-generic-hook' };
      await press('New hook');
      await page.getByLabel('Log-in system', { exact: true }).selectOption('generic');
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByLabel('Number in the JSON').fill('/user/phone');
      await page.getByLabel('Code in the JSON').fill('/code');
      await page.getByLabel('Proof of a call').selectOption('hex');
      await page.getByLabel('Header', { exact: true }).fill('X-Signature');
      await page.getByRole('dialog').getByRole('button', { name: 'New hook' }).click();
      await page.getByText('of-a-generic-hook').waitFor();
      expect(asked('POST', 'hooks')[0]?.body).toMatchObject({
        mapping: { number: '/user/phone', code: '/code' },
        proof: { kind: 'hmac', header: 'X-Signature', encoding: 'hex' },
      });
    });

    test('is tested, gets a new secret and is removed after a confirmation', async () => {
      await open('developer', 'hooks/h-1');
      await page.getByText('A repeat, not sent again').waitFor();
      shared.fixture.api.routes['POST hooks/h-1/test'] = { success: true, message: 'm-1' };
      shared.fixture.api.routes['POST hooks/h-1/rotate'] = { ...hookOf('h-1'), secret: 'the-new-one' };
      shared.fixture.api.routes['DELETE hooks/h-1'] = { success: true };
      await press('Send a test');
      await page.getByRole('dialog').getByLabel('Number').fill('+226 70 11 22 33');
      await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
      await page.getByText('The test code is on its way.').waitFor();
      expect(asked('POST', 'hooks/h-1/test')[0]?.body).toEqual({ number: '22670112233' });
      await press('New secret');
      await page.getByLabel(/^Secret of the log-in system/).fill('  the key of Zitadel ');
      await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
      await page.getByText('the-new-one').waitFor();
      expect(asked('POST', 'hooks/h-1/rotate')[0]?.body).toEqual({ keep_hours: 24, secret: 'the key of Zitadel' });
      await press('I have stored it');
      await press('Remove');
      expect(asked('DELETE', 'hooks/h-1')).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await until(() => asked('DELETE', 'hooks/h-1').length === 1);
      await page.getByRole('heading', { level: 1, name: 'Log-in hooks' }).waitFor();
    });

    test('has no buttons for support, and is not in the navigation of a sender', async () => {
      await open('support', 'manage/queue');
      await page.evaluate("location.hash = '#/hooks/h-1?account=acc_1'");
      await page.getByRole('heading', { level: 1, name: 'Boutique' }).waitFor();
      expect(await page.locator('.action-bar button').count()).toBe(0);
      await page.context().close();
      await open('sender', 'overview');
      expect(await page.getByRole('link', { name: 'Log-in hooks' }).count()).toBe(0);
    });
  });

  describe('an operator', () => {
    test('rests a carrier and resumes another one', async () => {
      await open('operator', 'manage/carriers');
      shared.fixture.api.routes['POST manage/carriers/orange/rest'] = {};
      shared.fixture.api.routes['POST manage/carriers/twilio/resume'] = {};
      await press('Take out of use: orange');
      await page.getByRole('dialog').getByRole('button', { name: 'Take out of use' }).click();
      await until(() => asked('POST', 'manage/carriers/orange/rest').length === 1);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await press('Resume the route twilio');
      await until(() => asked('POST', 'manage/carriers/twilio/resume').length === 1);
    });

    test('pauses an account on a channel, and resumes a queue', async () => {
      await open('operator', 'manage/queue');
      shared.fixture.api.routes['POST manage/queue/pause'] = { paused: [] };
      shared.fixture.api.routes['POST manage/queue/resume'] = { paused: [] };
      await press('Pause…');
      await page.getByRole('textbox', { name: 'Account' }).fill('acc_1');
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await until(() => asked('POST', 'manage/queue/pause').length === 1);
      expect(asked('POST', 'manage/queue/pause')[0]?.body).toEqual({ channel: 'sms', account: 'acc_1' });
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await press('Undo');
      await until(() => asked('POST', 'manage/queue/resume').length === 1);
      expect(asked('POST', 'manage/queue/resume')[0]?.body).toEqual({ channel: 'sms', account: 'acc_1' });
      shared.fixture.api.routes['POST manage/queue/resume'] = new FakeAnswer(503, {
        statusCode: 503,
        message: 'no',
        error: 'no',
      });
      await press('Resume SMS, All accounts');
      await page.getByRole('main').getByRole('alert').getByText(/./).waitFor();
      expect(asked('POST', 'manage/queue/resume')[1]?.body).toEqual({ channel: 'sms' });
    });

    test('cannot undo a pause that somebody else began', async () => {
      await open('operator', 'manage/queue');
      await page.getByText('All accounts', { exact: true }).waitFor();
      shared.fixture.api.routes['POST manage/queue/pause'] = { paused: [] };
      await press('Pause…');
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('status').getByText('Paused: SMS, All accounts.').waitFor();
      expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    });

    test('follows a check of the ledger live, even if the stream is cut, and sees its result', async () => {
      await open('operator', 'manage/ledger', EMPTY);
      const check = { id: 'c-1', part: 'entries', findings: [], started_at: new Date().toISOString(), ended_at: null };
      let last: object = { ...check, state: 'running', part: null, checked: 0 };
      let streams = 0;
      /** How many streams the page has shown. The next one is answered only then. */
      let shown = 0;
      shared.fixture.api.routes['POST manage/ledger/check'] = { id: 'c-1', state: 'running' };
      shared.fixture.api.routes['GET manage/ledger/check'] = () => last;
      shared.fixture.api.routes['GET manage/ledger/check/stream'] = async () => {
        streams++;
        await until(() => shown === streams - 1);
        if (streams === 1) return stream(said('check', { ...check, state: 'running', checked: 1200 }));
        if (streams === 2) return stream(said('check', { ...check, state: 'running', part: 'messages', checked: 40 }));
        last = { ...check, state: 'done', part: 'recipients', checked: 9, ended_at: new Date().toISOString() };
        return stream(said('check', last));
      };
      await press('Start a check');
      await page.getByText('1,200 checked in part 2 of 4, entries').waitFor();
      await page.getByText('The connection was cut.').waitFor();
      shown = 1;
      await page.getByText('40 checked in part 3 of 4, messages').waitFor();
      shown = 2;
      await page.getByText('The ledger is correct.').waitFor();
      await page.getByText('The connection was cut.').waitFor({ state: 'detached' });
      expect(streams).toBe(3);
      // The check is read when the screen opens, after the start and at the end. The stream reports the rest.
      expect(asked('GET', 'manage/ledger/check').length).toBeLessThanOrEqual(4);
    });

    test('with a role that only reads has no buttons', async () => {
      await open('support', 'manage/queue');
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    });
  });

  describe('the palette', () => {
    beforeEach(async () => {
      await open('admin', 'codes');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /A screen/ }).waitFor();
    });

    test('finds a screen without its accents, by the keyboard alone', async () => {
      await page.keyboard.type('webh');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    });

    test('finds the messages to a number', async () => {
      await page.keyboard.type('+226 70 11 22 33');
      await page.getByRole('option', { name: 'Messages to +22670112233' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
      expect(await page.getByLabel('Number').inputValue()).toBe('22670112233');
    });

    test('finds a message by its id', async () => {
      const id = '01a1fe2d-0000-7000-8000-000000000000';
      await page.keyboard.type(id);
      await page.getByRole('option', { name: `Message ${id}` }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    test('finds the accounts of an operator', async () => {
      await page.context().close();
      await open('support', 'manage/queue');
      shared.fixture.api.routes['GET manage/accounts'] = ({ query }: FakeRequest) => ({
        items: query.get('query') === 'phar' ? [{ id: 'acc_1', name: 'Pharmacie', state: 'active' }] : [],
        next_cursor: null,
      });
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /A screen/ }).waitFor();
      await page.keyboard.type('phar');
      await page.getByRole('option', { name: 'Account Pharmacie (acc_1)' }).click();
      await page.getByRole('heading', { level: 1, name: 'Pharmacie du Centre' }).waitFor();
      expect(await page.evaluate('location.hash')).toBe('#/manage/accounts/acc_1');
    });
  });
});
