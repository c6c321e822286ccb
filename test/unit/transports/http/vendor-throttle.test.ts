import { describe, expect, test } from '@jest/globals';
import type { Priority } from '../../../../src/outbox/queue/priority.api.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { type AcquireResult, VendorThrottle, type WaitGroup } from '../../../../src/transports/http/vendor-throttle.js';
import { settled } from '../../../support/common/settled.js';

const TIRED: AcquireResult = { rejected: '20429', paused: true };

/** A throttle and its requests. */
class Crowd {
  readonly clock = new FakeClock();
  readonly throttle: VendorThrottle;
  readonly stopping = new AbortController();
  readonly entries: (AcquireResult | undefined)[] = [];

  /** @param width the places for everything but codes; one more place is kept for codes */
  constructor(width: number, random = 0) {
    this.throttle = new VendorThrottle(width + 1, this.clock, () => random);
  }

  /** Lets this many requests arrive together. */
  async come(count: number): Promise<WaitGroup> {
    const group: WaitGroup = { signal: this.stopping.signal };
    for (let each = 0; each < count; each++) {
      const place = this.entries.push(undefined) - 1;
      void this.throttle.acquire(group).then((entry) => {
        this.entries[place] = entry;
      });
    }
    await settled(1);
    return group;
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled(1);
  }

  /** How many were admitted so far. */
  get admitted(): number {
    return this.entries.filter((entry) => entry && 'round' in entry).length;
  }

  /** The round with which the request at `place` was admitted. */
  round(place: number): number {
    const entry = this.entries[place];
    if (entry && 'round' in entry) return entry.round;
    throw new Error(`${place} is not in.`);
  }
}

describe('a throttle with priorities', () => {
  /** The requests that a throttle of that width admits, in order. */
  function admittedBy(width: number) {
    const clock = new FakeClock();
    const throttle = new VendorThrottle(width, clock, () => 0);
    const admitted: string[] = [];
    const group: WaitGroup = { signal: new AbortController().signal };
    const come = async (...names: readonly string[]) => {
      for (const name of names) {
        const [priority] = name.split(' ') as [Priority];
        void throttle.acquire(group, priority).then(() => admitted.push(name));
      }
      await settled(1);
    };
    const release = async (priority: Priority) => {
      throttle.release(priority);
      await settled(1);
    };
    return { clock, throttle, admitted, come, release };
  }

  test('keeps one place for codes, which are admitted at once and then give their place back', async () => {
    const { admitted, come, release } = admittedBy(4);
    await come('bulk 1', 'high 1', 'normal 1', 'high 2', 'code 1', 'code 2');
    expect(admitted).toEqual(['bulk 1', 'high 1', 'normal 1', 'code 1']);
    await release('code');
    expect(admitted.slice(4)).toEqual(['code 2']);
    await release('code');
    expect(admitted).toHaveLength(5);
    await release('bulk');
    expect(admitted.slice(5)).toEqual(['high 2']);
  });

  test('admits waiting requests by priority, and within a priority in the order of arrival', async () => {
    const { admitted, come, release } = admittedBy(2);
    await come('bulk 0', 'bulk 1', 'normal 1', 'bulk 2', 'high 1', 'normal 2', 'high 2');
    for (const done of ['bulk', 'high', 'high', 'normal', 'normal', 'bulk'] as const) await release(done);
    expect(admitted).toEqual(['bulk 0', 'high 1', 'high 2', 'normal 1', 'normal 2', 'bulk 1', 'bulk 2']);
  });

  test('gives a single place to everybody, codes first', async () => {
    const { admitted, come, release } = admittedBy(1);
    await come('bulk 0', 'high 1', 'code 1');
    await release('bulk');
    await release('code');
    expect(admitted).toEqual(['bulk 0', 'code 1', 'high 1']);
  });

  test('lets codes take all places', async () => {
    const { admitted, come } = admittedBy(3);
    await come('code 1', 'code 2', 'code 3', 'code 4', 'bulk 1');
    expect(admitted).toEqual(['code 1', 'code 2', 'code 3']);
  });

  test('has as capacity the free places and those expected to become free, and none while the route rests', async () => {
    const { clock, throttle, come, release } = admittedBy(5);
    expect(throttle.capacity).toBe(4);
    await come('bulk 1', 'bulk 2', 'bulk 3');
    expect(throttle.capacity).toBe(1);
    await come('bulk 4', 'bulk 5', 'code 1');
    expect(throttle.capacity).toBe(-1);
    await release('bulk');
    expect(throttle.capacity).toBe(2);
    clock.advance(600);
    expect(throttle.capacity).toBe(0);
    throttle.pause(0, 'busy');
    expect(throttle.capacity).toBe(0);
    await come('bulk 6');
    expect(throttle.capacity).toBe(-1);
    for (let each = 0; each < 5; each++) await release(each === 0 ? 'code' : 'bulk');
    clock.advance(800);
    // The rest ends within 250 ms, and then one request is admitted.
    expect(throttle.capacity).toBe(0);
    clock.advance(200);
    await settled(1);
    expect(throttle.capacity).toBe(0);
  });
});

describe('a throttle', () => {
  test('admits a limited number of requests at a time, first come, first served', async () => {
    const crowd = new Crowd(3);
    await crowd.come(5);
    expect(crowd.entries.map(Boolean)).toEqual([true, true, true, false, false]);
    crowd.throttle.release();
    await settled(1);
    expect(crowd.entries.map(Boolean)).toEqual([true, true, true, true, false]);
  });

  test('admits nobody while the route rests, then one, and all once that one succeeded', async () => {
    const crowd = new Crowd(4);
    await crowd.come(1);
    crowd.throttle.pause(crowd.round(0), 'busy');
    crowd.throttle.release();
    await crowd.come(10);
    await crowd.pass(999);
    expect(crowd.admitted).toBe(1);
    await crowd.pass(1);
    expect(crowd.admitted).toBe(2);
    crowd.throttle.recordSuccess(crowd.round(1));
    crowd.throttle.release();
    await settled(1);
    expect(crowd.admitted).toBe(6);
  });

  test('counts refusals of requests that were admitted together as one', async () => {
    const crowd = new Crowd(8);
    await crowd.come(8);
    for (let each = 0; each < 8; each++) {
      crowd.throttle.pause(crowd.round(each), 'busy');
      crowd.throttle.release();
    }
    await crowd.come(1);
    await crowd.pass(1000);
    expect(crowd.admitted).toBe(9);
  });

  test('rests longer after each refusal, up to a minute', async () => {
    const crowd = new Crowd(1);
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      await crowd.come(1);
      crowd.throttle.pause(crowd.round(crowd.entries.length - 1), 'busy');
      crowd.throttle.release();
      await crowd.come(1);
      const before = crowd.admitted;
      await crowd.pass(seconds * 1000 - 1);
      expect(crowd.admitted).toBe(before);
      await crowd.pass(1);
      expect(crowd.admitted).toBe(before + 1);
      // The request that was admitted at the end of the rest leaves without a result.
      crowd.throttle.release();
    }
  });

  test.each([
    [0, 1000],
    [500, 1000],
    [90_000, 90_000],
    [86_400_000, 300_000],
  ])('asked to rest %i ms, it rests %i ms: never shorter than by itself, and not forever', async (asked, rest) => {
    const crowd = new Crowd(1);
    await crowd.come(1);
    crowd.throttle.pause(crowd.round(0), 'busy', asked);
    crowd.throttle.release();
    await crowd.come(1);
    await crowd.pass(rest - 1);
    expect(crowd.admitted).toBe(1);
    await crowd.pass(1);
    expect(crowd.admitted).toBe(2);
  });

  test('rests longer, but never shorter, if a later refusal of the same round asks for it', async () => {
    const crowd = new Crowd(3);
    await crowd.come(3);
    for (const [place, asked] of [10_000, 0, 20_000].entries()) {
      crowd.throttle.pause(crowd.round(place), 'busy', asked);
      crowd.throttle.release();
    }
    await crowd.come(1);
    await crowd.pass(19_999);
    expect(crowd.admitted).toBe(3);
    await crowd.pass(1);
    expect(crowd.admitted).toBe(4);
  });

  test('ends its rest a little later than others do', async () => {
    const crowd = new Crowd(1, 0.5);
    await crowd.come(1);
    crowd.throttle.pause(crowd.round(0), 'busy', 10_000);
    crowd.throttle.release();
    await crowd.come(1);
    await crowd.pass(10_499);
    expect(crowd.admitted).toBe(1);
    await crowd.pass(1);
    expect(crowd.admitted).toBe(2);
  });

  test('does not end a rest because of a success from before it', async () => {
    const crowd = new Crowd(2);
    await crowd.come(2);
    crowd.throttle.pause(crowd.round(0), 'busy');
    crowd.throttle.recordSuccess(crowd.round(1));
    crowd.throttle.release();
    crowd.throttle.release();
    await crowd.come(2);
    await crowd.pass(1000);
    expect(crowd.admitted).toBe(3);
  });

  test('turns away a request that has waited long enough, with the reason of the rest', async () => {
    const crowd = new Crowd(1);
    await crowd.come(1);
    crowd.throttle.pause(crowd.round(0), '20429', 90_000);
    crowd.throttle.release();
    const tired = await crowd.come(2);
    await crowd.come(1);
    crowd.throttle.reject(tired);
    await settled(1);
    expect(crowd.entries.slice(1)).toEqual([TIRED, TIRED, undefined]);
  });

  test('turns away all requests that are cancelled, including those that arrive later', async () => {
    const crowd = new Crowd(1);
    const group = await crowd.come(3);
    crowd.stopping.abort();
    crowd.throttle.reject(group);
    await crowd.come(1);
    expect(crowd.entries.slice(1)).toEqual(Array(3).fill({ rejected: 'stopping', paused: false }));
  });
});
