import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from '../common/until.js';
import { hasPeer, program } from '../transports/carriers/installed.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether Chromium is installed; see `hasPeer`. */
export const hasBrowser = (): boolean => hasPeer('The page in a browser', 'chromium', ['chromium']);

/** Starts Debian's Chromium, with an empty profile. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: program('chromium'), args: QUIET, timeout: PATIENCE_MS });
}

/** A page in a browser, and its faults: console errors, violated policies, exceptions. */
export interface OpenedPage {
  readonly page: Page;
  readonly problems: readonly string[];
}

/** Opens an address in a context of its own. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  // Also for further pages, because on a busy machine everything comes late.
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (said) => {
    if (said.type() === 'error' || said.type() === 'warning') problems.push(said.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems };
}

/**
 * The findings of `axe-core` on a page: the broken rules with their elements.
 * @param rules the rules to check; default all
 */
export async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Evaluated by the debugger, to which no policy of the page applies.
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(readFileSync(AXE, 'utf8'));
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const found = await page.evaluate<readonly { id: string; nodes: readonly { target: readonly string[] }[] }[]>(
    `axe.run(${options}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/** Text that would run as a script if a page inserted it unescaped. */
export const HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">';

/** The widths and colour schemes in which a page is examined. */
export const FORMS = [
  [1280, 'light'],
  [1280, 'dark'],
  [360, 'light'],
  [360, 'dark'],
] as const;
