import { expect, test } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { MessagingHealthIndicator } from 'nestjs-messaging/terminus';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call, type Reply } from '../../support/http/http-client.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { OwnPostgres } from '../../torture/own-postgres.js';

const opened = closeAfterEach();

@Controller('healthz')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly messaging: MessagingHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.messaging.isHealthy(), () => this.messaging.isHealthy('sms')]);
  }
}

@Module({ imports: [TerminusModule], controllers: [HealthController], providers: [MessagingHealthIndicator] })
class HealthModule {}

describeOnBothAdapters('Terminus', (adapter) => {
  test('is up, down while PostgreSQL is stopped, and up again when it is back', async () => {
    const server = await OwnPostgres.orWarn('Terminus');
    if (!server) return;
    opened(server);
    await server.execute('CREATE DATABASE health');
    const storage = TypeormStorage.forRoot({ url: server.url('health') });
    const app = opened(await startMessaging(adapter, { storage }, { imports: [HealthModule] }));
    const asked = () => call(`${app.url}/healthz`);
    const ready = async () => (await call(`${app.url}/api/v1/health/ready`)).status;
    const live = async () => (await call(`${app.url}/api/v1/health/live`)).status;
    const hasStatus = (wanted: number) => (reply: Reply) => reply.status === wanted;

    // The test's server runs with fsync=off, which causes a warning.
    const up = {
      status: 'up',
      checks: expect.objectContaining({ storage: 'warning', schema: 'ok', 'queue sms': 'ok' }),
    };
    expect((await until(asked, hasStatus(200))).body).toMatchObject({ status: 'ok', info: { messaging: up, sms: up } });
    expect([await until(ready, (status) => status === 200), await live()]).toEqual([200, 200]);

    await server.stop('fast');
    const down = { status: 'down', checks: expect.objectContaining({ storage: 'failed' }) };
    // Other checks may fail first, and one of the two before the other.
    const gone = await until(asked, ({ body }) =>
      ['messaging', 'sms'].every((name) => Object(body).error?.[name]?.checks.storage === 'failed'),
    );
    expect(gone).toMatchObject({ status: 503, body: { status: 'error', error: { messaging: down, sms: down } } });
    expect([await until(ready, (status) => status === 503), await live()]).toEqual([503, 200]);

    await server.start();
    expect((await until(asked, hasStatus(200))).body).toMatchObject({ status: 'ok', info: { messaging: up } });
    expect(await until(ready, (status) => status === 200)).toBe(200);
  });
});
