import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { makeApiKey } from '../../../src/accounts/keys/api-key.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { StoreClass } from '../../../src/storage/engine/database.js';
import { type PrometheusOptions, PrometheusTelemetry } from '../../../src/telemetry/prometheus/index.js';
import { type MeasureOrder, StorageMeter } from '../../../src/telemetry/storage-meter.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { until } from '../../support/common/until.js';
import { inPlaceOf } from '../../support/databases/store-in-place.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { startRefusal } from '../../support/mounting/start-refusal.js';
import { OtpApp, wrongFor } from '../../support/otp/otp-app.js';

const SECRET = 'Zb2mXq8vT4nK7pLw9sRd3fGh6jYc1uAe';
const AS_SCRAPER = { headers: { authorization: `Bearer ${SECRET}` } };

unmountAfterEach();

/** The options of a service whose metrics Prometheus reads. */
function withMetrics(options: PrometheusOptions = { route: { secret: SECRET } }) {
  return {
    ...OPTIONS,
    otp: { pepper: 'k3R9vXw2QpL7mZt5YbN8cJd4FgH6sAeU' },
    telemetry: PrometheusTelemetry.forRoot(options),
  };
}

/** The value of a series: `name{labels}` as Prometheus writes it. */
function seriesOf(page: string, series: string): number | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

async function send(client: ApiClient, number = '22670000000') {
  await client.sent({ signature: 'INFOS', content: 'Bonjour', number: [number] });
}

describeOnBothAdapters('GET /metrics', (adapter) => {
  const scrape = async (url: string) => (await fetch(`${url}/api/v1/metrics`, AS_SCRAPER)).text();

  test('has what was sent, charged, handed over and delivered, in a form that promtool accepts', async () => {
    const { app, url } = await mount(adapter, [MessagingModule.forRoot(withMetrics())]);
    const client = await clientOf({ app, url });
    await send(client);
    await send(client, '33612345678');
    await client.call('send/sms', {
      method: 'POST',
      body: JSON.stringify({ signature: 'INFOS', content: 'x', number: Array(20).fill('22670000001') }),
    });
    const delivered = 'messaging_deliveries_total{channel="sms",status="delivered"}';
    const page = await until(
      () => scrape(url),
      (seen) => seriesOf(seen, delivered) === 2 && seriesOf(seen, 'messaging_storage_up') === 1,
    );
    expect(seriesOf(page, 'messaging_charged_units_total{channel="sms",account=""}')).toBe(4);
    expect(seriesOf(page, 'messaging_posted_units_total{kind="topup"}')).toBe(10);
    expect(seriesOf(page, 'messaging_accept_duration_seconds_count{channel="sms",outcome="accepted"}')).toBe(2);
    expect(seriesOf(page, 'messaging_first_handover_seconds_count{channel="sms",priority="normal"}')).toBe(2);
    expect(seriesOf(page, 'messaging_carrier_submits_total{route="sandbox",result="sent"}')).toBe(2);
    expect(seriesOf(page, 'messaging_open_deliveries{channel="sms",status="queued"}')).toBeDefined();
    expect(seriesOf(page, 'messaging_oldest_due_seconds{channel="sms",priority="code"}')).toBe(0);
    expect(page).toMatch(/^messaging_worker_last_round_timestamp_seconds\{worker="deliver sms"\} \d/m);
    // No check of the ledger has ended, and SQLite has no snapshots: a missing value is not 0.
    expect(seriesOf(page, 'messaging_ledger_findings')).toBeUndefined();
    expect(seriesOf(page, 'messaging_storage_oldest_snapshot_seconds')).toBeUndefined();
    expect(await app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
    expect(seriesOf(await scrape(url), 'messaging_ledger_findings')).toBe(0);
    const { status, stderr, error } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
    // Debian's package `prometheus` has it.
    if (error === undefined) expect([status, stderr]).toEqual([0, '']);
  });

  test('has the codes that were sent, tried, verified and refused', async () => {
    const telemetry = PrometheusTelemetry.forRoot();
    const made = telemetry.useFactory();
    const otp = await OtpApp.start(adapter, { messaging: { telemetry: { useFactory: () => made } } });
    try {
      const code = await otp.codeFor('22670000000');
      const attempt = { service: 'Boutique', number: '22670000000' };
      await otp.verify({ ...attempt, otp: wrongFor(code) });
      expect((await otp.verify({ ...attempt, otp: code })).status).toBe(200);
      for (let more = 0; more < 6; more++) await otp.send({ service: 'Boutique', number: '22670000001' });
      const { body: page } = await (await made).scrape();
      expect(seriesOf(page, 'messaging_codes_verified_total{country="BF"}')).toBe(1);
      expect(seriesOf(page, 'messaging_code_checks_total{result="wrong"}')).toBe(1);
      expect(seriesOf(page, 'messaging_code_checks_total{result="verified"}')).toBe(1);
      expect(page).toMatch(/^messaging_codes_sent_total\{country="BF"\} \d$/m);
      expect(page).toMatch(/^messaging_code_refusals_total\{reason="(sends|cooldown)"\} \d$/m);
      expect(page).toMatch(/^messaging_accept_refusals_total\{channel="sms",reason="otp_too_many_codes"\} \d$/m);
    } finally {
      await otp.close();
    }
  });

  test('needs the secret, and does not exist unless it was configured', async () => {
    const open = await mount(adapter, [MessagingModule.forRoot(withMetrics())]);
    const client = await clientOf(open);
    const path = `${open.url}/api/v1/metrics`;
    const statusOf = async (headers: Record<string, string>) => (await fetch(path, { headers })).status;
    expect(await statusOf(AS_SCRAPER.headers)).toBe(200);
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${SECRET}x` })).toBe(401);
    expect(await statusOf({ authorization: `Basic ${SECRET}` })).toBe(401);
    expect(await statusOf({ 'x-api-key': client.key })).toBe(401);
    // The secret is not an API key for anything else.
    expect((await fetch(`${open.url}/api/v1/balance`, AS_SCRAPER)).status).toBe(401);
    const closed = await mount(adapter, [MessagingModule.forRoot(withMetrics({}))]);
    expect((await fetch(`${closed.url}/api/v1/metrics`, AS_SCRAPER)).status).toBe(404);
  });

  test('admits whom a guard of the host admits', async () => {
    class Inside implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        return context.switchToHttp().getRequest<{ headers: object }>().headers['x-inside' as never] !== undefined;
      }
    }
    const { url } = await mount(adapter, [MessagingModule.forRoot(withMetrics({ route: { guard: Inside } }))]);
    expect((await fetch(`${url}/api/v1/metrics`)).status).toBe(403);
    expect((await fetch(`${url}/api/v1/metrics`, { headers: { 'x-inside': '1' } })).status).toBe(200);
  });

  test('answers from memory while the storage is unavailable, and shows that it is', async () => {
    const clock = new FakeClock();
    let isGone = false;
    class Failing extends MemoryStorage {
      override store<S extends object>(Store: StoreClass<S>): S {
        const meter = super.store(StorageMeter);
        const measure = (order: MeasureOrder) =>
          isGone ? Promise.reject(new StorageUnavailableError('Gone.')) : meter.measure(order);
        return inPlaceOf(Store, Object.assign(Object.create(meter), { measure })) ?? super.store(Store);
      }
    }
    const { url } = await mount(adapter, [
      MessagingModule.forRoot({ ...withMetrics(), storage: Failing, clock: { useValue: clock } }),
    ]);
    const up = (page: string) => seriesOf(page, 'messaging_storage_up');
    await until(
      () => scrape(url),
      (page) => up(page) === 1,
    );
    isGone = true;
    await clock.advance(10_000);
    const page = await until(
      () => scrape(url),
      (seen) => up(seen) === 0,
    );
    expect(seriesOf(page, 'messaging_open_deliveries{channel="sms",status="queued"}')).toBe(0);
  });

  test('is separate for two services in a process, and a registry with our names stops the second start', async () => {
    const first = await mount(adapter, [MessagingModule.forRoot(withMetrics())]);
    await mount(adapter, [MessagingModule.forRoot(withMetrics())]);
    await send(await clientOf(first));
    expect(await scrape(first.url)).toContain('messaging_charged_units_total{channel="sms",account=""} 1');
    const registry = new Registry();
    new Counter({ name: 'host_total', help: 'x', registers: [registry] });
    const hosted = await mount(adapter, [MessagingModule.forRoot(withMetrics({ registry }))]);
    expect(await registry.metrics()).toContain('messaging_storage_up');
    const refusal = await startRefusal(MessagingModule.forRoot, withMetrics({ registry }));
    expect(refusal).toMatch(/^PrometheusTelemetry: the registry has a metric messaging_\w+ already\. Give each/);
    await hosted.close();
    expect(await registry.metrics()).not.toContain('messaging_');
    expect(await registry.metrics()).toContain('host_total');
  });

  test('is answered while the application shuts down', async () => {
    const { app, url } = await mount(adapter, [MessagingModule.forRoot(withMetrics())]);
    const closing = app.close();
    const answered = await fetch(`${url}/api/v1/metrics`, AS_SCRAPER).then(
      ({ status }) => status,
      () => 'connection refused',
    );
    // Once the server accepts nothing more, it says so: with our own answer, or with the platform's.
    expect([200, 503, 'connection refused']).toContain(answered);
    await closing;
  });
});

test.each([
  [{ route: {} }, 'Option telemetry: route needs a secret'],
  [{ route: { secret: 'short' } }, 'Option telemetry: route.secret must have at least 32'],
  [
    { route: { secret: makeApiKey(new UuidGenerator()).key } },
    'Option telemetry: route.secret must not have the form of an API key or a JWT',
  ],
  [{ route: { secret: SECRET, guard: 'x' } }, 'Option telemetry: route.guard must be the class of a guard'],
  [{ route: { password: SECRET } }, 'Option telemetry: route.password is not known'],
  [{ registry: 5 }, 'PrometheusTelemetry: registry must be a Registry of prom-client'],
  [{ accounts: Array(33).fill('a') }, 'PrometheusTelemetry: accounts must name at most 32 accounts'],
])('%# a wrong option stops the start with a sentence', (options, sentence) => {
  expect(() => MessagingModule.forRoot(withMetrics(options as never))).toThrow(sentence);
});
