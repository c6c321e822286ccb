import { beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { UuidGenerator } from '../../../../src/common/ids.js';
import { PolicyStore } from '../../../../src/outbox/policy/policy-store.js';
import { RouteRecipientStore } from '../../../../src/sms/route-recipients/route-recipient-store.js';
import { describeSmsTransport } from '../../../../src/testing/index.js';
import { type RouteRules, resolveRoutes } from '../../../../src/transports/routed/routes.js';
import { SmsRouter } from '../../../../src/transports/routed/sms-router.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';
import { DOUBLES } from '../../../support/transports/gateway/gateway-fixture.js';
import { openGateway } from '../../../support/transports/gateway/gateway-harness.js';
import { RouteDouble } from '../../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

const RULES: Readonly<Record<string, Partial<RouteRules>>> = {
  'with routes for other numbers beside it': {},
  'within a limit': { segmentsPerSecond: 1000 },
  'within a limit of recipients': { distinctRecipients: { count: 10_000, days: 30 } },
};

for (const [how, rules] of Object.entries(RULES)) {
  const [double] = DOUBLES;
  if (!double) break;
  describeSmsTransport(`a route ${how}`, async () => {
    const gateway = await openGateway(double);
    const settings = resolveRoutes({
      routes: [
        { name: 'home', ...rules },
        { name: 'away', prefixes: ['33'] },
      ],
    });
    const transports = [gateway.transport, new RouteDouble('away')];
    const storage = await SqliteMemory.open();
    const ports = {
      clock: gateway.clock,
      ids: new UuidGenerator(),
      guards: storage.store(PolicyStore),
      recipients: storage.store(RouteRecipientStore),
    };
    return { ...gateway, transport: new SmsRouter(settings, transports, ports) };
  });
}
