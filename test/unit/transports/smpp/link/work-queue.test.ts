import { describe, expect, test } from '@jest/globals';
import type { Priority } from '../../../../../src/outbox/queue/priority.api.js';
import { Submission } from '../../../../../src/transports/smpp/link/submission.js';
import { WorkQueue } from '../../../../../src/transports/smpp/link/work-queue.js';
import type { ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';

const PART = { shortMessage: Uint8Array.of(1) } as unknown as ShortMessage;

/** `bulk 1` is of the priority `bulk`. */
const submissionOf = (name: string) => {
  const priority = name.split(' ')[0] as Priority;
  const sms = { smsId: name, position: 0, signature: 'INFOS', number: '22670000000', text: 'x', attempt: 1 };
  return new Submission({ ...sms, priority });
};
/** One of three parts, the first of which was accepted on route `a`. */
const begunOf = (name: string) => {
  const submission = submissionOf(name);
  submission.send({ link: 'link', route: 'a' }, () => [PART, PART, PART]);
  submission.taken('1', 0);
  return submission;
};
const queueOf = (...names: readonly string[]) => {
  const queue = new WorkQueue();
  queue.add(names.map(submissionOf));
  return queue;
};
const taken = (queue: WorkQueue, route = 'a') =>
  Array.from({ length: queue.size }, () => queue.take(route)?.sms.smsId).filter(Boolean);

describe('an SMS that waits for a link', () => {
  test('goes by priority, and a code that comes after a claimed campaign is next', () => {
    const queue = queueOf('bulk 1', 'bulk 2', 'normal 1', 'high 1');
    queue.add([submissionOf('bulk 3'), submissionOf('high 2')]);
    queue.add([submissionOf('code 1')]);
    expect(queue.size).toBe(7);
    expect(taken(queue)).toEqual(['code 1', 'high 1', 'high 2', 'normal 1', 'bulk 1', 'bulk 2', 'bulk 3']);
    expect([queue.size, queue.take('a')]).toEqual([0, undefined]);
  });

  test('with accepted parts precedes all but codes, on its own route only', () => {
    const queue = queueOf('high 1', 'bulk 1');
    queue.putBack(begunOf('bulk begun'));
    queue.putBack(begunOf('normal begun'));
    queue.add([submissionOf('code 1')]);
    expect(queue.size).toBe(5);
    expect(queue.take('a')?.sms.smsId).toBe('code 1');
    expect(queue.take('b')?.sms.smsId).toBe('high 1');
    expect(taken(queue)).toEqual(['normal begun', 'bulk begun', 'bulk 1']);
  });

  test('a code with accepted parts precedes one without', () => {
    const queue = queueOf('code 1');
    queue.putBack(begunOf('code begun'));
    expect(taken(queue)).toEqual(['code begun', 'code 1']);
  });

  test('that has ended does not count, and is not taken', () => {
    const queue = queueOf('bulk 0');
    const [first, second, begun] = [submissionOf('code 1'), submissionOf('high 1'), begunOf('bulk begun')];
    queue.add([first, second]);
    queue.putBack(begun);
    for (const each of [first, second, begun]) each.giveUp({ error: 'x', begunToo: true }, 0);
    expect(queue.size).toBe(1);
    expect(queue.take('a')?.sms.smsId).toBe('bulk 0');
  });

  test('that was put back is the next of its priority', () => {
    const queue = queueOf('high 1', 'bulk 1');
    queue.putBack(submissionOf('bulk 0'));
    expect(taken(queue)).toEqual(['high 1', 'bulk 0', 'bulk 1']);
  });
});
