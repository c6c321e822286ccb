import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../../support/common/until.js';
import { goTo, openScreen, sharedDashboard, startDashboard } from '../../support/dashboard/dashboard-fixture.js';
import { FakeAnswer, refusal } from '../../support/dashboard/fake-api.js';
import { FULL, keyOf, minutesAgo, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { accessibilityFaults, hasBrowser, openPage } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('users of the dashboard', () => {
  const shared = sharedDashboard();
  let page: Page;
  const session = { access_token: 'fresh', expires_in: 600, user: { subject: 'awa', account: 'acc_1', role: 'admin' } };
  const asked = (method: string, path: string) =>
    shared.fixture.api.requests.filter((each) => each.method === method && each.path === path);
  const dialog = () => page.getByRole('dialog');

  beforeEach(() => {
    shared.fixture.api.routes = { ...sessionRoutes('admin'), ...FULL };
    shared.fixture.api.away = false;
    shared.fixture.api.requests.length = 0;
  });

  afterEach(async () => {
    await page?.context().close();
  });

  const open = async (screen = '') => {
    ({ page } = await openScreen(shared.browser, shared.fixture, screen, { locale: 'en' }));
  };

  const visit = async (address: string) => {
    ({ page } = await openPage(shared.browser, `${shared.fixture.url}${address}`, {
      locale: 'en',
      reducedMotion: 'reduce',
    }));
  };

  test('sign in by a link, whose secret is removed from the address and the history at once', async () => {
    await visit('/dashboard#link=secret');
    await page.getByText('12,480').waitFor();
    expect(await page.evaluate('location.href')).toBe(`${shared.fixture.url}/dashboard#/`);
    const debuggerOf = await page.context().newCDPSession(page);
    const { entries } = await debuggerOf.send('Page.getNavigationHistory');
    expect(entries.map(({ url }) => url).filter((url) => url.includes('secret'))).toEqual([]);
    expect(asked('POST', 'session/exchange').map(({ body }) => body)).toEqual([{ token: 'secret' }]);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).toBe(
      '[{},{},""]',
    );
    expect(asked('GET', 'overview')[0]?.headers['x-user-token']).toBe('token');
  });

  test('see that a link was already used, and sign in by pasting another one', async () => {
    await visit('/dashboard#link=used');
    await page.getByRole('alert').getByText('A link works once').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Sign-in link').fill(`${shared.fixture.url}/dashboard#link=another`);
    await page.getByLabel('Sign-in link').press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(asked('POST', 'session/exchange').at(-1)?.body).toEqual({ token: 'another' });
  });

  test('stay signed in on the same screen after a reload, and in a second tab', async () => {
    shared.fixture.api.routes['POST session/refresh'] = session;
    await visit('/dashboard#/keys');
    // Waits for a row, because the heading is shown before the list is requested.
    await page.getByText('Boutique en ligne').waitFor();
    expect(asked('GET', 'keys')[0]?.headers['x-user-token']).toBe('fresh');
    const second = await page.context().newPage();
    await second.goto(`${shared.fixture.url}/dashboard/#/audit`);
    await second.getByRole('heading', { name: 'Audit' }).waitFor();
    expect(asked('POST', 'session/refresh')).toHaveLength(2);
  });

  test('do not notice that a token has expired, because it is renewed once for all requests', async () => {
    await open('signatures');
    let renewed = 0;
    shared.fixture.api.routes['POST session/refresh'] = () => {
      renewed += 1;
      return session;
    };
    const guarded = (path: string) => {
      const before = FULL[`GET ${path}`];
      shared.fixture.api.routes[`GET ${path}`] = ({ headers }: { headers: { 'x-user-token'?: string } }) =>
        headers['x-user-token'] === 'fresh' ? before : refusal(401, 'unauthorized');
    };
    guarded('optouts');
    guarded('signatures');
    await goTo(page, 'optouts');
    await page.getByText('+226 70 00 01 01').waitFor();
    await until(() => asked('GET', 'signatures').some(({ headers }) => headers['x-user-token'] === 'fresh'));
    expect(renewed).toBe(1);
  });

  test('keep what they typed when the session ends, and continue where they were', async () => {
    await open('keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog().getByLabel('Name').fill('Till in Bobo');
    await dialog().getByLabel('Send SMS').check();
    shared.fixture.api.routes['POST keys'] = () => refusal(401, 'unauthorized');
    await dialog().getByRole('button', { name: 'New key' }).click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    shared.fixture.api.routes['POST keys'] = { ...keyOf('k_new', { name: 'Till in Bobo' }), key: 'k_new.secret' };
    await again.getByLabel('Sign-in link').fill('secret');
    await again.getByLabel('Sign-in link').press('Enter');
    await again.waitFor({ state: 'detached' });
    expect(await dialog().getByLabel('Name').inputValue()).toBe('Till in Bobo');
    await dialog().getByRole('button', { name: 'New key' }).click();
    await dialog().getByText('k_new.secret').waitFor();
    expect(asked('POST', 'keys').at(-1)?.body).toMatchObject({ name: 'Till in Bobo' });
  });

  test('see that the server is down while they type, and repeat the same change when it is back', async () => {
    await open('keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog().getByLabel('Name').fill('مرحبا 👩🏽‍💻 <script>');
    await dialog().getByLabel('Send SMS').check();
    shared.fixture.api.routes['POST keys'] = () => new FakeAnswer(200, '{ "cut": ');
    const make = dialog().getByRole('button', { name: 'New key' });
    const away = dialog().getByRole('alert').getByText('The server does not answer');
    await make.click();
    await away.waitFor();
    shared.fixture.api.away = true;
    shared.fixture.api.cut.length = 0;
    await make.click();
    // The earlier error disappears when the request is sent. The browser itself may send it twice.
    await until(() => shared.fixture.api.cut.some((path) => path.endsWith('/keys')));
    await away.waitFor();
    shared.fixture.api.away = false;
    shared.fixture.api.routes['POST keys'] = ({ headers }: { headers: Record<string, string> }) => ({
      ...keyOf('k_new'),
      key: `made by ${headers['idempotency-key']}`,
    });
    expect(await dialog().getByLabel('Name').inputValue()).toBe('مرحبا 👩🏽‍💻 <script>');
    await make.click();
    await page.getByText('made by').waitFor();
    const keys = asked('POST', 'keys').map(({ headers }) => headers['idempotency-key']);
    // The first click makes three attempts, whose answers are cut. The last click makes one.
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  test('keep a draft when they close a dialog, and send a changed draft with another key', async () => {
    await open('keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog().getByLabel('Name').fill('First');
    await dialog().getByLabel('Send SMS').check();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await goTo(page, 'audit');
    await goTo(page, 'keys');
    await page.getByRole('button', { name: 'New key' }).click();
    expect(await dialog().getByLabel('Name').inputValue()).toBe('First');
    shared.fixture.api.routes['POST keys'] = () => refusal(400, 'invalid_request', 'Le nom est pris');
    await dialog().getByRole('button', { name: 'New key' }).click();
    await dialog().getByText('Le nom est pris').waitFor();
    await dialog().getByLabel('Name').fill('Second');
    await dialog().getByRole('button', { name: 'New key' }).click();
    await until(() => asked('POST', 'keys').length === 2);
    expect(new Set(asked('POST', 'keys').map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });

  test('see the last data while the server is down, and that it is stale', async () => {
    await open();
    await page.getByText('12,480').waitFor();
    shared.fixture.api.away = true;
    await page.getByText('Not up to date').waitFor();
    expect(await page.getByText('12,480').isVisible()).toBe(true);
    shared.fixture.api.away = false;
    await page.getByText('Not up to date').waitFor({ state: 'detached' });
  });

  test.each([-5, 5])('see the right age of things even if their clock is %i min off', async (minutes) => {
    // Not a whole minute, because the server's time is exact to the second only and may be before now.
    shared.fixture.api.routes['GET overview'] = { ...Object(FULL['GET overview']), oldest_waiting: minutesAgo(12.5) };
    shared.fixture.api.routes['GET keys'] = {
      items: [keyOf('k_1', { last_used_at: minutesAgo(12.5) })],
      next_cursor: null,
    };
    ({ page } = await openPage(shared.browser, 'about:blank', { locale: 'en' }));
    await page.clock.install({ time: Date.now() + minutes * 60_000 });
    await page.goto(`${shared.fixture.url}/dashboard#link=secret`);
    await page.locator('#screen').waitFor();
    await goTo(page, 'keys');
    expect(await page.locator('td[data-title="Last used"]').textContent()).toMatch(/^12 min/);
  });

  test('can start again if the server was down at the beginning', async () => {
    shared.fixture.api.routes['POST session/refresh'] = () => new FakeAnswer(503, {}, {});
    await visit('/dashboard#/keys');
    await page.getByRole('alert').waitFor({ state: 'attached' });
    shared.fixture.api.routes['POST session/refresh'] = session;
    await page.reload();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
  });

  test('sign out, and leave nothing behind', async () => {
    await open('keys');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(asked('POST', 'session/end')).toHaveLength(1);
    expect(await page.getByText('Boutique en ligne').count()).toBe(0);
  });

  test('can do everything by keyboard: skip the navigation, create a key, find a screen', async () => {
    shared.fixture.api.routes['POST keys'] = { ...keyOf('k_new'), key: 'k_new.secret' };
    shared.fixture.api.routes['POST session/refresh'] = session;
    await visit('/dashboard#/keys');
    await page.getByText('Boutique en ligne').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('New key');
    await page.keyboard.press('Enter');
    await dialog().waitFor();
    await page.keyboard.type('By hand');
    await page.keyboard.press('Enter');
    // No right is ticked by default. A key without rights is not created, and the focus moves to the choice.
    await until(() => page.evaluate<boolean>("document.activeElement.type === 'checkbox'"));
    expect(asked('POST', 'keys')).toEqual([]);
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await dialog().getByText('k_new.secret').waitFor();
    expect(asked('POST', 'keys')[0]?.body).toEqual({ name: 'By hand', scopes: ['sms:send'] });
    // Escape would lose the key, so only the button after “Copy” closes this dialog.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /A screen/ }).waitFor();
    await page.keyboard.type('opt-o');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Opt-outs' }).waitFor();
    await until(async () => (await page.evaluate('document.activeElement.id')) === 'screen');
  });

  test('choose language and colours, which the browser remembers', async () => {
    await open('keys');
    await page.getByLabel('Language').selectOption('fr');
    await page.getByRole('heading', { name: 'Clés' }).waitFor();
    await page.getByLabel('Couleurs').selectOption('dark');
    shared.fixture.api.routes['POST session/refresh'] = session;
    await page.reload();
    await page.getByRole('heading', { name: 'Clés' }).waitFor();
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dataset.theme]')).toEqual([
      'fr',
      'dark',
    ]);
  });

  test('filter on the server by an address that can be shared, and load more by the cursor', async () => {
    await open('optouts');
    await page.getByLabel('Number', { exact: true }).fill('+226 70 00 01');
    await until(() => asked('GET', 'optouts').some(({ query }) => query.get('number') === '226700001'));
    expect(await page.evaluate('location.hash')).toBe('#/optouts?number=%2B226+70+00+01');
    await goTo(page, 'balance?kind=charge&from=2026-11-01&to=2026-11-02');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('msg_61').waitFor();
    // The list is live, so its first page may have been loaded again meanwhile.
    const pages = asked('GET', 'ledger').filter(({ query }) => query.get('kind') === 'charge');
    const [first, next] = [false, true].map((further) => pages.find(({ query }) => query.has('cursor') === further));
    expect(Object.fromEntries(first?.query ?? [])).toEqual({
      kind: 'charge',
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-11-03T00:00:00.000Z',
    });
    expect(next?.query.get('cursor')).toBe('50');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).last().click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^ledger-.*\.csv$/);
  });

  test('who are operators open an account by its address, and can do what their role allows', async () => {
    shared.fixture.api.routes = { ...sessionRoutes('finance'), ...FULL };
    await open('keys');
    await page.getByRole('heading', { name: 'Choose an account first' }).waitFor();
    await goTo(page, 'manage/accounts/acc_2');
    await page.getByRole('button', { name: 'Top up' }).waitFor();
    expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0);
    shared.fixture.api.routes['POST manage/accounts/*/topups'] = { balance: 1640, entry: {} };
    await page.getByRole('button', { name: 'Top up' }).click();
    await dialog().getByLabel('Units').fill('1000');
    await dialog().getByLabel('Reference').fill('INV-7');
    await dialog().getByLabel('Reference').press('Enter');
    await page.getByText('The balance is now 1,640.').waitFor();
    expect(asked('POST', 'manage/accounts/acc_2/topups')[0]?.body).toEqual({ units: 1000, reference: 'INV-7' });
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click();
    await page.getByText('Boutique en ligne').waitFor();
    expect(asked('GET', 'keys').at(-1)?.query.get('account')).toBe('acc_2');
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    await page.getByText('You are looking at the account').waitFor();
  });

  test.each([
    ['password', { username: 'awa', password: 'secret' }],
    ['host', {}],
  ] as const)('sign in as users of the host: %s', async (signIn, credentials) => {
    const own = await startDashboard(
      { ...sessionRoutes('admin'), ...FULL },
      { options: { signIn, signInUrl: '/log-in' } },
    );
    ({ page } = await openPage(shared.browser, `${own.url}/dashboard`, { locale: 'en' }));
    if (signIn === 'password') {
      expect(await page.getByRole('link', { name: 'Sign in with your organisation' }).getAttribute('href')).toBe(
        '/log-in',
      );
      await page.getByLabel('User name').fill('awa');
      await page.getByLabel('Password').fill('secret');
      await page.getByLabel('Password').press('Enter');
    }
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const exchanged = own.api.requests.filter(({ path }) => path === 'session/exchange');
    expect(exchanged.map(({ body }) => body)).toEqual([{ credentials }]);
    await own.close();
  });

  test('of a host that embeds the page sign in by links from that host only', async () => {
    let hostPage = '';
    const host = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(hostPage));
    const origin = await new Promise<string>((resolve) => {
      host.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${Object(host.address()).port}`));
    });
    const own = await startDashboard({ ...sessionRoutes('admin'), ...FULL }, { options: { frameAncestors: [origin] } });
    hostPage = `<!doctype html><title>Host</title><iframe src="${own.url}/dashboard#/keys" width="900" height="700"></iframe>
      <script>addEventListener('message', ({ data, source }) => data.type === 'nestjs-messaging:link-wanted' &&
        source.postMessage({ type: 'nestjs-messaging:link', link: '#link=handed' }, '${own.url}'));</script>`;
    ({ page } = await openPage(shared.browser, origin, { locale: 'en' }));
    await page.frameLocator('iframe').getByRole('heading', { name: 'Keys' }).waitFor();
    const exchanged = own.api.requests.filter(({ path }) => path === 'session/exchange');
    expect(exchanged.map(({ body }) => body)).toEqual([{ token: 'handed' }]);
    expect(own.api.requests.filter(({ path }) => path === 'session/refresh')).toEqual([]);
    await own.close();
    host.close();
    host.closeAllConnections();
  });
});
