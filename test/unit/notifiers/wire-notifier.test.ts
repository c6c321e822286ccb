import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { NoticeTopic } from '../../../src/common/notifier.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { FakeCarrier, FakeNotifier } from './fake-wires.js';

let clock: FakeClock;
let carrier: FakeCarrier;
let logged: string[];
let notifiers: FakeNotifier[];

beforeEach(() => {
  clock = new FakeClock();
  carrier = new FakeCarrier();
  logged = [];
  notifiers = [];
  Logger.overrideLogger({ log: () => {}, error: () => {}, warn: (line: unknown) => logged.push(String(line)) });
});

afterEach(async () => {
  for (const each of notifiers) await over(each.onApplicationShutdown());
  Logger.overrideLogger(new Logger());
});

/** Lets time pass until a promise settles. */
async function over(promise: Promise<unknown>): Promise<void> {
  let isOver = false;
  promise.then(() => (isOver = true));
  while (!isOver) await pass(1000);
}

/** Lets this many milliseconds pass, with everything that is due in them. */
async function pass(ms: number, step = 500): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.advance(Math.min(step, ms - passed));
    await settled();
  }
}

async function process() {
  const notifier = new FakeNotifier(carrier, clock);
  notifiers.push(notifier);
  await notifier.onModuleInit();
  notifier.onApplicationBootstrap();
  await settled();
  const heard: string[] = [];
  const topics: readonly NoticeTopic[] = ['due', 'key', 'signature', 'opt-out', 'sender'];
  for (const topic of topics) notifier.listen(topic, (id) => heard.push(`${topic} ${id}`));
  return { notifier, heard };
}

describe('notices', () => {
  test('reach this process at once and only once, and every other process through the wire', async () => {
    const [here, there] = [await process(), await process()];
    here.notifier.publish('key', 'k1');
    expect([here.heard, there.heard]).toEqual([['key k1'], []]);
    await settled();
    expect([here.heard, there.heard]).toEqual([['key k1'], ['key k1']]);
  });

  test('leave in one payload at most every 20 ms, without repeats, and none is lost', async () => {
    const [here, there] = [await process(), await process()];
    for (let time = 0; time < 100; time++) {
      here.notifier.publish('due', 'sms');
      if (time % 10 === 0) here.notifier.publish('key', `k${time}`);
      clock.advance(1);
      await settled();
    }
    // The first payload leaves at once, then one every 20 ms.
    expect(carrier.payloads).toHaveLength(6);
    await pass(40, 20);
    expect(carrier.payloads).toHaveLength(6);
    expect(there.heard.filter((each) => each.startsWith('key'))).toEqual(
      [0, 10, 20, 30, 40, 50, 60, 70, 80, 90].map((time) => `key k${time}`),
    );
    expect(there.heard.filter((each) => each === 'due sms')).toHaveLength(6);
  });

  test('that are published while a payload is being sent leave after it', async () => {
    const [here, there] = [await process(), await process()];
    let take = () => {};
    carrier.taking = new Promise((resolve) => (take = resolve));
    here.notifier.publish('due', 'sms');
    await settled();
    here.notifier.publish('due', 'sms');
    await pass(20, 20);
    expect(there.heard).toEqual(['due sms']);
    take();
    await settled();
    expect(there.heard).toEqual(['due sms', 'due sms']);
  });

  test('of a thousand simultaneous changes leave in several payloads, each small enough for PostgreSQL', async () => {
    const [here, there] = [await process(), await process()];
    for (let index = 0; index < 900; index++) here.notifier.publish('signature', `account-${index}-${'x'.repeat(40)}`);
    await pass(2000, 20);
    expect(there.heard).toHaveLength(900);
    expect(carrier.payloads.length).toBeGreaterThan(5);
    expect(Math.max(...carrier.payloads.map((payload) => payload.length))).toBeLessThan(8000);
  });

  test('before the first connection wait for it', async () => {
    const there = await process();
    const notifier = new FakeNotifier(carrier, clock);
    notifiers.push(notifier);
    notifier.onApplicationBootstrap();
    notifier.publish('key', 'k1');
    await settled();
    expect(there.heard).toEqual(['key k1']);
  });

  test('that wait at a shutdown are sent before it', async () => {
    const [here, there] = [await process(), await process()];
    here.notifier.publish('key', 'k1');
    await settled();
    here.notifier.publish('key', 'k2');
    const stopping = here.notifier.onApplicationShutdown();
    await settled();
    expect(there.heard).toEqual(['key k1', 'key k2']);
    await over(stopping);
    expect([...carrier.wires]).toHaveLength(1);
  });
});

describe('a stranger on the wire', () => {
  test.each(['{"forget":"everything"}', '1 p key:x; DROP TABLE', '', 'x'.repeat(9000), 7])(
    'is not obeyed, and what it wrote is not logged (%p)',
    async (payload) => {
      const { heard } = await process();
      for (let time = 0; time < 1000; time++) carrier.carry(payload);
      expect(heard).toEqual([]);
      expect(logged).toEqual(['A payload that is not ours was ignored.']);
    },
  );

  test('can only cause a process to read again, and a listener that fails ends nothing', async () => {
    const { notifier, heard } = await process();
    notifier.listen('due', () => {
      throw new Error('22670000001');
    });
    carrier.carry('1 stranger due:sms due:nothing key:k1');
    expect(heard).toEqual(['due sms', 'due nothing', 'key k1']);
    expect(logged).toEqual(['A listener failed: Error.']);
  });
});

describe('without the wire', () => {
  test('the start does not wait for a connection; attempts with growing pauses succeed once the carrier is there', async () => {
    carrier.state = 'refuses';
    const [here, there] = [await process(), await process()];
    await pass(600_000);
    // Pauses grow from 0.25 s to 30 s: 7 attempts in the first half minute, then two a minute, for each of two
    // processes.
    expect(carrier.opened).toBeLessThan(2 * 30);
    expect(carrier.opened).toBeGreaterThan(2 * 20);
    expect(logged[0]).toMatch(/^The connection failed\. .*\(ECONNREFUSED\)$/);
    expect(logged.length).toBeLessThanOrEqual(2 * 11);
    expect(logged.join()).not.toContain('secret');
    carrier.state = 'up';
    await pass(31_000);
    here.notifier.publish('key', 'k1');
    await settled();
    expect(there.heard).toEqual(['key k1']);
  });

  test('no publish waits, and the number of waiting notices is limited', async () => {
    const { notifier, heard } = await process();
    carrier.state = 'hangs';
    for (let index = 0; index < 100_000; index++) notifier.publish('key', `k${index}`);
    expect(heard).toHaveLength(100_000);
    expect(Reflect.get(notifier, 'waiting').size).toBeLessThanOrEqual(1000);
    expect(logged.filter((line) => line.startsWith('Too many notices are waiting'))).toHaveLength(1);
  });

  test('a carrier that takes half a minute to answer is given up after five seconds, and a new connection is opened', async () => {
    const [here, there] = [await process(), await process()];
    carrier.state = 'hangs';
    here.notifier.publish('key', 'k1');
    await pass(6000);
    expect(carrier.closed).toBeGreaterThan(0);
    carrier.state = 'up';
    await pass(60_000);
    here.notifier.publish('key', 'k2');
    await pass(1000);
    expect(there.heard).toContain('key k2');
    expect(logged.filter((line) => line.startsWith('The connection was lost'))).not.toEqual([]);
  });

  test('a process that only listens notices if the peer has vanished', async () => {
    await process();
    expect(carrier.opened).toBe(1);
    carrier.state = 'deaf';
    await pass(21_000);
    expect(carrier.closed).toBe(1);
    carrier.state = 'up';
    await pass(60_000);
    expect(carrier.wires.size).toBe(1);
  });

  test('a connection that is cut again and again is logged once a minute', async () => {
    const [here, there] = [await process(), await process()];
    for (let time = 0; time < 50; time++) {
      carrier.cut();
      await pass(1000);
    }
    expect(logged).toHaveLength(2);
    here.notifier.publish('key', 'k1');
    await settled();
    expect(there.heard).toEqual(['key k1']);
    expect(carrier.wires.size).toBe(2);
    expect(carrier.opened - carrier.closed).toBe(2);
  });

  test('if no payload ever comes back, that is logged once, and tried again after ten minutes', async () => {
    carrier.state = 'deaf';
    await process();
    await pass(3_600_000, 5000);
    expect(carrier.opened).toBe(6);
    expect(new Set(logged.map((line) => line.replace(/ \(And.*/, '')))).toEqual(new Set(['Nothing comes back.']));
    expect(carrier.wires.size).toBeLessThanOrEqual(1);
  });
});
