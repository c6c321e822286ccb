import { expect, test } from '@jest/globals';
import type { Priority } from '../../../src/outbox/queue/priority.api.js';
import { PriorityQueue } from '../../../src/outbox/queue/priority-queue.js';

/** `bulk 1` has the priority `bulk`, `1` has none. */
const queueOf = (...items: readonly string[]) => {
  const queue = new PriorityQueue<string>((item) =>
    item.includes(' ') ? (item.split(' ')[0] as Priority) : undefined,
  );
  for (const item of items) queue.push(item);
  return queue;
};
const drained = (queue: PriorityQueue<string>) => Array.from({ length: queue.size }, () => queue.shift());

test('the highest priority comes first, and within one the earliest; an item without a priority is normal', () => {
  const queue = queueOf('bulk 1', '1', 'code 1', 'high 1', 'normal 2', 'code 2', 'bulk 2', 'high 2', '3');
  expect([queue.size, queue.first]).toEqual([9, 'code 1']);
  expect(drained(queue)).toEqual(['code 1', 'code 2', 'high 1', 'high 2', '1', 'normal 2', '3', 'bulk 1', 'bulk 2']);
  expect([queue.size, queue.first, queue.shift(), queue.pop()]).toEqual([0, undefined, undefined, undefined]);
});

test('an item that is put back is the first of its priority only', () => {
  const queue = queueOf('bulk 1', 'high 1');
  queue.putBack('bulk 0');
  expect(drained(queue)).toEqual(['high 1', 'bulk 0', 'bulk 1']);
});

test('the last item is the newest of the lowest priority', () => {
  const queue = queueOf('code 1', 'bulk 1', 'bulk 2', 'normal 1');
  expect([queue.pop(), queue.pop(), queue.pop(), queue.pop()]).toEqual(['bulk 2', 'bulk 1', 'normal 1', 'code 1']);
});

test('removed items are returned in their order, and the others keep theirs', () => {
  const queue = queueOf('bulk 1', 'high x', 'bulk x', 'high 1', 'code x');
  expect(queue.remove((item) => item.endsWith('x'))).toEqual(['code x', 'high x', 'bulk x']);
  expect(drained(queue)).toEqual(['high 1', 'bulk 1']);
});
