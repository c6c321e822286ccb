import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { QueueMemory } from '../../../src/storage/typeorm/stores/outbox/queue-memory.js';
import type { Place, Queue } from '../../../src/storage/typeorm/stores/outbox/queues.js';
import { range, SECOND, START } from '../../../src/testing/storage-contract/fixtures.js';

const name = fc.oneof(fc.constantFrom('', 'a', 'A', 'a ', 'ab', 'b'), fc.string({ unit: 'grapheme', maxLength: 3 }));

const queued = (of: string): Queue => ({ status: 'queued', priority: 0, name: of });
const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const isBelow = (a: string, b: string) => compare(a, b) < 0;
const isIn = (of: string) => (place: Place) =>
  place.below === undefined ? place.from === of : !isBelow(of, place.from) && isBelow(of, place.below);

function remembering(floors: Iterable<readonly [string, number]>, now = START): QueueMemory {
  const memory = new QueueMemory(true);
  memory.begin(now);
  memory.end(new Map([...floors].map(([of, floor]) => [queued(of), floor])));
  return memory;
}

const floorIn = (memory: QueueMemory, of: string) => memory.placesOf('queued', 'normal').find(isIn(of))?.floor;

describe('what a store remembers of queues', () => {
  test('leaves no account out: each is in exactly one of the places, those behind the last one first', () => {
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

  test('is bounded, and forgets what it has not seen for the longest time', () => {
    const memory = remembering(range(1000).map((index) => [`account-${index}`, START]));
    const known = memory.placesOf('queued', 'normal').filter(({ below }) => below === undefined);
    expect(known.length).toBeLessThan(300);
    expect(floorIn(memory, 'account-999')).toBe(START);
    expect(floorIn(memory, 'account-0')).toBeUndefined();
  });

  test.each([30 * SECOND, -30 * SECOND])('its floors are forgotten when the clock is %d ms further', (ms) => {
    const memory = remembering([['a', START]]);
    memory.begin(START + Math.sign(ms) * (Math.abs(ms) - 1));
    memory.end();
    expect(floorIn(memory, 'a')).toBe(START);
    memory.begin(START + ms);
    expect(floorIn(memory, 'a')).toBe(0);
  });

  test('a claim does not raise a floor over what was stored while it searched', () => {
    const memory = remembering([['a', START]]);
    memory.begin(START);
    memory.put({ status: 'queued', name: 'a', priority: 'normal', due: START - SECOND });
    memory.end(new Map([[queued('a'), START + SECOND]]));
    expect(floorIn(memory, 'a')).toBe(START - SECOND);
    memory.begin(START);
    memory.end(new Map([[queued('a'), START + SECOND]]));
    expect(floorIn(memory, 'a')).toBe(START + SECOND);
  });

  test('keeps no floors where an index has no dead entries', () => {
    const memory = new QueueMemory(false);
    memory.begin(START);
    memory.end(new Map([[queued('a'), START]]));
    const rest = { status: 'queued', priority: 0, below: '\u{10ffff}' };
    expect(memory.placesOf('queued', 'normal')).toEqual([{ ...rest, from: '' }]);
    expect(memory.placesOf('queued', 'normal', 'a')).toEqual([
      { ...rest, from: 'a\u0001' },
      { ...rest, from: '', below: 'a\u0001' },
    ]);
  });
});
