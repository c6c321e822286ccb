import { beforeEach, describe, expect, test } from '@jest/globals';
import { FaultLog } from '../../../src/common/log.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { FetchTime } from '../../../src/media/fetch-time.js';
import { BoundedBody } from '../../../src/media/guarded-media-fetcher.js';
import { AddressStore } from '../../../src/msgapp/address-store.js';
import type { Link } from '../../../src/msgapp/msgapp-transport.js';
import { ContactLimits } from '../../../src/msgapp/sending/message-carrier.js';
import { Pace } from '../../../src/msgapp/sending/pace.js';
import { RecipientCheck } from '../../../src/msgapp/sending/recipient-check.js';
import { QrStream } from '../../../src/msgapp/sessions/qr-stream.js';
import { SessionQueues } from '../../../src/msgapp/sessions/session-queues.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { ConnectionMonitor } from '../../../src/transports/baileys/connection-monitor.js';
import { TokenSource } from '../../../src/transports/http/gateway.js';
import { VendorThrottle } from '../../../src/transports/http/vendor-throttle.js';
import { CircuitBreaker } from '../../../src/transports/routed/circuit-breaker.js';
import { RouteQueue } from '../../../src/transports/routed/route-queue.js';
import { SetBackClock } from '../../support/common/set-back-clock.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { anSms } from '../../support/transports/routed-fixture.js';

let clock: SetBackClock;
beforeEach(() => {
  clock = new SetBackClock();
});

/** A link of which only the directory is used. It counts the calls. */
function directory() {
  let asked = 0;
  const link: Pick<Link, 'exists'> = {
    exists: async () => {
      asked++;
      return true;
    },
  };
  // Nothing else of the link is used here.
  return { link: link as Link, asked: () => asked };
}

// Each test measures a duration that is neither stored nor shown. If it were measured with `now()`, setting the clock
// back by an hour would make it an hour longer.
describe('with the clock set back by an hour', () => {
  test('a server that sends too slowly gains no time', async () => {
    const time = new FetchTime(clock, new AbortController().signal, 10 * HOUR_MS);
    async function* drops() {
      for (;;) {
        await new Promise<void>((resolve) => clock.after(10_000, resolve));
        yield new Uint8Array(1);
      }
    }
    const body = new BoundedBody(drops(), 1000, time);
    const read = async () => {
      let chunks = 0;
      for await (const _ of body) chunks++;
      return chunks;
    };
    const refused = expect(read()).rejects.toMatchObject({ reason: 'too slow' });
    await settled();
    clock.setBack(HOUR_MS);
    for (let second = 0; second < 30; second++) {
      clock.advance(1000);
      await settled(2);
    }
    await refused;
  });

  test('a warning is logged again after a minute', () => {
    const said: string[] = [];
    const say = (line: unknown) => void said.push(String(line));
    const warnings = new FaultLog({ warn: say, error: say }, clock);
    warnings.warn('x');
    clock.setBack(HOUR_MS);
    clock.advance(60_000);
    warnings.warn('x');
    expect(said).toEqual(['x', 'x']);
  });

  test('a session does not rest longer between two messages', () => {
    const lanes = new SessionQueues(clock, new Pace({ perMinute: 60, jitter: 0 }, () => 0), () => undefined);
    const { link } = directory();
    lanes.begin('s', link);
    lanes.end('s', link, { rest: true });
    clock.setBack(HOUR_MS);
    clock.advance(1000);
    expect(lanes.isFree('s', link)).toBe(true);
  });

  test('a session is not restricted for longer than the app said', () => {
    const limits = new ContactLimits(clock);
    limits.restrict('s', 60_000);
    clock.setBack(HOUR_MS);
    clock.advance(59_999);
    expect(limits.refuses('s', '22670000000')).toBe(true);
    clock.advance(1);
    expect(limits.refuses('s', '22670000000')).toBe(false);
  });

  test('a cached answer about a number is refreshed after its usual time', async () => {
    const storage = await SqliteMemory.open();
    const addresses = storage.store(AddressStore);
    const check = new RecipientCheck({
      clock,
      addresses,
      notifier: new LocalNotifier(),
      app: 'an app',
      timeoutMs: 1000,
    });
    const { link, asked } = directory();
    await check.find('session', link, '22670000000');
    clock.setBack(HOUR_MS);
    clock.advance(24 * HOUR_MS - 1);
    await check.find('session', link, '22670000000');
    expect(asked()).toBe(1);
    clock.advance(1);
    await check.find('session', link, '22670000000');
    expect(asked()).toBe(2);
    await storage.stop();
  });

  test('a code is not shown for longer than it can be scanned', () => {
    const poster = new QrStream(clock, { kind: 'status', sessionId: 's', status: 'created' });
    poster.show({ qr: 'code', expiresAt: clock.now() + 20_000 });
    clock.setBack(HOUR_MS);
    clock.advance(19_999);
    expect(poster.code?.qr).toBe('code');
    clock.advance(1);
    expect(poster.code).toBeUndefined();
  });

  test('a token is not used for longer than it is valid', async () => {
    let fetched = 0;
    const tokens = new TokenSource(async () => ({ token: `token-${++fetched}`, seconds: 600 }), clock);
    await tokens.get();
    clock.setBack(HOUR_MS);
    clock.advance(600_000);
    expect(await tokens.get()).toMatchObject({ token: 'token-2' });
  });

  test('a route that rests continues after its usual time', async () => {
    const throttle = new VendorThrottle(1, clock, () => 0);
    throttle.pause(0, 'throttled', 5000);
    clock.setBack(HOUR_MS);
    let entered = false;
    void throttle.acquire({ signal: new AbortController().signal }).then(() => {
      entered = true;
    });
    clock.advance(5000);
    await settled();
    expect(entered).toBe(true);
  });

  test('a silent connection is detected after its usual time', () => {
    const overdue: string[] = [];
    const watch = new ConnectionMonitor(
      clock,
      { answerMs: 1000, silenceMs: 60_000 },
      (reason) => void overdue.push(reason),
    );
    watch.heard();
    clock.advance(1000);
    watch.heard();
    clock.setBack(HOUR_MS);
    clock.advance(60_000);
    expect(overdue).toEqual(['silent']);
  });

  test('a circuit forgets after its usual time, and reports the end of its rest by the current clock', () => {
    const settings = { failurePercent: 50, minSms: 4, windowMs: 10_000, openMs: 30_000 };
    const circuit = new CircuitBreaker(settings, clock);
    circuit.record(circuit.tryAcquire(3), ['failed', 'failed', 'failed']);
    clock.setBack(HOUR_MS);
    clock.advance(20_000);
    circuit.record(circuit.tryAcquire(3), ['failed', 'failed', 'failed']);
    expect(circuit.isShut).toBe(false);
    circuit.record(circuit.tryAcquire(1), ['failed']);
    clock.setBack(HOUR_MS);
    expect(circuit.shutUntil).toBe(clock.now() + 30_000);
    clock.advance(10_000);
    expect(circuit.shutUntil).toBe(clock.now() + 20_000);
  });

  test('reservations of a shared rate are not held back', async () => {
    const pace = new RouteQueue('route', 1000, (await SqliteMemory.open()).store(PolicyStore), clock);
    const turns = { go: () => undefined, postpone: () => undefined, stop: () => undefined };
    const pass = () => pace.pass([anSms('22670000000')], new AbortController().signal, turns);
    await pass();
    clock.setBack(HOUR_MS);
    let booked = 0;
    void pass().then(() => booked++);
    clock.advance(250);
    await settled();
    expect(booked).toBe(1);
  });
});
