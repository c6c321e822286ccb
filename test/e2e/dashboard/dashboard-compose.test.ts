import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../../support/common/until.js';
import { openScreen, sharedDashboard } from '../../support/dashboard/dashboard-fixture.js';
import { refusal } from '../../support/dashboard/fake-api.js';
import { EMPTY, FULL, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { smsOf } from '../../support/dashboard/fake-screens-data.js';
import { accessibilityFaults, hasBrowser } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('writing a message in the dashboard', () => {
  const shared = sharedDashboard();
  let page: Page;
  let problems: readonly string[];

  beforeEach(async () => {
    shared.fixture.api.routes = { ...sessionRoutes('sender'), ...FULL };
    shared.fixture.api.requests.length = 0;
    ({ page, problems } = await openScreen(shared.browser, shared.fixture, 'compose', { locale: 'en' }));
  });

  afterEach(async () => {
    await page.context().close();
  });

  const asked = (path: string) => shared.fixture.api.requests.filter((request) => request.path === path);
  const write = async (text: string, numbers: string) => {
    await page.getByRole('textbox', { name: 'Text' }).fill(text);
    await page.getByRole('textbox', { name: 'Recipients' }).fill(numbers);
  };
  const preview = () => page.getByRole('button', { name: 'Preview and send' }).click();

  test('goes out later, not after a time, and at certain hours only', async () => {
    shared.fixture.api.routes['POST send/sms'] = {
      userID: 'acc_1',
      smsID: 'm-9',
      signature: 'PHARMACIE',
      number: [],
      sms_units: 4,
      date_sent: '',
    };
    await write('Soldes', '22670112233');
    await page.getByLabel('When').selectOption('later');
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('Day', { exact: true }).fill(day);
    await page.getByLabel('Time', { exact: true }).fill('08:30');
    await page.getByLabel('Not after').selectOption('86400');
    await page.getByLabel('Hours').selectOption('only');
    await page.getByRole('checkbox', { name: 'Sunday' }).uncheck();
    await page.getByText('From 08:00 to 20:00, Monday to Saturday, in the recipient’s country').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await preview();
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByText('Accepted: 1 recipient').waitFor();
    const [send] = asked('send/sms');
    const local = await page.evaluate<string>(`new Date('${day}T08:30').toISOString()`);
    expect(send?.body).toMatchObject({
      send_at: local,
      valid_for: 86_400,
      window: { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5, 6], zone: 'recipient' },
    });
    expect(problems).toEqual([]);
  });

  test('cannot go out in the past, nor within hours of no length', async () => {
    await write('Soldes', '22670112233');
    await page.getByLabel('When').selectOption('later');
    await page.getByLabel('Day', { exact: true }).fill('2020-01-01');
    await page.getByText('This moment is in the past.').waitFor();
    await page.getByText('Still needed: a day and a time.').waitFor();
    await page.getByLabel('When').selectOption('now');
    await page.getByLabel('Hours').selectOption('only');
    await page.getByLabel('Until').fill('08:00');
    await page.getByText('The two times must differ.').waitFor();
    expect(await page.getByRole('button', { name: 'Preview and send' }).isDisabled()).toBe(true);
    await page.getByLabel('Hours').selectOption('any');
    expect(await page.getByRole('button', { name: 'Preview and send' }).isDisabled()).toBe(false);
  });

  test('is priced while the user types, previewed, and sent once although answers are lost', async () => {
    shared.fixture.api.routes['POST send/sms'] = () => refusal(503, 'storage_unavailable');
    await write('Prêt à 9 h <b>', '+226 70 11 22 33\n00 33 6 12 34 56 78, 22670112233\nnobody');
    await page.getByText('4 units').waitFor();
    await page.getByText('Burkina Faso').waitFor();
    expect(await page.getByText('2 recipients · 1 duplicate left out').count()).toBe(1);
    await page.getByText('1 line without a number, left out').waitFor();
    expect(await page.locator('.bad-lines li').allTextContents()).toEqual(['line 3 nobody']);
    await preview();
    await page.getByRole('button', { name: 'Send for 4 units' }).click();
    await page.getByText('not available at the moment').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const accepted = { userID: 'acc_1', smsID: 'm-9', signature: 'PHARMACIE', number: [], sms_units: 4, date_sent: '' };
    shared.fixture.api.routes['POST send/sms'] = accepted;
    await page.getByRole('button', { name: 'Send for 4 units' }).click();
    await page.getByText('Accepted: 2 recipients, 4 units charged.').waitFor();
    const sends = asked('send/sms');
    // The first click makes three attempts.
    expect(sends.map(({ body }) => body)).toEqual(Array(4).fill(expect.objectContaining({ signature: 'PHARMACIE' })));
    expect(sends[0]?.body).toMatchObject({ content: 'Prêt à 9 h <b>', number: ['22670112233', '33612345678'] });
    expect(new Set(sends.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('');
    expect(await page.getByRole('link', { name: 'View the message' }).getAttribute('href')).toBe('#/messages/m-9');
  });

  test('asks for a text, and for no price, while the text has no visible character', async () => {
    await write('\u200b \u2800\u3164', '22670112233');
    await page.getByText('Still needed: a text.').waitFor();
    await page.getByRole('textbox', { name: 'Text' }).fill('👩\u200d👧');
    await page.getByText('1 unit').waitFor();
    expect(asked('sms/quote').map(({ body }) => body)).toEqual([expect.objectContaining({ content: '👩\u200d👧' })]);
  });

  test('marks the characters that make the message more expensive', async () => {
    await write('Fête 🎉 ’', '');
    expect(await page.locator('mark').allTextContents()).toEqual(['ê', '🎉', '’']);
    await page.getByText('UCS-2 · 9 of 70 characters').waitFor();
    await page.getByRole('textbox', { name: 'Text' }).fill('Fete '.repeat(40));
    await page.getByText('2 segments · GSM-7 · 200 of 306 characters').waitFor();
    expect(await page.locator('mark').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('keeps what was typed when the server goes down or another screen is opened', async () => {
    await write('Un long texte', '22670112233');
    shared.fixture.api.away = true;
    await page.getByRole('textbox', { name: 'Text' }).fill('Un long texte, encore');
    await page.getByText('The server does not answer').first().waitFor();
    await preview();
    await page.getByRole('dialog').getByText('The server does not answer').waitFor();
    await page.getByRole('button', { name: 'Keep editing' }).click();
    shared.fixture.api.away = false;
    await page.evaluate("location.hash = '#/codes'");
    await page.getByRole('heading', { level: 1, name: 'Codes' }).waitFor();
    await page.evaluate("location.hash = '#/compose'");
    await page.getByText('1 unit', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Un long texte, encore');
    expect(await page.getByRole('textbox', { name: 'Recipients' }).inputValue()).toBe('22670112233');
  });

  test('is priced again after a new sign-in, and lists each line without a number', async () => {
    const pasted = ['+226 70 11 22 33', ...Array.from({ length: 5 }, (_, index) => `rien ${index}`), '2267'].join('\n');
    shared.fixture.api.routes['POST sms/quote'] = () => refusal(401, 'unauthorized');
    await write('Bonjour', pasted);
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.waitFor();
    shared.fixture.api.routes = { ...shared.fixture.api.routes, 'POST sms/quote': FULL['POST sms/quote'] ?? {} };
    await again.getByLabel('Sign-in link').fill('secret');
    await again.getByLabel('Sign-in link').press('Enter');
    await page.getByText('1 unit', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Recipients' }).inputValue()).toBe(pasted);
    await page.getByText('6 lines without a number, left out').waitFor();
    await page.getByText('… and 3 more').click();
    expect(await page.locator('.bad-lines li').allTextContents()).toEqual([
      'line 2 rien 0',
      'line 3 rien 1',
      'line 4 rien 2',
      'line 5 rien 3',
      'line 6 rien 4',
      'line 7 2267',
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('is priced automatically when the server is back', async () => {
    shared.fixture.api.routes['POST sms/quote'] = () => refusal(503, 'storage_unavailable');
    await write('Bonjour', '22670112233');
    await page.getByText('not available at the moment').waitFor();
    shared.fixture.api.routes = { ...shared.fixture.api.routes, 'POST sms/quote': FULL['POST sms/quote'] ?? {} };
    await page.getByText('1 unit', { exact: true }).waitFor();
  });

  test('sends a file with a caption, by the address and kind that were chosen', async () => {
    let attempts = 0;
    shared.fixture.api.routes['POST msgapp/send/media'] = () => {
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
      await page.getByText('This is not an address').waitFor();
      expect(await page.getByRole('button', { name: 'Preview and send' }).isDisabled()).toBe(true);
    }
    await url.fill(' https://example.com/affiche.pdf ');
    await page.getByLabel('Kind').selectOption('document');
    await page.getByRole('textbox', { name: 'Caption' }).fill('L’affiche <b>');
    await preview();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The service could not fetch the file from its address.').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Accepted.').waitFor();
    const sends = asked('msgapp/send/media');
    expect(sends.map(({ body }) => body)).toEqual(
      Array(2).fill({
        to: '22671223344',
        mediaUrl: 'https://example.com/affiche.pdf',
        mediaType: 'document',
        caption: 'L’affiche <b>',
      }),
    );
    expect(sends[1]?.headers['idempotency-key']).toBe(sends[0]?.headers['idempotency-key']);
    await page.getByLabel('What').selectOption('file');
    await url.fill('https://example.com/a.ogg');
    await page.getByRole('textbox', { name: 'To' }).fill('+226 71 22 33 44');
    await preview();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await until(() => asked('msgapp/send/media').length === 3);
    // The order has no kind and no caption, because none was given.
    expect(asked('msgapp/send/media')[2]?.body).toEqual({ to: '22671223344', mediaUrl: 'https://example.com/a.ogg' });
  });

  test('hides a draft from the next user of the browser', async () => {
    await write('Un secret', '22670112233');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'detached' });
    // The same document, without a reload.
    await page.evaluate("location.hash = '#link=other'");
    await page.locator('#screen').waitFor();
    await page.evaluate("location.hash = '#/compose'");
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('');
    expect(await page.content()).not.toContain('22670112233');
  });

  test('takes a file of 100 000 numbers, estimates the price while the user types, and prices all numbers before sending', async () => {
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
    // The price is higher than the balance.
    await page.getByText('The balance is too low.').waitFor();
    expect(await page.getByRole('button', { name: /Send for/ }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Keep editing' }).click();
    shared.fixture.api.routes['GET balance'] = { balance: 100_000 };
    shared.fixture.api.routes['POST send/sms'] = { smsID: 'm-9', sms_units: 100_000 };
    await preview();
    await page.getByRole('button', { name: 'Send for 100,000 units' }).click();
    await page.getByText('Accepted: 100,000 recipients, 100,000 units charged.').waitFor();
    const [send, ...others] = asked('send/sms');
    expect(others).toEqual([]);
    expect(new Set(send?.body.number).size).toBe(100_000);
    // After the send the form is empty, and the file is gone.
    await page.getByText('Still needed: a text and a recipient.').waitFor();
    expect(await page.getByRole('button', { name: 'Remove clients.csv' }).count()).toBe(0);
  });

  test('also sends over the messaging app, and says what to do if no number is linked', async () => {
    shared.fixture.api.routes['POST msgapp/send/text'] = { success: true, messageID: 'a-9' };
    await page.getByLabel('Channel').selectOption('msgapp');
    await page.getByRole('textbox', { name: 'To' }).fill('+226 71 22 33 44');
    await page.getByRole('textbox', { name: 'Text' }).fill('Bonjour 👋');
    await preview();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Accepted.').waitFor();
    expect(asked('msgapp/send/text')[0]?.body).toEqual({ to: '22671223344', body: 'Bonjour 👋' });
    await page.context().close();
    shared.fixture.api.routes = { ...sessionRoutes('sender'), ...EMPTY };
    ({ page } = await openScreen(shared.browser, shared.fixture, 'compose', { locale: 'en' }));
    await page.getByLabel('Channel').selectOption('msgapp');
    await page.getByText('No number is linked to this channel.').waitFor();
    await page.getByRole('link', { name: 'Open Numbers' }).waitFor();
  });

  test('“Send again” fills the form with the numbers that failed', async () => {
    await page.evaluate("location.hash = '#/messages/m-2'");
    await page.getByRole('button', { name: 'Send again to failed recipients' }).click();
    await page.getByRole('heading', { level: 1, name: 'Compose' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Recipients' }).inputValue()).toBe('2250708091011\n33612345678');
    expect(await page.getByRole('combobox', { name: 'Sender' }).inputValue()).toBe('PHARMACIE');
    await until(() => asked('sms/quote').length > 0);
  });

  test('a personal SMS is not sent again, because the form would send its braces', async () => {
    shared.fixture.api.routes['GET sms/m-2'] = smsOf('m-2', { content: 'Bonjour {name}', segments: null });
    await page.evaluate("location.hash = '#/messages/m-2'");
    await page.getByText('Bonjour {name}').first().waitFor();
    expect(await page.getByRole('button', { name: /^Send again/ }).count()).toBe(0);
  });
});
