import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openScreen, sharedDashboard } from '../../support/dashboard/dashboard-fixture.js';
import { ROLES } from '../../support/dashboard/every-screen.js';
import { accountOf, FULL, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { hasBrowser } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

/** A button of each screen that opens a dialog. */
const OPENERS: readonly (readonly [role: (typeof ROLES)[number], screen: string, button: string])[] = [
  ['admin', 'keys', 'New key'],
  ['admin', 'keys', 'Revoke the key Boutique en ligne'],
  ['admin', 'optouts', 'Add numbers'],
  ['admin', 'webhooks', 'New endpoint'],
  ['admin', 'webhooks/w-1', 'Replay'],
  ['admin', 'hooks', 'New hook'],
  ['admin', 'numbers', 'Unlink +226 76 01 02 03'],
  ['operator', 'manage/accounts/acc_1', 'Suspend'],
  ['operator', 'manage/queue', 'Pause…'],
];

suite('the focus, for people who use the keyboard', () => {
  const shared = sharedDashboard();

  const open = async (role: (typeof ROLES)[number], screen: string, routes = {}): Promise<Page> => {
    shared.fixture.api.routes = { ...routes, ...sessionRoutes(role), ...FULL };
    const { page } = await openScreen(shared.browser, shared.fixture, screen, { locale: 'en' });
    return page;
  };

  const focused = (page: Page) =>
    page.evaluate<string>(
      "(document.activeElement.ariaLabel ?? document.activeElement.textContent).replaceAll('\\u00a0', ' ')",
    );

  test.each(OPENERS)('of the %s, on %s, returns to "%s" when the dialog is closed', async (role, screen, name) => {
    const page = await open(role, screen);
    const button = page.getByRole('main').getByRole('button', { name, exact: true }).first();
    for (const leave of ['Escape', 'Dismiss'] as const) {
      await button.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      if (leave === 'Escape') await page.keyboard.press('Escape');
      else await page.getByRole('dialog').getByRole('button', { name: 'Dismiss', exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect([leave, await focused(page)]).toEqual([leave, name]);
    }
    await page.context().close();
  });

  test('moves to the title of the screen when the row of its button is gone', async () => {
    const page = await open('admin', 'keys');
    shared.fixture.api.routes['DELETE keys/k_4f0c21'] = { success: true };
    await page.getByRole('button', { name: 'Revoke the key Boutique en ligne' }).focus();
    await page.keyboard.press('Enter');
    shared.fixture.api.routes['GET keys'] = { items: [], next_cursor: null };
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('No keys yet').waitFor();
    expect(await focused(page)).toBe('Keys');
    expect(await page.getByRole('status').allTextContents()).toContain('The key Boutique en ligne is revoked.');
    await page.context().close();
  });

  test('an account is closed only after its name was typed', async () => {
    const account = 'manage/accounts/acc_1';
    const page = await open('operator', account, {
      [`GET ${account}`]: accountOf('acc_1', { state: 'suspended', balance: 640 }),
      [`POST ${account}/close`]: {},
    });
    await page.getByRole('button', { name: 'Close the account' }).click();
    const verb = page.getByRole('dialog').getByRole('button', { name: 'Close the account' });
    expect(await verb.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill('Pharmacie du Centre');
    await page.getByRole('dialog').getByText('640 units').waitFor();
    await verb.click();
    await page.getByText('Pharmacie du Centre is closed.').waitFor();
    await page.context().close();
  });
});
