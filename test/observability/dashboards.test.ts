import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/common/until.js';
import { call } from '../support/http/http-client.js';
import { buildSampleApp, type SampleApp, sampleFolder, startSampleApp } from '../support/sample-app/sample-app.js';
import { program } from '../support/transports/carriers/installed.js';
import { OwnPrometheus } from './prometheus.js';
import { alertExpressions, dashboardExpressions, hasPrometheus, RULES } from './shipped.js';

/** Recipients that no balance here covers, at 197 segments each. */
const MANY = Array.from({ length: 90 }, (_, index) => String(22_671_000_000 + index));

const METRICS_PATH = '/api/v1/metrics';

/** Panels that must show something after some seconds of traffic on the sandbox. */
const MAIN = [
  'Sends accepted',
  'Time of an accept, p50 and p99',
  'Oldest due message',
  'Open deliveries',
  'Deliveries by state',
  'Delivery rate, one hour',
  'Last round of each worker',
  'Storage: time of operations, p95',
  'Attempts by result',
  'Units charged',
  'Accounts below their threshold',
  'Codes sent',
  'Codes verified',
  'Conversion, one hour',
  'Refusals',
  'Units given back, by reason',
  'Tries by result',
].map((title) => `: ${title}`);

(hasPrometheus() ? describe : describe.skip)('the sample app under Prometheus', () => {
  const folder = sampleFolder();
  const secret = randomBytes(32).toString('base64url');
  let app: SampleApp;
  let prometheus: OwnPrometheus;
  let scraped: string;

  const post = (path: string, body: unknown) =>
    call(`${app.url}/api/v1/${path}`, { method: 'POST', headers: { 'x-api-key': app.key }, body });

  /** Sends, codes that are verified and one that is not, and refusals. */
  async function traffic(round: number): Promise<void> {
    const number = `2267000${String(round).padStart(4, '0')}`;
    await post('send/sms', { signature: 'INFOS', content: 'Bonjour', number: [number, '22670990001'] });
    await post('send/sms', { signature: 'INFOS', content: 'x'.repeat(30_000), number: MANY });
    await post('send/otp', { service: 'Boutique', number });
    const phones = `${app.url}/sandbox/phones/${number}/messages`;
    const code = await until(
      async () => /"(\d{4}) est votre code/.exec(JSON.stringify((await call(phones)).body))?.[1],
      Boolean,
    );
    await post('verify/otp', { service: 'Boutique', number, otp: '0000' });
    await post('verify/otp', { service: 'Boutique', number, otp: code });
  }

  beforeAll(async () => {
    buildSampleApp();
    app = await startSampleApp(folder, { METRICS_SECRET: secret, DEMO_BALANCE: '15000' });
    prometheus = await OwnPrometheus.start(new URL(app.url).host, METRICS_PATH, secret, RULES);
    const begun = Date.now();
    // Two rounds of the gauges, and more than the interval of the rates.
    for (let round = 0; Date.now() - begun < 25_000; round++) await traffic(round);
    const headers = { authorization: `Bearer ${secret}` };
    scraped = String((await call(`${app.url}${METRICS_PATH}`, { headers })).body);
  });

  afterAll(async () => {
    await prometheus?.close();
    await app?.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  test('serves metrics in which promtool finds no fault', () => {
    const { status, stdout, stderr } = spawnSync(program('promtool'), ['check', 'metrics'], {
      input: scraped,
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
    expect(scraped).toMatch(/^messaging_accept_duration_seconds_bucket\{/m);
  });

  test('is scraped, and needs few series', async () => {
    expect(await prometheus.values('up{job="messaging"}')).toEqual([1]);
    const [series = 0] = await prometheus.values('count({__name__=~"messaging_.+"})');
    expect(series).toBeGreaterThan(100);
    expect(series).toBeLessThan(2000);
    expect((await prometheus.values('sum(messaging_storage_up)'))[0]).toBe(1);
  });

  test.each([...dashboardExpressions(), ...alertExpressions()])('$place is evaluated: $expr', async ({ expr }) => {
    expect(await prometheus.query(expr)).toMatchObject({ status: 'success' });
  });

  test.each(dashboardExpressions().filter(({ place }) => MAIN.some((title) => place.endsWith(title))))(
    '$place has data',
    async ({ expr }) => {
      const values = await prometheus.values(expr);
      expect(values.length).toBeGreaterThan(0);
      // A summary that was not used lately has no quantile.
      expect(values.some((value) => Number.isFinite(value))).toBe(true);
    },
  );

  test('no alert fires on a healthy service', async () => {
    expect(await prometheus.values('ALERTS{alertstate="firing"}')).toEqual([]);
  });

  test('shows no number, key or text', () => {
    expect(scraped).not.toMatch(/2267\d{7}|Bonjour/);
    expect(scraped).not.toContain(app.key);
    expect(scraped).not.toContain(secret);
  });
});
