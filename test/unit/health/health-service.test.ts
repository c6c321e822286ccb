import { expect, test } from '@jest/globals';
import { resolveHealthSettings } from '../../../src/core/health-options.js';
import { type CheckResult, type HealthCheck, HealthChecks } from '../../../src/health/health-checks.js';
import { HealthService } from '../../../src/health/health-service.js';
import { MessagingReadiness } from '../../../src/http/readiness.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';

/** A service with one check of routes, which answers what the test says. */
class Fixture {
  readonly clock = new FakeClock();
  readonly readiness = new MessagingReadiness();
  readonly service: HealthService;
  state: CheckResult['state'] = 'ok';
  graceMs = 0;
  runs = 0;
  answer = async (): Promise<readonly CheckResult[]> => {
    const { state, graceMs } = this;
    return [{ check: 'routes', state, text: 'Routes.', graceMs }];
  };

  constructor(ready?: readonly ('routes' | 'storage')[]) {
    const checks = new HealthChecks();
    const check: HealthCheck = {
      check: 'routes',
      run: () => {
        this.runs++;
        return this.answer();
      },
    };
    checks.add(check);
    this.readiness.onApplicationBootstrap();
    this.service = new HealthService(checks, this.readiness, resolveHealthSettings({ ready }), this.clock);
  }

  /** The state of the check a second later, when its cached result has expired. */
  async next() {
    this.clock.advance(1000);
    return (await this.service.report()).checks[0];
  }
}

test('the checks run at most once a second, however often health is requested', async () => {
  const world = new Fixture();
  await Promise.all([world.service.isReady(), world.service.isReady(), world.service.report()]);
  world.clock.advance(999);
  expect(await world.service.isReady()).toBe(true);
  expect(world.runs).toBe(1);
  world.state = 'failed';
  world.clock.advance(1);
  expect(await world.service.isReady()).toBe(false);
  expect(world.runs).toBe(2);
});

test('a check that hangs fails after 800 ms and is not started again before it has answered', async () => {
  const world = new Fixture();
  let answer: () => void = () => undefined;
  world.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve([{ check: 'routes', state: 'ok', text: 'At last.' }]);
    });
  const first = world.service.report();
  await settled();
  world.clock.advance(800);
  expect((await first).checks[0]).toMatchObject({ state: 'failed', text: 'It does not answer.' });
  expect(await world.next()).toMatchObject({ state: 'failed' });
  expect(world.runs).toBe(1);
  answer();
  await settled();
  world.answer = async () => [{ check: 'routes', state: 'ok', text: 'Again.' }];
  expect(await world.next()).toMatchObject({ state: 'ok', text: 'Again.' });
  expect(world.runs).toBe(2);
});

test('if a check throws, it fails; its message may hold secrets and is not shown', async () => {
  const world = new Fixture();
  world.answer = () => Promise.reject(new TypeError('22670000001 has the code 4711'));
  expect(await world.next()).toMatchObject({ state: 'failed', text: 'It failed: TypeError.' });
});

test('a failure counts as a warning within its grace, which starts with that failure', async () => {
  const world = new Fixture();
  world.graceMs = 2500;
  expect(await world.next()).toMatchObject({ state: 'ok' });
  world.state = 'failed';
  expect(await world.next()).toMatchObject({ state: 'warning' });
  const since = new Date(world.clock.now()).toISOString();
  expect(await world.next()).toMatchObject({ state: 'warning', since });
  expect(await world.service.isReady()).toBe(true);
  await world.next();
  expect(await world.next()).toMatchObject({ state: 'failed', since: new Date(world.clock.now()).toISOString() });
  expect(await world.service.isReady()).toBe(false);
  world.state = 'ok';
  await world.next();
  world.state = 'failed';
  expect(await world.next()).toMatchObject({ state: 'warning' });
});

test('a check that readiness does not need is still shown', async () => {
  const world = new Fixture(['storage']);
  world.state = 'failed';
  expect(await world.next()).toMatchObject({ state: 'failed' });
  expect(await world.service.isReady()).toBe(true);
});

test('a shutdown makes the process unready at once, whatever the checks last found', async () => {
  const world = new Fixture();
  expect(await world.service.isReady()).toBe(true);
  world.readiness.end();
  expect(await world.service.isReady()).toBe(false);
  const { status, checks } = await world.service.report();
  expect([status, checks.at(-1)]).toEqual([
    'unavailable',
    expect.objectContaining({ check: 'process', state: 'failed' }),
  ]);
  expect(world.runs).toBe(1);
});
