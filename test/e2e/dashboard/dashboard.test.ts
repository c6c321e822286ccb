import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  VersioningType,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Browser } from 'playwright-core';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { isMessagingRoute } from '../../../src/http/messaging-route.js';
import {
  type DashboardFixture,
  type FixtureOptions,
  startDashboard,
} from '../../support/dashboard/dashboard-fixture.js';
import { FULL, sessionRoutes } from '../../support/dashboard/fake-data.js';
import { hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { rawGet } from '../../support/http/raw-get.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

const prefixed = (app: INestApplication): void => {
  app.setGlobalPrefix('svc');
};
const unwrapped = (path: string): string => path.replace(/^\/edge\/panel/, '/dashboard').replace(/^\/edge/, '');

/** Where the page is mounted, and its path in the browser. */
const MOUNTS: readonly (readonly [name: string, path: string, setup: FixtureOptions])[] = [
  ['plain', '/dashboard', {}],
  ['a prefix', '/svc/dashboard', { configure: prefixed, place: { root: '/svc/api/v1/' } }],
  ['a proxy that removes a folder', '/edge/dashboard', { place: { root: '/edge/api/v1/', rewrite: unwrapped } }],
  [
    'a proxy that removes a folder, and a prefix',
    '/edge/svc/dashboard',
    { configure: prefixed, place: { root: '/edge/svc/api/v1/', rewrite: unwrapped } },
  ],
  [
    'a proxy that renames the page, deep paths',
    '/edge/panel',
    {
      options: { path: 'dashboard', apiUrl: '/elsewhere/v1' },
      place: { root: '/elsewhere/v1/', rewrite: unwrapped },
    },
  ],
  ['a deep path', '/people/of/ours', { options: { path: 'people/of/ours' } }],
  [
    'versions of the host',
    '/dashboard',
    { configure: (app) => void app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }) },
  ],
];

const suite = hasBrowser() ? describe : describe.skip;

suite.each<Adapter>(['express', 'fastify'])('the dashboard in a browser, wherever it is mounted (%s)', (adapter) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
  });

  test.each(MOUNTS)('%s', async (_, path, setup) => {
    const fixture = await startDashboard({ ...sessionRoutes('admin'), ...FULL }, { adapter, ...setup });
    await Promise.all(
      ['', '/', '?from=mail'].map(async (end) => {
        const { page, problems } = await openPage(browser, `${fixture.url}${path}${end}#link=secret`, {});
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
        await page.getByText('12,480').waitFor();
        expect([end, await page.evaluate('location.hash'), problems]).toEqual([end, '#/', []]);
        await page.context().close();
      }),
    );
    await fixture.close();
  });
});

(hasBrowser() ? test : test.skip)('the first view loads three files, without the drawing library', async () => {
  const browser = await startBrowser();
  const fixture = await startDashboard({ ...sessionRoutes('admin'), ...FULL });
  const { page } = await openPage(browser, 'about:blank', {});
  const files: string[] = [];
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname;
    if (path.startsWith('/dashboard')) files.push(path.replace(/-[\w-]{8}\./, '.'));
  });
  await page.goto(`${fixture.url}/dashboard#link=secret`);
  await page.getByText('12,480').waitFor();
  expect(files.sort()).toEqual(['/dashboard', '/dashboard/assets/main.css', '/dashboard/assets/main.js']);
  await browser.close();
  await fixture.close();
});

describeOnBothAdapters('the files of the dashboard', (adapter) => {
  let fixture: DashboardFixture;
  let page: string;
  let script: string;

  beforeAll(async () => {
    fixture = await startDashboard(
      {},
      { adapter, options: { name: '<b>"Acme" & co</b>', colors: { brand: '#aa3300' } } },
    );
    page = `${fixture.app.url}/dashboard`;
    script = /data-script="([^"]+)"/.exec(await (await fetch(page)).text())?.[1] ?? '';
  });

  afterAll(() => fixture.close());

  test('the page allows only its own files, is revalidated each time, and escapes the host’s texts', async () => {
    const answer = await fetch(page);
    const html = await answer.text();
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/html; charset=utf-8',
    });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(html).not.toContain('<b>');
    expect(html).toContain('--brand:#aa3300');
    const again = await fetch(page, { headers: { 'If-None-Match': headers.etag ?? '' } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('a file is cached permanently, and compressed for clients that accept it', async () => {
    const file = `${page}/assets/${script}`;
    const forms = await Promise.all(
      ['br, gzip', 'gzip', 'br;q=0, gzip;q=0.5', 'identity', ''].map((accepted) =>
        rawGet(file, { 'accept-encoding': accepted }),
      ),
    );
    expect(forms.map(({ headers }) => headers['content-encoding'])).toEqual([
      'br',
      'gzip',
      'gzip',
      undefined,
      undefined,
    ]);
    const [br, gzip, , identity] = forms.map(({ body }) => body);
    const whole = identity ?? Buffer.alloc(0);
    expect(brotliDecompressSync(br ?? '').equals(whole)).toBe(true);
    expect(gunzipSync(gzip ?? '').equals(whole)).toBe(true);
    expect(forms[0]?.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(br?.length),
      'x-content-type-options': 'nosniff',
    });
    expect(forms[0]?.headers.vary?.toLowerCase()).toContain('accept-encoding');
    const head = await rawGet(file, { 'accept-encoding': 'gzip' }, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(gzip?.length), 0]);
    expect((await rawGet(page, {}, 'HEAD')).status).toBe(200);
  });

  test.each(['nothing.js', '..%2f..%2fpackage.json', 'manifest.json', '%00.js', '<script>.js'])(
    'there is no file %s',
    async (name) => {
      const answer = await fetch(`${page}/assets/${name}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('x-error-code')).toBe('file_not_found');
    },
  );
});

test.each([false, true])(
  'Fastify finds the page with a slash at its end; ignoreTrailingSlash %s',
  async (ignoreTrailingSlash) => {
    const platform = new FastifyAdapter({ routerOptions: { ignoreTrailingSlash } });
    const fixture = await startDashboard({}, { adapter: 'fastify', platform });
    const answers = await Promise.all(['', '/', '/?x'].map((end) => fetch(`${fixture.app.url}/dashboard${end}`)));
    const other = await fetch(`${fixture.app.url}/dashboard//`);
    await fixture.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(other.status).toBe(404);
  },
);

describe('a host', () => {
  const fixtures: DashboardFixture[] = [];

  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.close();
  });

  test.each([true, false])('decides about the page by a global guard that uses isMessagingRoute (%s)', async (asks) => {
    @Injectable()
    class Closed implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        return asks && isMessagingRoute(context);
      }
    }
    const fixture = await startDashboard({}, { configure: (app) => void app.useGlobalGuards(new Closed()) });
    fixtures.push(fixture);
    expect((await fetch(`${fixture.app.url}/dashboard`)).status).toBe(asks ? 200 : 403);
  });

  test('chooses the pages that may show the dashboard in a frame', async () => {
    const fixture = await startDashboard({}, { options: { frameAncestors: ['https://app.example.test'] } });
    fixtures.push(fixture);
    const policy = (await fetch(`${fixture.app.url}/dashboard`)).headers.get('content-security-policy');
    expect(policy).toContain('frame-ancestors https://app.example.test;');
  });
});

test.each([
  [{ path: 'a/../b' }, 'DashboardModule: option path must be one or more segments'],
  [{ colors: { brand: 'red;}' } }, 'DashboardModule: option colors.brand must be a colour such as "#2f5bd0".'],
  [{ logo: 'javascript:alert(1)' }, 'DashboardModule: option logo must be a path of this server or a URL'],
  [{ apiUrl: '//elsewhere' }, 'DashboardModule: option apiUrl must be a path of this server or a URL'],
  [{ frameAncestors: ['*'] }, 'DashboardModule: option frameAncestors[0] must be an origin'],
  [{ name: ' ' }, 'DashboardModule: option name must be a text of 1 to 60 characters.'],
  [{ title: 'x' }, 'DashboardModule: option title is not known; the known options are path, name'],
])('refuses the option %j', (options, sentence) => {
  expect(() => DashboardModule.forRoot(Object(options))).toThrow(sentence);
});

describe('the built application', () => {
  const at = (name: string): Buffer => readFileSync(join(ROOT, 'build/dashboard/app', name));
  const { script, style, files }: Record<'script' | 'style', string> & { files: object } = JSON.parse(
    at('manifest.json').toString(),
  );

  test('has a first view of at most 35 kB, and is small as a whole', () => {
    const size = (name: string): number => at(`${name}.br`).length;
    expect(size(script) + size(style)).toBeLessThanOrEqual(35_000);
    const all = Object.keys(files).map((name) => at(`${name}.br`).length);
    expect(all.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(130 * 1024);
  });

  test('has names that change with the content, and no maps', () => {
    expect(Object.keys(files).filter((name) => !/^[\w-]+-[\w-]{8}\.(js|css)$/.test(name))).toEqual([]);
    const texts = Object.keys(files).map((name) => brotliDecompressSync(at(`${name}.br`)).toString());
    expect(texts.filter((text) => text.includes('sourceMappingURL'))).toEqual([]);
  });
});
