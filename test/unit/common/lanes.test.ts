import { expect, test } from '@jest/globals';
import { Lanes } from '../../../src/common/lanes.js';
import { Gate } from '../../support/delivery-world.js';
import { settled } from '../../support/settled.js';

/** Lanes that work through two items of a queue at a time, and stop at a gate before each batch ends. */
function open(most: number) {
  const begun: string[] = [];
  let gate = new Gate();
  const lanes = new Lanes<string>(most, async (queue) => {
    begun.push(queue.splice(0, 2).join(' '));
    await gate.opened;
  });
  const add = (...items: string[]) => lanes.add(items, (item) => item.charAt(0));
  const step = async () => {
    const before = gate;
    gate = new Gate();
    before.open();
    await settled();
  };
  return { begun, add, step };
}

test('what waits for the same thing goes in its order, one batch after the other', async () => {
  const { begun, add, step } = open(9);
  add('a1', 'b1', 'a2');
  add('a3');
  expect(begun).toEqual(['a1 a2', 'b1']);
  await step();
  expect(begun).toEqual(['a1 a2', 'b1', 'a3']);
});

test('so many queues at a time, and the others have their turn before the second batch of one', async () => {
  const { begun, add, step } = open(2);
  add('a1', 'a2', 'a3', 'b1', 'c1', 'd1');
  expect(begun).toEqual(['a1 a2', 'b1']);
  add('b2');
  await step();
  expect(begun).toEqual(['a1 a2', 'b1', 'c1', 'd1']);
  await step();
  expect(begun.slice(4)).toEqual(['a3', 'b2']);
});
