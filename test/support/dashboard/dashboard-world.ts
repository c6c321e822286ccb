import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { DashboardModule, type DashboardOptions } from '../../../src/dashboard/index.js';
import type { Adapter, AppSetup } from '../http-apps.js';
import { type MessagingApp, startMessaging } from '../messaging-app.js';
import { type OpenedPage, openPage } from '../page-browser.js';
import { until } from '../until.js';
import { FakeApi, type FakePlace, type FakeRoutes } from './fake-api.js';

/** An application with the dashboard, behind a server that answers as the API. */
export interface DashboardWorld {
  readonly api: FakeApi;
  /** The server that the browser sees, without a slash at its end. */
  readonly url: string;
  readonly app: MessagingApp;
  close(): Promise<void>;
}

/** How the application is set up, and what stands before it. */
export interface WorldOptions extends Pick<AppSetup, 'configure' | 'platform'> {
  readonly adapter?: Adapter;
  readonly options?: DashboardOptions;
  readonly place?: Omit<FakePlace, 'app'>;
}

export async function startDashboard(
  routes: FakeRoutes,
  { adapter = 'express', options, place, ...setup }: WorldOptions = {},
): Promise<DashboardWorld> {
  const app = await startMessaging(adapter, {}, { imports: [DashboardModule.forRoot(options)], ...setup });
  const api = new FakeApi(routes, { app: app.url, ...place });
  const url = await api.start();
  return {
    api,
    url,
    app,
    close: async () => {
      await api.stop();
      await app.close();
    },
  };
}

/** Opens a screen, signed in by a link. */
export async function openScreen(
  browser: Browser,
  { url }: Pick<DashboardWorld, 'url'>,
  screen: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(browser, `${url}/dashboard#link=secret`, { reducedMotion: 'reduce', ...options });
  await opened.page.locator('#screen').waitFor();
  await goTo(opened.page, screen);
  return opened;
}

/** Goes to a screen as its address in a message would. Afterwards the screen before is gone, and this one has its data. */
export async function goTo(page: Page, screen: string): Promise<void> {
  await page.evaluate(`new Promise((drawn) => {
    const { hash } = new URL('#/${screen}', location.href);
    if (hash === location.hash) return drawn();
    // The page listens too, and was first; it draws before the next task.
    addEventListener('hashchange', () => setTimeout(drawn), { once: true });
    location.hash = hash;
  })`);
  await page.locator('main h1').waitFor();
  await until(async () => (await page.locator('main .loading').count()) === 0);
}
