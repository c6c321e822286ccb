import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { anSms as anHttpSms, GatewayWorld } from '../../support/gateway/gateway-world.js';
import { genericDouble } from '../../support/gateway/generic-double.js';
import { closeAfterEach } from '../../support/opened.js';
import { RouteDouble, RoutedWorld } from '../../support/routed-world.js';
import { smppWorld } from '../../support/smpp-world.js';
import { until } from '../../support/until.js';

const world = smppWorld();
const opened = closeAfterEach();
let routed: RoutedWorld | undefined;

beforeAll(() => Logger.overrideLogger(false));
afterEach(async () => {
  await routed?.router.stop();
  routed = undefined;
});

test('SMPP is usable while one of its links is bound, and each link says since when it is as it is', async () => {
  const smsc = await world().smsc();
  const nobody = await world().smsc({ onBind: () => 0x0e });
  const transport = await world().start([
    { name: 'one', port: smsc.port },
    { name: 'two', port: nobody.port },
  ]);
  expect(transport.state()).toMatchObject([{ name: 'smpp', usable: false, links: [{ state: 'down' }, {}] }]);
  await world().until(() => transport.state()[0]?.usable === true);
  const up = world().clock.now();
  expect(transport.state()[0]?.links).toMatchObject([
    { name: 'one', state: 'up', inFlight: 0 },
    { name: 'two', state: 'down' },
  ]);
  world().clock.advance(1000);
  expect(transport.state()[0]?.links[0]?.since).toBeLessThanOrEqual(up);
  await smsc.close();
  await world().until(() => transport.state()[0]?.usable === false);
  expect(transport.state()[0]?.links[0]).toMatchObject({ state: 'down' });
  expect(transport.state()[0]?.links[0]?.since).toBeGreaterThan(up);
});

test('an HTTP gateway is not usable while it rests after a refusal', async () => {
  const gateway = opened(await GatewayWorld.open(genericDouble, {}));
  const usable = () => gateway.transport.state().map((route) => route.usable);
  expect(usable()).toEqual([true]);
  gateway.server.next(genericDouble.unauthorized);
  const submitted = gateway.submit(anHttpSms());
  await until(usable, ([isUsable]) => isUsable === false);
  gateway.clock.advance(600_000);
  expect(usable()).toEqual([true]);
  await submitted;
});

test('each route of a routed transport has its name, and one whose breaker is open is not usable', async () => {
  routed = await RoutedWorld.started([
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
