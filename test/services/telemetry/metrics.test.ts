import { expect, test } from '@jest/globals';
import { SystemClock } from '../../../src/common/clock.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { PrometheusTelemetry } from '../../../src/telemetry/prometheus/index.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { OwnPostgres } from '../../torture/own-postgres.js';

const SECRET = 'Zb2mXq8vT4nK7pLw9sRd3fGh6jYc1uAe';

const opened = closeAfterEach();

/** Reads the gauges a hundred times as often. */
class HurriedClock extends SystemClock {
  override after(ms: number, task: () => void): () => void {
    return super.after(ms === 10_000 ? 100 : ms, task);
  }
}

/** The values that a page of metrics takes from the database. */
function ofTheDatabase(page: string): Readonly<Record<string, number>> {
  const lines = page.matchAll(/^(messaging_(?:open_deliveries|oldest_due|low_accounts|parked|sessions)\S*) (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, series, value]) => [series, Number(value)]));
}

const isUp = (wanted: number) => (page: string) => page.includes(`\nmessaging_storage_up ${wanted}\n`);
const QUEUED = 'messaging_open_deliveries{channel="sms",status="queued"}';

describeOnBothAdapters('GET /metrics', (adapter) => {
  test('answers with the last values while PostgreSQL is stopped, and goes on when it is back', async () => {
    const server = await OwnPostgres.orWarn('a scrape without a database');
    if (!server) return;
    opened(server);
    await server.execute('CREATE DATABASE metrics');
    const storage = TypeormStorage.forRoot({ url: server.url('metrics') });
    const telemetry = PrometheusTelemetry.forRoot({ route: { secret: SECRET } });
    // This process delivers nothing, so a sent message waits.
    const options = { storage, telemetry, role: 'api', clock: HurriedClock } as const;
    const { url, accountId, key } = opened(await startMessaging(adapter, options));
    const client = new ApiClient(`${url}/api/v1`, accountId, key);
    const scrape = async () => {
      const answer = await fetch(`${url}/api/v1/metrics`, { headers: { authorization: `Bearer ${SECRET}` } });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const sms = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
    await client.sent(sms);
    const before = await until(scrape, (page) => isUp(1)(page) && ofTheDatabase(page)[QUEUED] === 1);

    await server.stop('fast');
    const gone = await until(scrape, isUp(0));
    const aging = /^messaging_oldest_due/;
    const still = (page: string) => Object.entries(ofTheDatabase(page)).filter(([series]) => !aging.test(series));
    expect(still(gone)).toEqual(still(before));
    expect((await client.send(sms)).status).toBe(503);

    await server.start();
    await until(scrape, isUp(1));
    await client.sent(sms);
    await until(scrape, (page) => ofTheDatabase(page)[QUEUED] === 2);
  });
});
