import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { goTo } from '../../support/dashboard/dashboard-fixture.js';
import { accessibilityFaults, hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('a text for each recipient of a table, in the dashboard', () => {
  let browser: Browser;
  let app: MessagingApp;

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      'express',
      { management: { secret: MANAGEMENT_SECRET }, campaigns: {} },
      { imports: [DashboardModule.forRoot()] },
    );
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = async (width: number, locale: 'en' | 'fr' = 'en') => {
    const management = app.app.get(ManagementService, { strict: false });
    const { fragment } = await management.link({ account: app.accountId, role: 'sender', subject: 'awa@example.test' });
    const viewport = { width, height: 800 };
    const options = { reducedMotion: 'reduce', viewport, locale } as const;
    const opened = await openPage(browser, `${app.url}/dashboard${fragment}`, options);
    const { page, problems } = opened;
    await page.locator('#screen').waitFor();
    await goTo(page, 'compose');
    /** Checks the page at two widths and in both themes. */
    const check = async (name: string) => {
      for (const wide of [320, 390, 1280]) {
        await page.setViewportSize({ width: wide, height: 800 });
        expect([wide, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([wide, wide]);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          if (wide !== 390) expect([await accessibilityFaults(page), problems]).toEqual([[], []]);
        }
        if (process.env.SCREENSHOTS) {
          const path = `${process.env.SCREENSHOTS}/personal-${name}-${wide}-${locale}.png`;
          await page.screenshot({ path, fullPage: true });
        }
      }
      await page.setViewportSize({ width, height: 800 });
    };
    return { page, check };
  };

  test('is read from a file, previewed, priced and sent later', async () => {
    const { page, check } = await open(1280);
    await page.getByLabel('Texts').selectOption('own');
    const text = page.getByRole('textbox', { name: 'Text', exact: true });
    await text.fill('Bonjour {nom}');
    const long = 'x'.repeat(170);
    const file = `\ufeffMobile;Prénom\r\n+226 70 00 00 01;Awa\r\n7;Paul\r\n22670000002;"Zo;\r\né"\r\n22670000001;Again\r\n22670000003\r\n22670000004;${long}\r\n22670000005;\r\n`;
    const chosen = { name: 'clients.csv', mimeType: 'text/csv', buffer: Buffer.from(file) };
    await page.locator('input[type=file]').setInputFiles(chosen);
    await page.getByText('The table has no column for {nom}.').waitFor();
    expect(await page.getByRole('button', { name: 'Preview and send' }).isDisabled()).toBe(true);
    expect(await page.getByText('{Prenom}').count()).toBe(1);
    await text.fill('Bonjour {Prenom}');
    await page.getByText('4 recipients · 1 duplicate left out · 1 with an empty value').waitFor();
    expect(await page.locator('.bad-lines li').allTextContents()).toEqual([
      'line 3 “7” is not a number with its country code',
      'line 7 no value for Prenom',
    ]);
    await page.getByText('Bonjour Zo; é').waitFor();
    await page.getByText('5 units').waitFor();
    await page.getByText('Longest text: 178 characters, 2 segments, to +226 70 00 00 04').waitFor();
    await check('file');

    await page.getByLabel('When').selectOption('later');
    await page.getByRole('button', { name: 'Preview and send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('995').waitFor();
    await check('dialog');
    await dialog.getByRole('button', { name: 'Schedule for 5 units' }).click();
    await page.getByText('Accepted: 4 recipients, 5 units charged.').waitFor();
    await page.getByRole('link', { name: 'View the message' }).click();
    await page.getByText('Each recipient gets a text of its own').waitFor();
    const sms = app.app.get(SmsService, { strict: false });
    const id = new URL(page.url()).hash.split('/').at(-1) ?? '';
    const { content, send_at, recipients } = await sms.get(app.accountId, id);
    expect([content, Date.parse(send_at ?? '') > Date.now()]).toEqual(['Bonjour {Prenom}', true]);
    expect(recipients.map((each) => [each.number, each.content])).toEqual([
      ['22670000001', 'Bonjour Awa'],
      ['22670000002', 'Bonjour Zo;\r\né'],
      ['22670000004', `Bonjour ${long}`],
      ['22670000005', 'Bonjour '],
    ]);
    await page.locator('summary', { hasText: '+226 70 00 00 01' }).click();
    await check('message');
    await page.getByRole('button', { name: 'Cancel the message' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the message' }).click();
    await page.getByRole('status').getByText('4 canceled, 0 too late, 5 units refunded.').waitFor();
    await page.context().close();
  });

  test('is pasted from a spreadsheet; faults of the table and of the text say what to do', async () => {
    const { page, check } = await open(320, 'fr');
    await page.getByLabel('Textes').selectOption('own');
    const text = page.getByRole('textbox', { name: 'Texte', exact: true });
    const table = page.getByRole('textbox', { name: 'Tableau des destinataires' });
    await text.fill('Bonjour {nom');
    await page.getByText('L’accolade à la position 9').waitFor();
    await text.fill('Bonjour {column_2} {{ok}}');
    await table.fill('22670000001\tAwa\n22670000002\t"Zoé');
    await page.getByText('À la ligne 2, un guillemet n’est pas fermé').waitFor();
    await page.getByText('Il manque : un tableau avec un destinataire.').waitFor();
    await check('fault');
    await table.fill('22670000001\tAwa\n22670000002\tZoé');
    await page.getByText('Bonjour Zoé {ok}').waitFor();
    await page.getByText('2 unités').waitFor();
    await page.getByLabel('Colonne des numéros').selectOption('column_2');
    await page.getByText('2 lignes écartées').waitFor();
    await page.getByLabel('Colonne des numéros').selectOption('column_1');
    await page.getByText('2 unités').waitFor();
    await check('paste');
    await page.context().close();
  });

  test('for more recipients than one message can have leads to campaigns', async () => {
    const { page, check } = await open(1280);
    await page.getByLabel('Texts').selectOption('own');
    const rows = Array.from({ length: 100_001 }, (_, index) => `${22670000001 + index},a`);
    const buffer = Buffer.from(`number,name\n${rows.join('\n')}\n`);
    await page.locator('input[type=file]').setInputFiles({ name: 'tous.csv', mimeType: 'text/csv', buffer });
    await page.getByText('This one has 100,001.').waitFor();
    await check('many');
    const button = page.getByRole('button', { name: 'Remove tous.csv' });
    expect(await page.getByRole('link', { name: 'Make a campaign' }).getAttribute('href')).toBe('#/campaigns/new');
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByText('This one has').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Choose a file…');
    await page.locator('input[type=file]').setInputFiles({
      name: 'ancien.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('number,name\n22670000001,Zoé\n', 'latin1'),
    });
    await page.getByText('Line 2 is not UTF-8.').waitFor();
    await page.context().close();
  });

  test('of a file that is too large go nowhere, not to a table that was pasted before', async () => {
    const { page } = await open(1280);
    await page.getByLabel('Texts').selectOption('own');
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Bonjour');
    await page.getByRole('textbox', { name: 'Table of recipients' }).fill('22670000001,Awa');
    await page.getByText('1 recipient', { exact: true }).waitFor();
    await page.evaluate(`{
      const input = document.querySelector('input[type=file]');
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array(33 * 1024 * 1024)], 'tous.csv'));
      input.files = files.files;
      input.dispatchEvent(new Event('change'));
    }`);
    await page.getByText('This file is too large for one message.').waitFor();
    expect(await page.getByText('1 recipient', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Preview and send' }).isDisabled()).toBe(true);
    await page.context().close();
  });
});
