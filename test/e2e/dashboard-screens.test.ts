import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type DashboardWorld, goTo, openScreen, startDashboard } from '../support/dashboard/dashboard-world.js';
import { EMPTY, FULL, sessionRoutes } from '../support/dashboard/fake-data.js';
import { accessibilityFaults, FORMS, hasBrowser, startBrowser } from '../support/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

/** The screens by the role that sees them, with their titles. */
const SCREENS = {
  admin: [
    ['overview', /^(Overview|Vue d’ensemble)$/],
    ['signatures', /^Signatures$/],
    ['optouts', /^(Opt-outs|Désinscriptions)$/],
    ['messages', /^Messages$/],
    ['messages/m-2', /^Message (to|à) /],
    ['compose', /^(Compose|Rédiger)$/],
    ['codes', /^Codes$/],
    ['numbers', /^(Numbers|Numéros)$/],
    ['webhooks', /^Webhooks$/],
    ['webhooks/w-1', /./],
    ['webhooks/live', /^(Live events|Événements en direct)$/],
    ['keys', /^(Keys|Clés)$/],
    ['balance', /^(Balance|Solde)$/],
    ['audit', /^(Audit|Journal d’audit)$/],
  ],
  operator: [
    ['manage/accounts', /^(Accounts|Comptes)$/],
    ['manage/accounts/acc_1', /^(Pharmacie du Centre|acc_1)$/],
    ['manage/signatures', /^(Signatures waiting|Signatures en attente)$/],
    ['manage/carriers', /^(Carriers|Opérateurs)$/],
    ['manage/queue', /^(Queue|File d’attente)$/],
    ['manage/ledger', /^(Ledger check|Contrôle du registre)$/],
    ['manage/audit', /^(Audit|Journal d’audit)$/],
    ['manage/system', /^(System|Système)$/],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly [screen: string, title: RegExp])[]>>;

const FILLED = [
  ['full', FULL],
  ['empty', EMPTY],
] as const;

/** Both widths in both themes, and both languages in each. */
const LOOKS = FORMS.map(
  ([width, scheme], index) => [width === 360 ? 320 : width, scheme, index % 3 === 0 ? 'en' : 'fr'] as const,
);

suite('every screen of the dashboard', () => {
  let browser: Browser;
  let world: DashboardWorld;

  beforeAll(async () => {
    browser = await startBrowser();
    world = await startDashboard({});
  });

  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  describe.each(FILLED)('%s', (name, routes) => {
    test.each(LOOKS)('%i wide, %s, %s: fits, runs nothing, breaks no rule', async (width, colorScheme, locale) => {
      const looked = async (page: Page, screen: string): Promise<void> => {
        if (!process.env.SCREENSHOTS) return;
        const file = `${screen.replaceAll('/', '-')}-${name}-${width}-${colorScheme}-${locale}.png`;
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${file}`, fullPage: true });
      };
      for (const [role, screens] of Object.entries(SCREENS)) {
        world.api.routes = { ...sessionRoutes(role), ...routes };
        const viewport = { width, height: 800 };
        const { page, problems } = await openScreen(browser, world, '', { viewport, colorScheme, locale });
        for (const [screen, title] of screens) {
          await goTo(page, screen);
          await page.getByRole('heading', { level: 1, name: title }).waitFor();
          await looked(page, screen);
          const [lang, scroll, hacked] = await page.evaluate<unknown[]>(
            '[document.documentElement.lang, document.documentElement.scrollWidth, window.hacked]',
          );
          expect({ screen, lang, scroll, hacked }).toEqual({ screen, lang: locale, scroll: width, hacked: undefined });
          const faults = await accessibilityFaults(page);
          expect([screen, faults, problems]).toEqual([screen, [], []]);
        }
        await page.context().close();
      }
      world.api.routes = { ...sessionRoutes('admin'), ...routes };
      const viewport = { width, height: 800 };
      const { page, problems } = await openScreen(browser, world, 'keys', { viewport, colorScheme, locale });
      await page.locator('.screen-actions .main').click();
      await page.getByRole('dialog').waitFor();
      await looked(page, 'keys-dialog');
      const dialog = await accessibilityFaults(page);
      await page.keyboard.press('Escape');
      if (width < 760) await page.locator('.top .button').click();
      await page.locator('.who > .button').click();
      await page.locator('.sign-in').waitFor();
      await looked(page, 'sign-in');
      expect([dialog, await accessibilityFaults(page), problems]).toEqual([[], [], []]);
      await page.context().close();
    });
  });
});
