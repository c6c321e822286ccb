import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { goTo } from '../../support/dashboard/dashboard-fixture.js';
import { hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import { BASIC, type BasicProxy, startBasicProxy } from '../../support/http/basic-proxy.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const suite = hasBrowser() ? describe : describe.skip;

suite.each([
  ['express', true],
  ['fastify', false],
] as const)('the dashboard behind Basic authentication (%s, credentials passed on: %s)', (adapter, passesOn) => {
  let browser: Browser;
  let app: MessagingApp;
  let proxy: BasicProxy;

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      adapter,
      { management: { secret: MANAGEMENT_SECRET }, webhooks: { pepper: PEPPER } },
      { imports: [DashboardModule.forRoot({ locale: 'en' })] },
    );
    proxy = await startBasicProxy(app.url, passesOn);
  });

  afterAll(async () => {
    await browser?.close();
    await proxy?.close();
    await app?.close();
  });

  test('signs in, follows a stream, reads, downloads, reloads and signs out', async () => {
    const management = app.app.get(ManagementService, { strict: false });
    const { fragment } = await management.link({ account: app.accountId, role: 'admin', subject: 'awa@example.test' });
    const { page, problems } = await openPage(browser, `${proxy.url}/dashboard${fragment}`, {
      reducedMotion: 'reduce',
      httpCredentials: BASIC,
    });
    await page.locator('#screen').waitFor();

    await goTo(page, 'webhooks/live');
    await page.getByText('Following', { exact: false }).first().waitFor();
    const { smsID } = await app.app
      .get(SmsService, { strict: false })
      .send(app.accountId, { signature: 'INFOS', content: 'Bonjour', number: ['22670112233'] });
    await page.getByText('message.delivered').first().waitFor();

    await goTo(page, `messages/${smsID}`);
    await page.getByText('Bonjour').first().waitFor();

    await goTo(page, 'balance');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).last().click();
    expect(await readFile(await (await download).path(), 'utf8')).toContain('topup');

    await page.reload();
    await page.locator('#screen').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(proxy.refused).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });
});
