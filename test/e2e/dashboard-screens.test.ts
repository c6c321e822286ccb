import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type DashboardWorld, goTo, openScreen, startDashboard } from '../support/dashboard/dashboard-world.js';
import { EMPTY, FULL, sessionRoutes } from '../support/dashboard/fake-data.js';
import { accessibilityFaults, hasBrowser, type OpenedPage, startBrowser } from '../support/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

const ROLES = ['admin', 'operator'] as const;

/** The screens by the role that sees them, with their titles. */
const SCREENS: Readonly<Record<(typeof ROLES)[number], readonly (readonly [screen: string, title: RegExp])[]>> = {
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
};

const FILLED = [
  ['full', FULL],
  ['empty', EMPTY],
] as const;

const WIDTHS = [1280, 320] as const;

/** A page as it looks: each theme in each language. The first is the one that a page is opened in. */
const LOOKS = [
  ['light', 'en'],
  ['dark', 'en'],
  ['dark', 'fr'],
  ['light', 'fr'],
] as const;

/** The pictures that `docs/screenshots` has; each screen in two looks for each width. */
const PICTURES = ['full-1280-light-en', 'full-320-dark-en', 'empty-1280-dark-fr', 'empty-320-light-fr'];

/** Of the rules, those that depend on the colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

suite('every screen of the dashboard, in both themes and languages', () => {
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
    describe.each(WIDTHS)('%i wide', (width) => {
      let opened: OpenedPage;

      const open = async (role: (typeof ROLES)[number], screen: string) => {
        world.api.routes = { ...sessionRoutes(role), ...routes };
        const viewport = { width, height: 800 };
        opened = await openScreen(browser, world, screen, { viewport, colorScheme: 'light', locale: 'en' });
      };

      /** Looks at what is on the page in each theme and language, which are switched where the page stands. */
      const look = async (screen: string, title: RegExp) => {
        const { page, problems } = opened;
        let spoken = '';
        for (const [colorScheme, language] of LOOKS) {
          await page.emulateMedia({ colorScheme });
          // By the hand of the page itself: on a phone the choice is in a menu that is closed.
          await page.evaluate(`{
            const choice = document.querySelector('.choices select');
            choice.value = '${language}';
            choice.dispatchEvent(new InputEvent('input', { bubbles: true }));
          }`);
          await page.getByRole('heading', { name: title }).first().waitFor();
          const picture = `${name}-${width}-${colorScheme}-${language}`;
          if (process.env.SCREENSHOTS && PICTURES.includes(picture)) {
            const file = `${process.env.SCREENSHOTS}/${screen.replaceAll('/', '-')}-${picture}.png`;
            await page.screenshot({ path: file, fullPage: true });
          }
          const [lang, scroll, hacked] = await page.evaluate<unknown[]>(
            '[document.documentElement.lang, document.documentElement.scrollWidth, window.hacked]',
          );
          expect({ lang, scroll, hacked }).toEqual({ lang: language, scroll: width, hacked: undefined });
          // Colours apart, the tree is the same in both themes.
          const faults = await accessibilityFaults(page, language === spoken ? COLOUR_RULES : undefined);
          expect([colorScheme, language, faults, problems]).toEqual([colorScheme, language, [], []]);
          spoken = language;
        }
      };

      afterAll(() => opened?.page.context().close());

      describe.each(ROLES)('%s', (role) => {
        beforeAll(() => open(role, ''));

        afterAll(() => opened.page.context().close());

        test.each(SCREENS[role])('%s fits, runs nothing, breaks no rule', async (screen, title) => {
          await goTo(opened.page, screen);
          await look(screen, title);
        });
      });

      test('so do a dialog and the sign-in screen', async () => {
        await open('admin', 'keys');
        const { page } = opened;
        await page.locator('.screen-actions .main').click();
        await look('keys-dialog', /^(New key|Nouvelle clé)$/);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        if (width < 760) await page.locator('.top .button').click();
        await page.locator('.who > .button').click();
        await page.locator('.sign-in').waitFor();
        await look('sign-in', /^(Sign in|Connexion)$/);
        await page.context().close();
      });
    });
  });

  test('in forced colours the focus, the present screen and every state are seen', async () => {
    world.api.routes = { ...sessionRoutes('admin'), ...FULL };
    const options = { forcedColors: 'active', colorScheme: 'dark', locale: 'en' } as const;
    const { page } = await openScreen(browser, world, 'messages/m-2', options);
    await page.locator('main summary').nth(1).click();
    /** Whether the browser draws a ring, an edge or a ground that differs from the page's, by a selector. */
    const drawn = (selector: string, what: 'outline' | 'border' | 'ground', pseudo = '') =>
      page.evaluate<readonly boolean[]>(`[...document.querySelectorAll('${selector}')]
        .filter((element) => element.checkVisibility())
        .map((element) => {
          const style = getComputedStyle(element, '${pseudo}' || null);
          const page = getComputedStyle(document.body).backgroundColor;
          const line = (name) => style[name + 'Style'] !== 'none' && parseFloat(style[name + 'Width']) >= 1 && style[name + 'Color'] !== page;
          const ground = style.backgroundColor !== page && style.backgroundColor !== 'rgba(0, 0, 0, 0)';
          return { outline: line('outline'), border: line('borderTop'), ground: ground || line('borderTop') }['${what}'];
        })`);
    expect(new Set(await drawn('.badge', 'border'))).toEqual(new Set([true]));
    expect(new Set(await drawn('.way li', 'ground', '::before'))).toEqual(new Set([true]));
    expect(await drawn('nav [aria-current=page]', 'outline')).toEqual([true]);
    // The skip link, a link of the navigation, a button and a field, by the keyboard.
    await page.keyboard.press('Tab');
    for (const selector of ['.skip', 'nav a', 'main button', 'main select', 'main summary']) {
      await page.locator(selector).first().focus();
      expect([selector, await drawn(':focus-visible', 'outline')]).toEqual([selector, [true]]);
    }
    await goTo(page, 'webhooks/live');
    await page.getByText('optout.added').first().waitFor();
    expect(await drawn('.stream-state', 'ground', '::before')).toEqual([true]);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /A screen/ }).waitFor();
    expect(await drawn('.found [aria-selected=true]', 'outline')).toEqual([true]);
    expect(await accessibilityFaults(page)).toEqual([]);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/forced.png` });
    await page.context().close();
  });
});
