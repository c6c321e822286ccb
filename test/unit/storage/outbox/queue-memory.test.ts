import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SECOND_MS } from '../../../../src/common/time.js';
import { rankOf } from '../../../../src/outbox/queue/priority.js';
import { QueueMemory } from '../../../../src/outbox/queue/queue-memory.js';
import type { Place, Queue } from '../../../../src/outbox/queue/queues.js';
import { range, START } from '../../../contract/storage/fixtures.js';

const name = fc.oneof(fc.constantFrom('', 'a', 'A', 'a ', 'ab', 'b'), fc.string({ unit: 'grapheme', maxLength: 3 }));

const NOW = START + 10 * SECOND_MS;

const queued = (of: string): Queue => ({ status: 'queued', priority: 0, name: of });
const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const isBelow = (a: string, b: string) => compare(a, b) < 0;
const isIn = (of: string) => (place: Place) =>
  place.below === undefined ? place.from === of : !isBelow(of, place.from) && isBelow(of, place.below);

/** A memory of a search so long ago that nothing it found is within the slack. */
function remembering(dues: Iterable<readonly [string, number]>): QueueMemory {
  const memory = new QueueMemory(true);
  search(memory, NOW, ...dues);
  return memory;
}

function search(memory: QueueMemory, now: number, ...dues: readonly (readonly [string, number | undefined])[]): void {
  memory.begin(now);
  memory.end(now, new Map(dues.map(([of, due]) => [queued(of), due])));
}

const floorIn = (memory: QueueMemory, of: string) => memory.placesOf('queued', 'normal').find(isIn(of))?.floor;

describe('what a store remembers about queues', () => {
  test('leaves out no account: each is in exactly one of the places, and those behind the last one come first', () => {
    const check = (known: readonly string[], last: string, others: readonly string[]) => {
      const memory = remembering(known.map((each) => [each, START]));
      memory.served('normal', queued(last));
      const places = memory.places('normal', false);
      const turnOf = (of: string) => places.findIndex(isIn(of));
      for (const each of ['', ...known, ...others, last]) {
        expect([each, places.filter(isIn(each))]).toEqual([each, [expect.anything()]]);
      }
      const inTurn = [...others].sort((a, b) => Number(isBelow(last, b)) - Number(isBelow(last, a)) || compare(a, b));
      const turns = inTurn.map(turnOf);
      expect(turns).toEqual([...turns].sort((a, b) => a - b));
    };
    fc.assert(fc.property(fc.array(name), name, fc.array(name), check));
  });

  test('is limited in size, and forgets what it has not seen for the longest time', () => {
    const memory = remembering(range(1000).map((index) => [`account-${index}`, START]));
    const known = memory.placesOf('queued', 'normal').filter(({ below }) => below === undefined);
    expect(known.length).toBeLessThan(300);
    expect(floorIn(memory, 'account-999')).toBe(START);
    expect(floorIn(memory, 'account-0')).toBeUndefined();
  });

  test.each([30 * SECOND_MS, -30 * SECOND_MS])('the floors are forgotten when the clock is %d ms further', (ms) => {
    const memory = remembering([['a', START]]);
    search(memory, NOW + Math.sign(ms) * (Math.abs(ms) - 1));
    expect(floorIn(memory, 'a')).toBe(START);
    memory.begin(NOW + ms);
    expect(floorIn(memory, 'a')).toBe(0);
  });

  test('a claim does not raise a floor above deliveries that were stored while it searched', () => {
    const memory = remembering([['a', START]]);
    memory.begin(NOW);
    memory.put({ status: 'queued', name: 'a', priority: 'normal', due: START - SECOND_MS });
    memory.end(NOW, new Map([[queued('a'), START + SECOND_MS]]));
    expect(floorIn(memory, 'a')).toBe(START - SECOND_MS);
    search(memory, NOW, ['a', START + SECOND_MS]);
    expect(floorIn(memory, 'a')).toBe(START + SECOND_MS);
  });

  test('a search continues where the last one stopped, and looks every quarter of a second for what others stored late', () => {
    const memory = remembering([['a', NOW]]);
    const floorAt = (now: number) => {
      memory.begin(now);
      memory.end(now);
      return floorIn(memory, 'a');
    };
    expect(floorAt(NOW + 100)).toBe(NOW);
    search(memory, NOW + 200, ['a', NOW + 150]);
    expect(floorAt(NOW + 249)).toBe(NOW + 150);
    // Deliveries that others stored since the last look are found.
    expect(floorAt(NOW + 250)).toBe(NOW - 5 * SECOND_MS);
    search(memory, NOW + 260, ['a', undefined]);
    expect(floorAt(NOW + 270)).toBe(NOW + 260 - 5 * SECOND_MS);
  });

  test('a delivery that this process stores below the place where a search stopped is found by the next search', () => {
    const memory = remembering([['a', NOW]]);
    memory.put({ status: 'queued', name: 'a', priority: 'normal', due: NOW - 1 });
    expect(floorIn(memory, 'a')).toBe(NOW - 1);
  });

  test('ended leases are searched from shortly before the last search on', () => {
    const memory = new QueueMemory(true);
    memory.begin(NOW);
    memory.end(NOW, new Map([[{ status: 'sending', priority: rankOf('normal'), name: '' }, undefined]]));
    const place = memory.placesOf('sending', 'normal').find(({ below }) => below === undefined);
    expect(place?.floor).toBeGreaterThanOrEqual(NOW - SECOND_MS);
    expect(place?.floor).toBeLessThan(NOW);
  });

  test('no floors are kept if an index has no dead entries', () => {
    const memory = new QueueMemory(false);
    search(memory, NOW, ['a', START]);
    const rest = { status: 'queued', priority: 0, below: '\u{10ffff}' };
    expect(memory.placesOf('queued', 'normal')).toEqual([{ ...rest, from: '' }]);
    expect(memory.placesOf('queued', 'normal', 'a')).toEqual([
      { ...rest, from: 'a\u0001' },
      { ...rest, from: '', below: 'a\u0001' },
    ]);
  });

  test.each(['sending', 'sent'] as const)('the accounts share one place for %s', (status) => {
    for (const memory of [new QueueMemory(true), new QueueMemory(false)]) {
      expect(memory.placesOf(status, 'normal')).toEqual([{ status, priority: 0, from: '', floor: 0 }]);
    }
  });
});
