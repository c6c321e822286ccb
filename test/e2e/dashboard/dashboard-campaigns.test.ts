import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { CampaignService } from '../../../src/campaigns/campaign-service.js';
import { DAY_MS } from '../../../src/common/time.js';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { homeNumbers } from '../../support/campaigns/campaign-app.js';
import { until } from '../../support/common/until.js';
import { goTo } from '../../support/dashboard/dashboard-fixture.js';
import { accessibilityFaults, hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('campaigns and scheduled messages in the dashboard', () => {
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
    await dialog.getByRole('button', { name: 'Start for 2 units' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Details' }).first().waitFor();
    await check(320);
    await page.getByLabel('Status').selectOption('delivered');
    const saved = page.waitForEvent('download');
    await button('Download CSV').click();
    const rows = await text((await (await saved).createReadStream()) as Readable);
    expect(rows).toContain('22670000001');
    if (process.env.SCREENSHOTS) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/campaign-done.png`, fullPage: true });
    }
    await page.context().close();
  });

  test('a test goes to one number, and a draft is deleted', async () => {
    const { page } = await signIn('sender', 1280);
    const draft = { name: 'Essai', signature: 'INFOS', content: 'Bonjour {name}' };
    const { reply } = await app.app.get(CampaignService, { strict: false }).create(app.accountId, draft);
    await goTo(page, `campaigns/${reply.id}`);
    await page.getByLabel('Number').fill('+226 70 00 00 09');
    await page.getByLabel('name', { exact: true }).fill('Zoé');
    await page.getByText('Bonjour Zoé').waitFor();
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('Sent for 1 unit.').waitFor();
    await page.getByRole('button', { name: 'Delete the draft' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the draft' }).click();
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    await page.getByRole('link', { name: 'Soldes' }).waitFor();
    expect(await page.getByRole('link', { name: 'Essai' }).count()).toBe(0);
    await page.context().close();
  });

  test('a running campaign is paused, resumed and canceled; one without balance says why it waits', async () => {
    const { page, check } = await signIn('sender', 320);
    const campaigns = app.app.get(CampaignService, { strict: false });
    const run = async (name: string, recipients: number, perMinute?: number) => {
      const draft = { name, signature: 'INFOS', content: 'Bonjour', per_minute: perMinute };
      const { reply } = await campaigns.create(app.accountId, draft);
      const to = homeNumbers(recipients).map((number) => ({ number }));
      await campaigns.importList(app.accountId, reply.id, to);
      await campaigns.start(app.accountId, reply.id);
      await goTo(page, `campaigns/${reply.id}`);
    };
    await run('Lente', 100, 1);
    await page.getByText('Expected end').waitFor();
    await check(320);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Somebody paused this campaign.').waitFor();
    await check(320);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Cancel the campaign' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Stop it for good' }).click();
    await page
      .locator('.badge', { hasText: /^Canceled$/ })
      .first()
      .waitFor();

    await run('Trop chère', 1001);
    await page.getByText('The balance is used up.').waitFor();
    expect(await page.getByRole('link', { name: 'Open the balance' }).getAttribute('href')).toBe('#/balance');
    await page.context().close();
  });

  test('what waits for its moment is moved and canceled', async () => {
    const sms = app.app.get(SmsService, { strict: false });
    await app.app.get(LedgerService, { strict: false }).topUp(app.accountId, 10);
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    const sent: string[] = [];
    for (const [content, days] of [
      ['Plus tard', 3],
      ['Bientôt', 1],
    ] as const) {
      const order = { signature: 'INFOS', content, number: ['22670000001', '22670000002'], send_at: inDays(days) };
      sent.push((await sms.send(app.accountId, order)).smsID);
    }
    const [late = ''] = sent;
    const { page, check } = await signIn('sender', 320);
    await goTo(page, 'scheduled');
    const texts = () => page.locator('.excerpt').allTextContents();
    await until(texts, (found) => found.join() === 'Bientôt,Plus tard', 15_000);
    await check(320);
    await page.getByRole('button', { name: 'Move' }).last().click();
    const day = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
    await page.getByLabel('Day').fill(day);
    await page.getByLabel('Time').fill('09:30');
    await check(320);
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await page.getByText('Moved.').waitFor();
    const local = await page.evaluate<string>(`new Date('${day}T09:30').toISOString()`);
    expect((await sms.get(app.accountId, late)).send_at).toBe(local);
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/scheduled-320.png`, fullPage: true });
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/scheduled.png`, fullPage: true });
    }
    await page.getByRole('button', { name: 'Cancel the message' }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the message' }).click();
    await page.getByText('2 canceled, 0 too late, 2 units refunded.').waitFor();
    await until(texts, (found) => found.join() === 'Bientôt');
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
