import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { METRICS, type MetricDefinition } from '../../../src/telemetry/metrics.js';
import { PrometheusTelemetry } from '../../../src/telemetry/prometheus/index.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { until } from '../../support/common/until.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

const folder = mkdtempSync(join(tmpdir(), 'messaging-telemetry-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('telemetry that throws in every measure and span does not affect a send', async () => {
  const fail = (): never => {
    throw new TypeError('broken');
  };
  const broken = { counter: () => fail, histogram: () => fail, gauge: () => undefined, span: fail };
  const running = await mount('express', [
    MessagingModule.forRoot({ ...OPTIONS, telemetry: { useValue: broken as never } }),
  ]);
  const client = await clientOf(running);
  const { smsID } = await client.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
  const { status } = await until(
    () => client.details(smsID),
    (seen) => seen.recipients[0]?.status === 'delivered',
  ).then((seen) => ({ status: seen.recipients[0]?.status }));
  expect(status).toBe('delivered');
  expect(await client.balance()).toBe(9);
});

test('two processes show the same values from the database, so dashboards take the maximum and add nothing up', async () => {
  const clock = new FakeClock();
  const start = async () => {
    const telemetry = PrometheusTelemetry.forRoot();
    const made = telemetry.useFactory();
    const running = await mount('express', [
      MessagingModule.forRoot({
        ...OPTIONS,
        role: 'api',
        clock: { useValue: clock },
        storage: TypeormStorage.forRoot({ url: `sqlite:${join(folder, 'two.db')}` }),
        telemetry: { useFactory: () => made },
      }),
    ]);
    return { running, page: async () => (await (await made).scrape()).body };
  };
  const [first, second] = [await start(), await start()];
  const client = await clientOf(first.running);
  await client.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000', '22670000001'] });
  await clock.advance(30_000);
  const open = 'messaging_open_deliveries{channel="sms",status="queued"} 2';
  for (const { page } of [first, second]) await until(page, (seen) => seen.includes(open));
  const ofDatabase = async (page: () => Promise<string>) => {
    const lines = (await page()).split('\n').filter((line) => line.startsWith('messaging_'));
    const definitions: readonly (readonly [string, MetricDefinition])[] = Object.entries(METRICS);
    const names = definitions.filter(([, { scope }]) => scope === 'database').map(([name]) => `messaging_${name}`);
    return lines.filter((line) => names.includes(/^\w+/.exec(line)?.[0] ?? ''));
  };
  const shown = await ofDatabase(first.page);
  expect(await ofDatabase(second.page)).toEqual(shown);
  expect(shown).toContain('messaging_oldest_due_seconds{channel="sms",priority="normal"} 30');
});
