import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { anSms as anHttpSms, GatewayFixture } from '../../support/transports/gateway/gateway-fixture.js';
import { genericDouble } from '../../support/transports/gateway/generic-double.js';
import { RouteDouble, RoutedFixture } from '../../support/transports/routed-fixture.js';
import { smppFixture } from '../../support/transports/smpp-fixture.js';

const fixture = smppFixture();
const opened = closeAfterEach();
let routed: RoutedFixture | undefined;

beforeAll(() => Logger.overrideLogger(false));
afterEach(async () => {
  await routed?.router.stop();
  routed = undefined;
});

test('SMPP is usable while one of its links is bound, and each link shows since when it has had its state', async () => {
  const smsc = await fixture().smsc();
  const nobody = await fixture().smsc({ onBind: () => 0x0e });
  const transport = await fixture().start([
    { name: 'one', port: smsc.port },
    { name: 'two', port: nobody.port },
  ]);
  expect(transport.state()).toMatchObject([{ name: 'smpp', usable: false, links: [{ state: 'down' }, {}] }]);
  await fixture().until(() => transport.state()[0]?.usable === true);
  const up = fixture().clock.now();
  expect(transport.state()[0]?.links).toMatchObject([
    { name: 'one', state: 'up', inFlight: 0 },
    { name: 'two', state: 'down' },
  ]);
  fixture().clock.advance(1000);
  expect(transport.state()[0]?.links[0]?.since).toBeLessThanOrEqual(up);
  await smsc.close();
  await fixture().until(() => transport.state()[0]?.usable === false);
  expect(transport.state()[0]?.links[0]).toMatchObject({ state: 'down' });
  expect(transport.state()[0]?.links[0]?.since).toBeGreaterThan(up);
});

test('an HTTP gateway is not usable while it rests after a refusal', async () => {
  const gateway = opened(await GatewayFixture.open(genericDouble, {}));
  const usable = () => gateway.transport.state().map((route) => route.usable);
  expect(usable()).toEqual([true]);
  gateway.server.next(genericDouble.unauthorized);
  const submitted = gateway.submit(anHttpSms());
  await until(usable, ([isUsable]) => isUsable === false);
  gateway.clock.advance(600_000);
  expect(usable()).toEqual([true]);
  await submitted;
});

test('each route of a routed transport has its name, and a route whose breaker is open is not usable', async () => {
  routed = await RoutedFixture.started([
    { name: 'a', transport: new RouteDouble('first'), breaker: {} },
    { name: 'b', transport: new RouteDouble('second', undefined, () => Promise.reject(new Error('no'))), breaker: {} },
  ]);
  expect(routed.router.state()).toEqual([
    { name: 'a', transport: 'first', usable: true, breaker: 'closed', links: [], submits: 0 },
    { name: 'b', transport: 'second', usable: false, breaker: 'open', links: [], submits: 0 },
  ]);
  routed.clock.advance(3_600_000);
  expect(routed.router.state()).toMatchObject([{ breaker: 'closed' }, { usable: false, breaker: 'probing' }]);
});
