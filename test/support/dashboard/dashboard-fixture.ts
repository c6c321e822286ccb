import { afterAll, beforeAll } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { DashboardModule, type DashboardOptions } from '../../../src/dashboard/index.js';
import { until } from '../common/until.js';
import type { Adapter, AppSetup } from '../http/http-apps.js';
import { type MessagingApp, startMessaging } from '../mounting/messaging-app.js';
import { FakeApi, type FakePlace, type FakeRoutes } from './fake-api.js';
import { type OpenedPage, openPage, startBrowser } from './page-browser.js';

/** An application with the dashboard, behind a server that acts as the API. */
export interface DashboardFixture {
  readonly api: FakeApi;
  /** The URL of the server that the browser uses, without a slash at its end. */
  readonly url: string;
  readonly app: MessagingApp;
  close(): Promise<void>;
}

/** How the application is set up, and the proxy in front of it. */
export interface FixtureOptions extends Pick<AppSetup, 'configure' | 'platform'> {
  readonly adapter?: Adapter;
  readonly options?: DashboardOptions;
  readonly place?: Omit<FakePlace, 'app'>;
}

export async function startDashboard(
  routes: FakeRoutes,
  { adapter = 'express', options, place, ...setup }: FixtureOptions = {},
): Promise<DashboardFixture> {
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

/** Signs in by a link and opens a screen. */
export async function openScreen(
  browser: Browser,
  { url }: Pick<DashboardFixture, 'url'>,
  screen: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(browser, `${url}/dashboard#link=secret`, { reducedMotion: 'reduce', ...options });
  await opened.page.locator('#screen').waitFor();
  await goTo(opened.page, screen);
  return opened;
}

/** Opens a screen by its address, and waits until it has replaced the earlier one and has its data. */
export async function goTo(page: Page, screen: string): Promise<void> {
  await page.evaluate(`new Promise((drawn) => {
    const { hash } = new URL('#/${screen}', location.href);
    if (hash === location.hash) return drawn();
    // The page has registered its listener earlier, so it renders before the next task.
    addEventListener('hashchange', () => setTimeout(drawn), { once: true });
    location.hash = hash;
  })`);
  await page.locator('main h1').waitFor();
  await until(async () => (await page.locator('main .loading').count()) === 0);
}

/** A browser, and an application with the dashboard. */
export interface SharedDashboard {
  readonly browser: Browser;
  readonly fixture: DashboardFixture;
}

/** Starts a browser and the dashboard before the tests of a suite, and stops them afterwards. Read the fields in tests only. */
export function sharedDashboard(): SharedDashboard {
  let browser: Browser | undefined;
  let fixture: DashboardFixture | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
    fixture = await startDashboard({});
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.close();
  });
  return {
    get browser() {
      return started(browser);
    },
    get fixture() {
      return started(fixture);
    },
  };
}

function started<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('The dashboard runs only while tests run.');
  return thing;
}
