import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { goTo, openScreen, sharedDashboard } from '../../support/dashboard/dashboard-fixture.js';
import { ROLES, SCREENS } from '../../support/dashboard/every-screen.js';
import { FULL, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { hasBrowser, type OpenedPage } from '../../support/dashboard/page-browser.js';

const suite = hasBrowser() ? describe : describe.skip;

/** From a small phone to a wide desktop, with the widths of tablets, of half a desktop, and of both sides of each breakpoint. */
const WIDTHS = [
  320, 360, 390, 430, 540, 640, 720, 760, 761, 768, 820, 900, 980, 1024, 1100, 1180, 1200, 1280, 1440, 1920,
];

/** The widths of the pictures that a person looks at. */
const PICTURES = [390, 768, 1024, 1280, 1920];

/** How far the page sticks out of its window, and the cells whose text is cut off. */
const FAULTS = `[
  document.documentElement.scrollWidth - innerWidth,
  [...document.querySelectorAll('main td, main th')]
    .filter((cell) => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1 && !cell.closest('thead'))
    .map((cell) => cell.dataset.title + ': ' + cell.textContent),
]`;

suite('no screen is wider than its window', () => {
  const shared = sharedDashboard();

  test('a printed list is a table without the navigation, filters and buttons', async () => {
    shared.fixture.api.routes = { ...sessionRoutes('admin'), ...FULL };
    // The width of a page of A4 within its margins.
    const look = { viewport: { width: 718, height: 1000 }, locale: 'en', colorScheme: 'dark' } as const;
    const { page } = await openScreen(shared.browser, shared.fixture, 'messages', look);
    await page.emulateMedia({ media: 'print' });
    const seen = (selector: string) => page.locator(selector).first().isVisible();
    expect(
      await Promise.all(['main td', 'main thead th', 'nav', 'search', '.screen-actions', '.top'].map(seen)),
    ).toEqual([true, true, false, false, false, false]);
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
    expect(await page.evaluate(FAULTS)).toEqual([0, []]);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/print.png` });
    await page.context().close();
  });

  describe.each(ROLES)('%s', (role) => {
    describe.each(['en', 'fr'])('in %s', (locale) => {
      let opened: OpenedPage;

      beforeAll(async () => {
        shared.fixture.api.routes = { ...sessionRoutes(role), ...FULL };
        opened = await openScreen(shared.browser, shared.fixture, '', {
          viewport: { width: 1280, height: 800 },
          locale,
        });
      });

      afterAll(() => opened.page.context().close());

      test.each(SCREENS[role].map(([screen]) => screen))('%s', async (screen) => {
        const { page } = opened;
        await goTo(page, screen);
        const faults: unknown[] = [];
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          const [tooWide, cut] = await page.evaluate<[number, readonly string[]]>(FAULTS);
          if (tooWide !== 0 || cut.length > 0) faults.push({ width, tooWide, cut });
          if (process.env.SCREENSHOTS && PICTURES.includes(width)) {
            const file = `${process.env.SCREENSHOTS}/${screen.replaceAll('/', '-')}-${width}-${locale}.png`;
            await page.screenshot({ path: file, fullPage: true });
          }
        }
        expect(faults).toEqual([]);
      });
    });
  });
});
