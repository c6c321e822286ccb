import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { goTo, openScreen, sharedDashboard } from '../../support/dashboard/dashboard-fixture.js';
import { ROLES, SCREENS } from '../../support/dashboard/every-screen.js';
import { EMPTY, FULL, meOf, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { accessibilityFaults, hasBrowser, type OpenedPage } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

const FILLED = [
  ['full', FULL],
  ['empty', EMPTY],
] as const;

const WIDTHS = [1280, 320] as const;

/** Each theme in each language. A page is opened with the first one. */
const LOOKS = [
  ['light', 'en'],
  ['dark', 'en'],
  ['dark', 'fr'],
  ['light', 'fr'],
] as const;

/** The pictures in `docs/screenshots`: two for each screen and width. */
const PICTURES = ['full-1280-light-en', 'full-320-dark-en', 'empty-1280-dark-fr', 'empty-320-light-fr'];

/** The accessibility rules that depend on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

suite('every screen of the dashboard, in both themes and languages', () => {
  const shared = sharedDashboard();

  describe.each(FILLED)('%s', (name, routes) => {
    describe.each(WIDTHS)('%i wide', (width) => {
      let opened: OpenedPage;

      const open = async (role: (typeof ROLES)[number], screen: string) => {
        shared.fixture.api.routes = { ...sessionRoutes(role), ...routes };
        const viewport = { width, height: 800 };
        opened = await openScreen(shared.browser, shared.fixture, screen, {
          viewport,
          colorScheme: 'light',
          locale: 'en',
        });
      };

      /** Checks the page in each theme and language, without a reload. */
      const look = async (screen: string, title: RegExp) => {
        const { page, problems } = opened;
        let spoken = '';
        for (const [colorScheme, language] of LOOKS) {
          await page.emulateMedia({ colorScheme });
          // Sets the value by script, because on a phone the choice is in a closed menu.
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

        test.each(SCREENS[role])(
          '%s fits its width, runs no injected script, and breaks no rule of accessibility',
          async (screen, title) => {
            await goTo(opened.page, screen);
            await look(screen, title);
          },
        );
      });

      test('a dialog and the sign-in screen do so too', async () => {
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

  test('what stands still is said on the screens that it concerns', async () => {
    const standstills = [
      { kind: 'deliveries_paused', channel: 'sms', target: 'acc_1' },
      { kind: 'webhook_failing', channel: null, target: 'w-1' },
    ];
    shared.fixture.api.routes = { ...sessionRoutes('admin'), ...FULL, 'GET me': { ...meOf('admin'), standstills } };
    const { page } = await openScreen(shared.browser, shared.fixture, 'compose', { locale: 'en' });
    const paused = page.getByText('The operator has paused deliveries: SMS.');
    const failing = page.getByText('An endpoint is failing.');
    await paused.waitFor();
    expect(await failing.count()).toBe(0);
    await goTo(page, 'webhooks');
    await failing.waitFor();
    expect(await paused.count()).toBe(0);
    await goTo(page, 'keys');
    await failing.waitFor({ state: 'detached' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().close();
  });

  test('forced colours show the focus, the present screen and every state', async () => {
    shared.fixture.api.routes = { ...sessionRoutes('admin'), ...FULL };
    const options = { forcedColors: 'active', colorScheme: 'dark', locale: 'en' } as const;
    const { page } = await openScreen(shared.browser, shared.fixture, 'messages/m-2', options);
    await page.locator('main summary').nth(1).click();
    /** Whether the browser draws an outline, a border or a background that differs from the page's. */
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
    expect(new Set(await drawn('.timeline li', 'ground', '::before'))).toEqual(new Set([true]));
    expect(await drawn('nav [aria-current=page]', 'outline')).toEqual([true]);
    // The skip link, a link of the navigation, a button and a field, each focused by keyboard.
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
