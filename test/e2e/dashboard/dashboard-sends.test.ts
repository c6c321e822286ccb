import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import type { Browser, Page } from 'playwright-core';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { until } from '../../support/common/until.js';
import { goTo } from '../../support/dashboard/dashboard-fixture.js';
import { hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import type { Adapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';

const suite = hasBrowser() ? describe : describe.skip;

suite.each<[Adapter, string]>([
  ['express', ''],
  ['fastify', '/svc'],
])('messages sent from the dashboard to the sandbox (%s, prefix "%s")', (adapter, prefix) => {
  let browser: Browser;
  let app: MessagingApp;
  let page: Page;
  let problems: readonly string[];

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      adapter,
      {
        management: { secret: MANAGEMENT_SECRET },
        webhooks: { pepper: 'a pepper of webhooks, for the tests of the page' },
        msgapp: MSGAPP,
      },
      {
        imports: [DashboardModule.forRoot(), SandboxModule.forRoot()],
        configure: (host: INestApplication) => void (prefix && host.setGlobalPrefix(prefix)),
      },
    );
    const management = app.app.get(ManagementService, { strict: false });
    const { fragment } = await management.link({ account: app.accountId, role: 'admin' });
    ({ page, problems } = await openPage(browser, `${app.url}${prefix}/dashboard${fragment}`, { locale: 'en' }));
    await page.locator('#screen').waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  test('an SMS is written, charged and followed until it is delivered, and its events are found', async () => {
    await goTo(page, 'webhooks/live');
    await page.getByText('Following').waitFor();
    await goTo(page, 'compose');
    await page.getByRole('textbox', { name: 'Text' }).fill('Bonjour <b> 🎉');
    await page.getByRole('textbox', { name: 'Recipients' }).fill('22670000001\n221771234567\n22670990001');
    await page.getByText('5 units').waitFor();
    await page.getByRole('button', { name: 'Preview and send' }).click();
    await page.getByText('995').waitFor();
    await page.getByRole('button', { name: 'Send for 5 units' }).click();
    await page.getByRole('link', { name: 'View the message' }).click();
    await page.getByRole('heading', { level: 1, name: 'Message to 3 recipients' }).waitFor();
    await page.getByRole('cell', { name: 'Failed' }).waitFor();
    await page.getByText('4 units').or(page.getByText('1 unit refunded')).first().waitFor();
    await until(async () => (await page.getByRole('cell', { name: 'Delivered', exact: true }).count()) === 2);
    await page.getByRole('button', { name: 'Find events' }).click();
    await until(async () => {
      if ((await page.getByText('send.completed').count()) > 0) return true;
      // The first search was earlier than the event.
      await page.getByRole('button', { name: 'Reload' }).click();
      return false;
    });
    expect(await page.getByText('message.delivered').count()).toBe(2);
    await goTo(page, 'messages?status=failed');
    await page.getByText('Bonjour <b>').waitFor();
    await page.getByText('Delivered 2').waitFor();
  });

  test('a number is linked by scanning the code on the page, sends a text, and is unlinked', async () => {
    const sandbox = `${app.url}${prefix}/sandbox`;
    await goTo(page, 'numbers');
    await page.getByRole('main').getByRole('button', { name: 'Link a number' }).first().click();
    await page.getByRole('img', { name: 'Code to scan' }).waitFor();
    await until(async () => {
      // If the code was renewed meanwhile, the new one is scanned.
      const [code] = (await call(`${sandbox}/codes`)).body as readonly { readonly qr: string }[];
      if (code) await call(`${sandbox}/phones/22676010203/scan`, { method: 'POST', body: { qr: code.qr } });
      return (await page.getByText('+226 76 01 02 03 is linked.').count()) > 0;
    });
    await page.getByRole('button', { name: 'Done' }).click();
    await goTo(page, 'compose');
    await page.getByLabel('Channel').selectOption('msgapp');
    await page.getByRole('textbox', { name: 'To' }).fill('22670000002');
    await page.getByRole('textbox', { name: 'Text' }).fill('Salut');
    await page.getByRole('button', { name: 'Preview and send' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('link', { name: 'View the message' }).click();
    await page.getByRole('heading', { level: 1, name: 'Message to +226 70 00 00 02' }).waitFor();
    await page.getByText('On the phone').waitFor();
    await goTo(page, 'numbers');
    await page.getByRole('button', { name: 'Unlink +226 76 01 02 03' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click();
    await page.getByText('unlinked here').waitFor();
    expect(problems).toEqual([]);
  });
});
