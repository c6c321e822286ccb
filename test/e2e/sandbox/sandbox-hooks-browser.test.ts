import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import {
  accessibilityFaults,
  FORMS,
  HOSTILE,
  hasBrowser,
  openPage,
  startBrowser,
} from '../../support/dashboard/page-browser.js';
import { ApiClient } from '../../support/http/api-client.js';
import { call } from '../../support/http/http-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

const suite = hasBrowser() ? describe : describe.skip;

suite('the inboxes of webhooks in a browser', () => {
  let browser: Browser;
  let app: MessagingApp;
  let key: string | undefined;

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      'express',
      { webhooks: { pepper: WEBHOOK_PEPPER } },
      { imports: [SandboxModule.forRoot({ apiKey: () => key })] },
    );
    key = app.key;
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = (width = 1280, colorScheme: 'light' | 'dark' = 'light', locale = 'en') =>
    openPage(browser, `${app.url}/sandbox`, {
      viewport: { width, height: 900 },
      colorScheme,
      locale,
      reducedMotion: 'reduce' as const,
    });

  test('offers a command, and shows the calls to the webhook, verified, without a reload', async () => {
    const { page, problems } = await open();
    await page.locator('#hooks-first').waitFor();
    const command = (await page.locator('#hooks-curl').textContent()) ?? '';
    expect(command).toContain(`curl ${app.url}/api/v1/webhooks`);
    expect(command).toContain(`X-Api-Key: ${app.key}`);
    const [, body = ''] = /-d '(.*)'/.exec(command) ?? [];
    const client = new ApiClient(`${app.url}/api/v1`, app.accountId, app.key);
    const { id } = (await client.post('webhooks', JSON.parse(body))).body as { id: string };
    await client.post(`webhooks/${id}/test`, {});
    const shown = page.locator('.hook-call');
    await shown.waitFor();
    expect(await shown.locator('.hook-what').textContent()).toBe('test.ping');
    expect(await shown.locator('.hook-sign').textContent()).toBe('Signature valid');
    await shown.locator('summary').click();
    expect(await shown.locator('.hook-body').textContent()).toContain('"type": "test.ping"');
    await call(`${app.url}/sandbox/hooks/test`, { method: 'POST', body: HOSTILE });
    await page.locator('.hook-sign.fails').waitFor();
    // The open body stays open.
    expect(await page.locator('.hook-call details[open]').count()).toBe(1);
    expect(await page.locator('.hook-call .hook-body').first().textContent()).toBe(HOSTILE);
    const events = [
      { type: 'message.sent', sequence: 4711 },
      { type: 'message.delivered', sequence: 4712 },
    ];
    await call(`${app.url}/sandbox/hooks/${'long-name-'.repeat(6)}`, { method: 'POST', body: { events } });
    await page.locator('#hook-names button', { hasText: 'long-name' }).click();
    await page.locator('.hook-sign.unknown').waitFor();
    expect(await page.locator('.hook-what').textContent()).toBe('2 events · no. 4711–4712');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(problems).toEqual([]);
    await page.close();
  });

  test.each(FORMS)('fits %i pixels and is accessible (%s)', async (width, scheme) => {
    const { page, problems } = await open(width, scheme, 'fr');
    await page.locator('#hook-names button', { hasText: /^test$/ }).click();
    await page.locator('.hook-sign.fails').waitFor();
    await page.locator('.hook-call summary').first().click();
    const shot = process.env.SHOTS;
    if (shot) await page.screenshot({ path: `${shot}/hooks-${width}-${scheme}.png`, fullPage: true });
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });
});
