import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type DashboardWorld, openScreen, startDashboard } from '../support/dashboard/dashboard-world.js';
import { refusal } from '../support/dashboard/fake-api.js';
import { EMPTY, FULL, sessionRoutes } from '../support/dashboard/fake-data.js';
import { accessibilityFaults, hasBrowser, startBrowser } from '../support/page-browser.js';
import { until } from '../support/until.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('writing a message in the dashboard', () => {
  let browser: Browser;
  let world: DashboardWorld;
  let page: Page;
  let problems: readonly string[];

  beforeAll(async () => {
    browser = await startBrowser();
    world = await startDashboard({});
  });

  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  beforeEach(async () => {
    world.api.routes = { ...sessionRoutes('sender'), ...FULL };
    world.api.requests.length = 0;
    ({ page, problems } = await openScreen(browser, world, 'compose', { locale: 'en' }));
  });

  afterEach(async () => {
    await page.context().close();
  });

  const asked = (path: string) => world.api.requests.filter((request) => request.path === path);
  const write = async (text: string, numbers: string) => {
    await page.getByRole('textbox', { name: 'Text' }).fill(text);
    await page.getByRole('textbox', { name: 'Recipients' }).fill(numbers);
  };
  const preview = () => page.getByRole('button', { name: 'Preview and send' }).click();

  test('is priced while it is typed, previewed, and sent once though an answer is lost', async () => {
    world.api.routes['POST send/sms'] = () => refusal(503, 'storage_unavailable');
    await write('Prêt à 9 h <b>', '+226 70 11 22 33\n00 33 6 12 34 56 78, 22670112233\nnobody');
    await page.getByText('4 units').waitFor();
    await page.getByText('Burkina Faso').waitFor();
    expect(await page.getByText('2 recipients · 1 duplicate left out').count()).toBe(1);
    await page.getByText('1 line without a number, left out').waitFor();
    expect(await page.locator('.bad-lines li').allTextContents()).toEqual(['line 3 nobody']);
    await preview();
    await page.getByRole('button', { name: 'Send for 4 units' }).click();
    await page.getByText('not available at this moment').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const accepted = { userID: 'acc_1', smsID: 'm-9', signature: 'PHARMACIE', number: [], sms_units: 4, date_sent: '' };
    world.api.routes['POST send/sms'] = accepted;
    await page.getByRole('button', { name: 'Send for 4 units' }).click();
    await page.getByText('Accepted: 2 recipients, 4 units charged.').waitFor();
    const sends = asked('send/sms');
    // The first click makes three attempts.
    expect(sends.map(({ body }) => body)).toEqual(Array(4).fill(expect.objectContaining({ signature: 'PHARMACIE' })));
    expect(sends[0]?.body).toMatchObject({ content: 'Prêt à 9 h <b>', number: ['22670112233', '33612345678'] });
    expect(new Set(sends.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('');
    expect(await page.getByRole('link', { name: 'Follow it' }).getAttribute('href')).toBe('#/messages/m-9');
  });

  test('asks for a text while nothing of it can be seen, and for no price', async () => {
    await write('\u200b \u2800\u3164', '22670112233');
    await page.getByText('Still needed: a text.').waitFor();
    await page.getByRole('textbox', { name: 'Text' }).fill('👩\u200d👧');
    await page.getByText('1 unit').waitFor();
    expect(asked('sms/quote').map(({ body }) => body)).toEqual([expect.objectContaining({ content: '👩\u200d👧' })]);
  });

  test('marks the characters that make it dearer, at once', async () => {
    await write('Fête 🎉 ’', '');
    expect(await page.locator('mark').allTextContents()).toEqual(['ê', '🎉', '’']);
    await page.getByText('UCS-2 · 9 of 70 characters').waitFor();
    await page.getByRole('textbox', { name: 'Text' }).fill('Fete '.repeat(40));
    await page.getByText('2 segments · GSM-7 · 200 of 306 characters').waitFor();
    expect(await page.locator('mark').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('loses nothing that was typed when the server goes away, nor when another screen is opened', async () => {
    await write('Un long texte', '22670112233');
    world.api.away = true;
    await page.getByRole('textbox', { name: 'Text' }).fill('Un long texte, encore');
    await page.getByText('The server does not answer').first().waitFor();
    await preview();
    await page.getByRole('dialog').getByText('The server does not answer').waitFor();
    await page.getByRole('button', { name: 'Go on writing' }).click();
    world.api.away = false;
    await page.evaluate("location.hash = '#/codes'");
    await page.getByRole('heading', { level: 1, name: 'Codes' }).waitFor();
    await page.evaluate("location.hash = '#/compose'");
    await page.getByText('1 unit', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Un long texte, encore');
    expect(await page.getByRole('textbox', { name: 'Recipients' }).inputValue()).toBe('22670112233');
  });

  test('is priced again once somebody has signed in again, and names each line that has no number', async () => {
    const pasted = ['+226 70 11 22 33', ...Array.from({ length: 5 }, (_, index) => `rien ${index}`), '2267'].join('\n');
    world.api.routes['POST sms/quote'] = () => refusal(401, 'unauthorized');
    await write('Bonjour', pasted);
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.waitFor();
    world.api.routes = { ...world.api.routes, 'POST sms/quote': FULL['POST sms/quote'] ?? {} };
    await again.getByLabel('Sign-in link').fill('secret');
    await again.getByLabel('Sign-in link').press('Enter');
    await page.getByText('1 unit', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Recipients' }).inputValue()).toBe(pasted);
    await page.getByText('6 lines without a number, left out').waitFor();
    await page.getByText('… and 3 more').click();
    expect(await page.locator('.bad-lines li').allTextContents()).toEqual([
      ...['line 2 rien 0', 'line 3 rien 1', 'line 4 rien 2', 'line 5 rien 3', 'line 6 rien 4', 'line 7 2267'],
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('is priced once the server is back, without a key', async () => {
    world.api.routes['POST sms/quote'] = () => refusal(503, 'storage_unavailable');
    await write('Bonjour', '22670112233');
    await page.getByText('not available at this moment').waitFor();
    world.api.routes = { ...world.api.routes, 'POST sms/quote': FULL['POST sms/quote'] ?? {} };
    await page.getByText('1 unit', { exact: true }).waitFor();
  });

  test('goes as a file with a caption, by its address and in the kind that was chosen', async () => {
    let attempts = 0;
    world.api.routes['POST msgapp/send/media'] = () => {
      attempts++;
      return attempts === 1 ? refusal(400, 'media_unavailable') : { success: true, messageID: 'a-9' };
    };
    await page.getByLabel('Channel').selectOption('msgapp');
    await page.getByRole('textbox', { name: 'To' }).fill('+226 71 22 33 44');
    await page.getByText('Burkina Faso').waitFor();
    await page.getByLabel('What').selectOption('file');
    const url = page.getByRole('textbox', { name: 'Address of the file' });
    for (const wrong of ['affiche.pdf', 'ftp://example.com/a.pdf', 'https://me:secret@example.com/a.pdf']) {
      await url.fill(wrong);
      await page.getByText('This is no address').waitFor();
      expect(await page.getByRole('button', { name: 'Preview and send' }).isDisabled()).toBe(true);
    }
    await url.fill(' https://example.com/affiche.pdf ');
    await page.getByLabel('Kind').selectOption('document');
    await page.getByRole('textbox', { name: 'Caption' }).fill('L’affiche <b>');
    await preview();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The file could not be fetched from its address.').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Accepted.').waitFor();
    const sends = asked('msgapp/send/media');
    expect(sends.map(({ body }) => body)).toEqual(
      Array(2).fill({
        ...{ to: '22671223344', mediaUrl: 'https://example.com/affiche.pdf' },
        ...{ mediaType: 'document', caption: 'L’affiche <b>' },
      }),
    );
    expect(sends[1]?.headers['idempotency-key']).toBe(sends[0]?.headers['idempotency-key']);
    await page.getByLabel('What').selectOption('file');
    await url.fill('https://example.com/a.ogg');
    await page.getByRole('textbox', { name: 'To' }).fill('+226 71 22 33 44');
    await preview();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await until(() => asked('msgapp/send/media').length === 3);
    // Neither a kind nor a caption, where none was given.
    expect(asked('msgapp/send/media')[2]?.body).toEqual({ to: '22671223344', mediaUrl: 'https://example.com/a.ogg' });
  });

  test('is not seen by the next user of the browser', async () => {
    await write('Un secret', '22670112233');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'detached' });
    // The same document: nothing is loaded anew.
    await page.evaluate("location.hash = '#link=other'");
    await page.locator('#screen').waitFor();
    await page.evaluate("location.hash = '#/compose'");
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('');
    expect(await page.content()).not.toContain('22670112233');
  });

  test('takes a file of 100 000 numbers: some are asked for while one types, all before it is sent', async () => {
    const lines = Array.from(
      { length: 100_000 },
      (_, index) => `"Client ${index}";+2267${String(index).padStart(7, '0')}`,
    );
    const text = ['nom;numéro', ...lines, lines[7], '"Sans numéro";', ''].join('\r\n');
    await page.locator('input[type=file]').setInputFiles({
      name: 'clients.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text),
    });
    await page.getByText('100,000 recipients · 1 duplicate left out').waitFor();
    await page.getByText('1 line without a number, left out').waitFor();
    expect(await page.locator('.bad-lines li').allTextContents()).toEqual(['clients.csv, line 100,003 "Sans numéro";']);
    await page.getByRole('textbox', { name: 'Text' }).fill('Bonjour');
    await page.getByText('about 100,000 units').waitFor();
    expect(Math.max(...asked('sms/quote').map(({ body }) => body.number.length))).toBeLessThanOrEqual(500);
    await preview();
    await page.getByRole('dialog').getByText('100,000 units', { exact: true }).waitFor();
    expect(asked('sms/quote').at(-1)?.body.number).toHaveLength(100_000);
    // More than the balance.
    await page.getByText('The balance does not cover this.').waitFor();
    expect(await page.getByRole('button', { name: /Send for/ }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Go on writing' }).click();
    world.api.routes['GET balance'] = { balance: 100_000 };
    world.api.routes['POST send/sms'] = { smsID: 'm-9', sms_units: 100_000 };
    await preview();
    await page.getByRole('button', { name: 'Send for 100,000 units' }).click();
    await page.getByText('Accepted: 100,000 recipients, 100,000 units charged.').waitFor();
    const [send, ...others] = asked('send/sms');
    expect(others).toEqual([]);
    expect(new Set(send?.body.number).size).toBe(100_000);
    // What was sent is gone, and with it the file.
    await page.getByText('Still needed: a text and a recipient.').waitFor();
    expect(await page.getByRole('button', { name: 'Remove clients.csv' }).count()).toBe(0);
  });

  test('goes by the messaging app too, and says what to do where no number is linked', async () => {
    world.api.routes['POST msgapp/send/text'] = { success: true, messageID: 'a-9' };
    await page.getByLabel('Channel').selectOption('msgapp');
    await page.getByRole('textbox', { name: 'To' }).fill('+226 71 22 33 44');
    await page.getByRole('textbox', { name: 'Text' }).fill('Bonjour 👋');
    await preview();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Accepted.').waitFor();
    expect(asked('msgapp/send/text')[0]?.body).toEqual({ to: '22671223344', body: 'Bonjour 👋' });
    await page.context().close();
    world.api.routes = { ...sessionRoutes('sender'), ...EMPTY };
    ({ page } = await openScreen(browser, world, 'compose', { locale: 'en' }));
    await page.getByLabel('Channel').selectOption('msgapp');
    await page.getByText('No number is linked to this channel.').waitFor();
    await page.getByRole('link', { name: 'Open Numbers' }).waitFor();
  });

  test('is filled in by “send again”, for those who were not reached', async () => {
    await page.evaluate("location.hash = '#/messages/m-2'");
    await page.getByRole('button', { name: 'Send again to those not reached' }).click();
    await page.getByRole('heading', { level: 1, name: 'Compose' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Recipients' }).inputValue()).toBe('2250708091011\n33612345678');
    expect(await page.getByRole('combobox', { name: 'Sender' }).inputValue()).toBe('PHARMACIE');
    await until(() => asked('sms/quote').length > 0);
  });
});
