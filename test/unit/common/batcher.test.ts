import { describe, expect, jest, test } from '@jest/globals';
import { Batcher, type BatcherOptions, EachTurn, Gathering, Spaced } from '../../../src/common/concurrency/batcher.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

type Options = Partial<BatcherOptions<string, string>>;

/** A batcher whose batches wait at a gate before they end. The result of each item is the item in upper case. */
function open(options: Options = {}) {
  const begun: string[] = [];
  let gate = new Gate();
  const batcher = new Batcher<string, string>({
    perform: async (items) => {
      begun.push(items.join(' '));
      await gate.opened;
      return items.map((item) => item.toUpperCase());
    },
    ...options,
  });
  const add = (...items: string[]) => Promise.allSettled(items.map((item) => batcher.add(item)));
  const step = async () => {
    const before = gate;
    gate = new Gate();
    before.open();
    await settled();
  };
  return { batcher, begun, add, step };
}

const values = (ends: readonly PromiseSettledResult<string>[]) =>
  ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message));

describe('a batcher by key', () => {
  const byKey: Options = { keyOf: (item) => item.charAt(0), maxItems: 2 };

  test('performs the items of a key in their order, one batch after the other', async () => {
    const { begun, add, step } = open({ ...byKey, concurrency: 9 });
    const first = add('a1', 'b1', 'a2');
    add('a3');
    expect(begun).toEqual(['a1', 'b1']);
    await step();
    expect(begun).toEqual(['a1', 'b1', 'a2 a3']);
    await step();
    expect(values(await first)).toEqual(['A1', 'B1', 'A2']);
  });

  test('performs as many keys at a time as `concurrency` says, and gives every key a turn before one gets a second', async () => {
    const { begun, add, step } = open({ ...byKey, concurrency: 2, gathering: new EachTurn() });
    add('a1', 'a2', 'a3', 'b1', 'c1', 'd1');
    await settled(1);
    expect(begun).toEqual(['a1 a2', 'b1']);
    add('b2');
    await step();
    expect(begun).toEqual(['a1 a2', 'b1', 'c1', 'd1']);
    await step();
    expect(begun.slice(4)).toEqual(['a3', 'b2']);
  });
});

test.each<[string, string[], number, number | undefined, string[][]]>([
  ['all that fits', ['1', '2', '3'], 6, undefined, [['1', '2', '3']]],
  [
    'what fits, in order',
    ['1', '2', '3', '1'],
    5,
    undefined,
    [
      ['1', '2'],
      ['3', '1'],
    ],
  ],
  ['one that is too large by itself', ['9', '1'], 5, undefined, [['9'], ['1']]],
  ['as many items as it is allowed', ['1', '1', '1'], 5, 2, [['1', '1'], ['1']]],
])('a batch takes %s', async (_, items, maxWeight, maxItems, batches) => {
  const limits = { weightOf: Number, maxWeight, ...(maxItems === undefined ? {} : { maxItems }) };
  const { begun, add, step } = open({ ...limits, gathering: new EachTurn() });
  add(...items);
  for (const _ of batches) await step();
  expect(begun).toEqual(batches.map((batch) => batch.join(' ')));
});

describe('a batch that fails', () => {
  const failing = (fault: Error) => async (items: readonly string[]) => {
    if (items.includes('bad')) throw fault;
    return items;
  };

  test('is repeated item by item, so that one bad item fails alone', async () => {
    const { add } = open({ perform: failing(new Error('bad one')), gathering: new EachTurn() });
    expect(values(await add('a', 'bad', 'b'))).toEqual(['a', 'bad one', 'b']);
  });

  test.each<[string, Error, boolean]>([
    ['while the storage is unavailable', new StorageUnavailableError('away'), true],
    ['if that is switched off', new Error('error'), false],
  ])('fails as a whole %s, and the next batch goes on', async (_, fault, isolatesFailures) => {
    const { add } = open({ perform: failing(fault), gathering: new EachTurn(), isolatesFailures });
    expect((await add('a', 'bad', 'b')).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(values(await add('c'))).toEqual(['c']);
  });

  test('gives an error to items without a result, and is not repeated', async () => {
    let performed = 0;
    const { add } = open({
      perform: async (items) => {
        performed++;
        return items.slice(1);
      },
      gathering: new EachTurn(),
    });
    expect((await add('a', 'b')).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(performed).toBe(1);
  });
});

test('a result that is a promise delays only its own item', async () => {
  const later = new Gate();
  const { batcher, add } = open({
    perform: async (items) => items.map((item) => (item === 'held' ? later.opened.then(() => 'late') : item)),
  });
  const held = batcher.add('held');
  expect(values(await add('a'))).toEqual(['a']);
  later.open();
  expect(await held).toBe('late');
});

test('an item is dropped if its signal fires before its batch begins', async () => {
  const { batcher, begun, add, step } = open();
  const first = batcher.add('first');
  const abort = new AbortController();
  const dropped = expect(batcher.add('dropped', abort.signal)).rejects.toThrow('gone');
  add('last');
  abort.abort(new Error('gone'));
  await step();
  await step();
  await dropped;
  expect([await first, begun]).toEqual(['FIRST', ['first', 'last']]);
});

describe('gathering', () => {
  test('"at once" sends the first item alone, and those that arrive meanwhile together', async () => {
    const { begun, add, step } = open();
    add('a', 'b', 'c');
    expect(begun).toEqual(['a']);
    await step();
    expect(begun).toEqual(['a', 'b c']);
  });

  test('"each turn" sends the items of one turn together', async () => {
    const { begun, add } = open({ gathering: new EachTurn() });
    add('a');
    add('b');
    expect(begun).toEqual([]);
    await settled(1);
    expect(begun).toEqual(['a b']);
  });

  test('"spaced" sends at most one batch per interval, and one at once after a longer pause', async () => {
    const clock = new FakeClock();
    const timers = jest.spyOn(clock, 'after');
    const { begun, add, step } = open({ gathering: new Spaced(clock, 250) });
    add('a', 'b', 'c');
    await step();
    clock.advance(249);
    expect(begun).toEqual(['a']);
    add('d');
    expect(timers).toHaveBeenCalledTimes(1);
    clock.advance(1);
    expect(begun).toEqual(['a', 'b c d']);
    await step();
    clock.advance(250);
    add('e');
    expect(begun).toEqual(['a', 'b c d', 'e']);
  });

  test('"spaced" starts at once if hurried, after a running batch, and counts the interval from there', async () => {
    const clock = new FakeClock();
    const gathering = new Spaced(clock, 250);
    const { begun, add, step } = open({ gathering });
    add('a');
    await step();
    add('b');
    clock.advance(100);
    gathering.hurry();
    add('c');
    expect(begun).toEqual(['a', 'b c']);
    gathering.hurry();
    add('d');
    expect(begun).toEqual(['a', 'b c']);
    await step();
    expect(begun).toEqual(['a', 'b c', 'd']);
    await step();
    add('e');
    clock.advance(249);
    expect(begun).toHaveLength(3);
    clock.advance(1);
    expect(begun).toEqual(['a', 'b c', 'd', 'e']);
  });

  test('reports the number of unanswered items, and when a batch begins and ends', async () => {
    const heard: (string | number)[] = [];
    class Listening extends Gathering {
      override schedule(_waiting: number, start: () => void): void {
        start();
      }
      override added(unanswered: number): void {
        heard.push(unanswered);
      }
      override begun(): () => void {
        heard.push('begun');
        return () => heard.push('ended');
      }
    }
    const { add, step } = open({ gathering: new Listening() });
    add('a', 'b', 'c');
    await step();
    add('d');
    expect(heard).toEqual([1, 'begun', 2, 3, 'ended', 'begun', 3]);
  });
});
