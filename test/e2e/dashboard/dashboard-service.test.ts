import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import type { Browser, Page } from 'playwright-core';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { goTo } from '../../support/dashboard/dashboard-fixture.js';
import { hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import type { Adapter } from '../../support/http/http-apps.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const SCREENS = {
  admin: [
    'overview',
    'messages',
    'compose',
    'codes',
    'numbers',
    'signatures',
    'optouts',
    'webhooks',
    'hooks',
    'keys',
    'balance',
    'audit',
  ],
  operator: ['accounts', 'signatures', 'carriers', 'queue', 'ledger', 'audit', 'system'].map(
    (name) => `manage/${name}`,
  ),
} as const;

const suite = hasBrowser() ? describe : describe.skip;

suite.each<[Adapter, string]>([
  ['express', ''],
  ['fastify', '/svc'],
])('the dashboard with the real API (%s, prefix "%s")', (adapter, prefix) => {
  let browser: Browser;
  let app: MessagingApp;

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      adapter,
      {
        management: { secret: MANAGEMENT_SECRET },
        otp: { pepper: PEPPER },
        webhooks: { pepper: 'a pepper of webhooks, for the tests of the page' },
        hooks: { pepper: 'a pepper of log-in hooks, for the tests of the page' },
        msgapp: MSGAPP,
      },
      {
        imports: [DashboardModule.forRoot({ locale: 'en' })],
        configure: (host: INestApplication) => void (prefix && host.setGlobalPrefix(prefix)),
      },
    );
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const signIn = async (role: 'admin' | 'operator') => {
    const management = app.app.get(ManagementService, { strict: false });
    const whom = role === 'admin' ? { account: app.accountId, role } : { role };
    const { fragment } = await management.link({ ...whom, subject: 'awa@example.test' });
    const opened = await openPage(browser, `${app.url}${prefix}/dashboard${fragment}`, { reducedMotion: 'reduce' });
    await opened.page.locator('#screen').waitFor();
    return { ...opened, fragment };
  };

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog');

  test.each(['admin', 'operator'] as const)('every screen of %s loads without an error', async (role) => {
    const { page, problems } = await signIn(role);
    const wrong: string[] = [];
    for (const screen of SCREENS[role]) {
      await goTo(page, screen);
      const shown = await page.locator('main [role=alert] .note, main .note.warn').allTextContents();
      wrong.push(...shown.map((each) => `${screen}: ${each}`));
      if (process.env.SCREENSHOTS) {
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/real-${screen.replace('/', '-')}.png`,
          fullPage: true,
        });
      }
    }
    expect([wrong, problems]).toEqual([[], []]);
    // Campaigns are not mounted.
    expect(await page.getByRole('link', { name: 'Campaigns' }).count()).toBe(0);
    await page.context().close();
  });

  test('a link signs in once, a reload keeps the session, and a sign-out ends it', async () => {
    const { page, fragment } = await signIn('admin');
    await goTo(page, 'keys');
    await page.reload();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    const other = await openPage(browser, `${app.url}${prefix}/dashboard${fragment}`, {});
    await other.page.getByRole('alert').getByText('A link works once').waitFor();
    await other.page.context().close();
    await button(page, 'Sign out').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  test('an account requests a signature, an operator verifies it and tops up, and the audit log shows both', async () => {
    const { page: mine } = await signIn('admin');
    const { page: theirs } = await signIn('operator');
    const name = `ACME ${adapter === 'express' ? 1 : 2}`;
    await goTo(mine, 'signatures');
    await button(mine, 'Request a sender name').first().click();
    await dialog(mine).getByLabel('Name').fill(name);
    await dialog(mine).getByRole('button', { name: 'Request a sender name' }).click();
    await dialog(mine).waitFor({ state: 'detached' });
    await mine.getByText(name, { exact: true }).waitFor();

    await goTo(theirs, 'manage/signatures');
    await button(theirs, `Verify ${name}`).click();
    await dialog(theirs).getByRole('button', { name: 'Verify' }).click();
    await dialog(theirs).waitFor({ state: 'detached' });
    await theirs.getByText('Nothing is waiting for you').waitFor();

    await goTo(theirs, `manage/accounts/${app.accountId}`);
    await button(theirs, 'Top up').click();
    await dialog(theirs).getByLabel('Units').fill('250');
    await dialog(theirs).getByLabel('Reference').fill('INV-1');
    await dialog(theirs).getByLabel('Reference').press('Enter');
    await theirs.getByText('Posted. The balance is now 1,250.').waitFor();
    await goTo(theirs, 'manage/ledger');
    await button(theirs, 'Start a check').click();
    await theirs.getByText('The ledger is correct.').waitFor();

    await goTo(mine, 'balance');
    await mine.getByText('+250').waitFor();
    await mine.getByText('1,250').first().waitFor();
    await goTo(mine, 'audit');
    for (const action of ['Signature requested', 'Signature verified', 'Balance topped up']) {
      await mine.getByRole('cell', { name: action }).first().waitFor();
    }
    await mine.context().close();
    await theirs.context().close();
  });

  test('a key is created, shown once and revoked; a number is opted out and back in', async () => {
    const { page } = await signIn('admin');
    await goTo(page, 'keys');
    await button(page, 'New key').first().click();
    await dialog(page).getByLabel('Name').fill('Till <b>1</b>');
    await dialog(page).getByLabel('Units per day').fill('100');
    await dialog(page).getByLabel('Read the balance').check();
    await dialog(page).getByRole('button', { name: 'New key' }).click();
    const key = await dialog(page).locator('.secret code').textContent();
    const headers = { 'X-Api-Key': key ?? '' };
    const uses = async () => (await fetch(`${app.url}${prefix}/api/v1/balance`, { headers })).status;
    expect(await uses()).toBe(200);
    await button(page, 'I have stored it').click();
    expect(await page.content()).not.toContain(key);
    await button(page, 'Revoke the key Till <b>1</b>').click();
    await dialog(page).getByRole('button', { name: 'Revoke', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    expect(await uses()).toBe(401);

    await goTo(page, 'optouts');
    await button(page, 'Add numbers').first().click();
    await dialog(page).getByLabel('Numbers').fill('+226 70 00 01 01\n22670000102\n1234');
    await dialog(page).getByText('Burkina Faso (2)').waitFor();
    await dialog(page).getByText('line 3').waitFor();
    await dialog(page).getByRole('button', { name: 'Add numbers' }).click();
    await page.getByText('+226 70 00 01 02').first().waitFor();
    await button(page, 'Remove +226 70 00 01 01 from the list').click();
    await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('cell', { name: '+226 70 00 01 01', exact: true }).waitFor({ state: 'detached' });
    await page.context().close();
  });
});
