import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { goTo } from '../../support/dashboard/dashboard-fixture.js';
import { accessibilityFaults, hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('campaigns in the dashboard', () => {
  let browser: Browser;
  let app: MessagingApp;

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      'express',
      { management: { secret: MANAGEMENT_SECRET }, campaigns: {} },
      { imports: [DashboardModule.forRoot({ locale: 'en' })] },
    );
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const signIn = async (role: 'sender' | 'viewer', width: number) => {
    const management = app.app.get(ManagementService, { strict: false });
    const { fragment } = await management.link({ account: app.accountId, role, subject: 'awa@example.test' });
    const viewport = { width, height: 800 };
    const opened = await openPage(browser, `${app.url}/dashboard${fragment}`, { reducedMotion: 'reduce', viewport });
    await opened.page.locator('#screen').waitFor();
    const check = async (width: number) => {
      expect(await opened.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect([await accessibilityFaults(opened.page), opened.problems]).toEqual([[], []]);
    };
    return { ...opened, check };
  };

  test('a file becomes a campaign, with its bad rows, its price and its results', async () => {
    const { page, check } = await signIn('sender', 320);
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    await goTo(page, 'campaigns');
    await page.getByText('No campaign yet').waitFor();
    await check(320);
    await goTo(page, 'campaigns/new');
    await page.getByLabel('Name').fill('Soldes');
    await page.getByLabel('Text', { exact: true }).fill('Bonjour {name}');
    await check(320);
    await button('Create the draft').click();
    await page.getByRole('heading', { name: 'Soldes' }).waitFor();
    expect(await button(/^Start$/).isDisabled()).toBe(true);

    const file = '\ufeffmobile;name\n22670000001;Awa\n7;Paul\n22670000002;"Zo;é"\n22670000001;Awa\n';
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'clients.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    await page.getByText('Bonjour Zo;é').waitFor();
    await button('Import clients.csv').click();
    await page.getByText('2 recipients imported, 1 duplicates, 1 wrong rows left out.').waitFor();
    await page.getByRole('list', { name: 'Wrong rows' }).getByText('Line 3').waitFor();
    await page.getByText('2 units for 2 recipients').waitFor();
    await check(320);
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/campaign-draft.png`, fullPage: true });
    }
    await button(/^Start$/).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 recipients get this text for 2 units. The balance is 1,000.').waitFor();
    await check(320);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Details' }).first().waitFor();
    await check(320);
    if (process.env.SCREENSHOTS) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/campaign-done.png`, fullPage: true });
    }
    await page.context().close();
  });

  test('a viewer sees campaigns, and may not act', async () => {
    const { page } = await signIn('viewer', 1280);
    await goTo(page, 'campaigns');
    await page.getByRole('link', { name: 'Soldes' }).click();
    await page.getByRole('heading', { name: 'Soldes' }).waitFor();
    expect(await page.getByRole('button', { name: /Start|Pause|Cancel|Delete/ }).count()).toBe(0);
    await goTo(page, 'campaigns');
    expect(await page.getByRole('link', { name: 'New campaign' }).count()).toBe(0);
    await page.context().close();
  });
});
