import { describe, expect, test } from '@jest/globals';
import type { OutgoingSms } from '../../../../../src/sms/sms-transport.js';
import { LateResults } from '../../../../../src/transports/smpp/link/late-results.js';
import { Submission } from '../../../../../src/transports/smpp/link/submission.js';
import { WorkQueue } from '../../../../../src/transports/smpp/link/work-queue.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';

const SMS: OutgoingSms = { smsId: 's', position: 0, signature: 'INFOS', number: '22670000000', text: 'x', attempt: 1 };
const BY = { link: 'acme-1', route: 'acme' };
const address = { ton: 1, npi: 1, address: '1' };

/** This many parts, distinguished by their octet. */
const cut = (count: number) => (): ShortMessage[] =>
  Array.from({ length: count }, (_, index) => ({
    ...PLAIN_SHORT_MESSAGE,
    source: address,
    destination: address,
    shortMessage: Uint8Array.of(index),
  }));

function begun(parts: number, taken: number): Submission {
  const submission = new Submission(SMS);
  for (let part = 0; part < taken; part++) {
    submission.send(BY, cut(parts));
    submission.taken(`id-${part}`, 1);
  }
  return submission;
}

const sending = (parts: number, taken: number): Submission => {
  const submission = begun(parts, taken);
  submission.send(BY, cut(parts));
  return submission;
};

describe('an SMS of one part', () => {
  test('is sent when it is taken', async () => {
    const submission = sending(1, 0);
    expect(submission.taken('7', 5)).toBe(false);
    expect(await submission.result).toEqual({
      kind: 'sent',
      route: 'acme',
      reference: '7',
      carrierIds: ['7'],
      segments: 1,
      attempts: [{ route: 'acme-1', outcome: 'sent', at: 5 }],
    });
  });

  test('has an empty id if the carrier gave none', async () => {
    const submission = sending(1, 0);
    submission.taken('', 5);
    expect(await submission.result).toMatchObject({ kind: 'sent', carrierIds: [''] });
    expect(await submission.result).not.toHaveProperty('reference');
  });

  test.each(['refused', 'retry'] as const)('is %s', async (kind) => {
    const submission = sending(1, 0);
    submission.notTakenFor({ kind, error: 'smpp: 0x0b', code: '0x0b' }, 5);
    expect(await submission.result).toEqual({
      kind,
      error: 'smpp: 0x0b',
      route: 'acme',
      attempts: [{ route: 'acme-1', outcome: kind, code: '0x0b', at: 5 }],
    });
  });

  test('is unknown', async () => {
    const submission = sending(1, 0);
    submission.unknown('smpp: no answer', 5);
    expect(await submission.result).toMatchObject({ kind: 'unknown', error: 'smpp: no answer' });
  });

  test('that is submitted again in doubt is never reported as refused or not sent', async () => {
    for (const kind of ['refused', 'retry'] as const) {
      const submission = sending(1, 0);
      expect(submission.inDoubt(1)).toBe(true);
      submission.send(BY, cut(1));
      submission.notTakenFor({ kind, error: 'smpp: 0x0b' }, 5);
      expect(await submission.result).toMatchObject({ kind: 'unknown' });
    }
  });
});

describe('an SMS of several parts', () => {
  test('is sent when all parts are taken, one after the other', async () => {
    const submission = new Submission(SMS);
    for (const index of [0, 1]) {
      expect(submission.send(BY, cut(3))?.shortMessage).toEqual(Uint8Array.of(index));
      expect(submission.taken(`id-${index}`, 1)).toBe(true);
    }
    expect(submission.send(BY, cut(3))?.shortMessage).toEqual(Uint8Array.of(2));
    expect(submission.taken('id-2', 1)).toBe(false);
    expect(await submission.result).toMatchObject({ kind: 'sent', carrierIds: ['id-0', 'id-1', 'id-2'], segments: 3 });
  });

  test('sends a part again that was not taken', () => {
    const submission = sending(3, 1);
    expect(submission.notTaken(1)).toBe(true);
    expect(submission.send(BY, cut(3))?.shortMessage).toEqual(Uint8Array.of(1));
  });

  test.each(['refused', 'retry'] as const)(
    'of which a later part is %s is undelivered, because nobody will get the whole text',
    async (kind) => {
      const submission = sending(3, 1);
      submission.notTakenFor({ kind, error: 'smpp: 0x0b', code: '0x0b' }, 5);
      expect(await submission.result).toMatchObject({
        kind: 'sent',
        final: 'undelivered',
        error: 'smpp: 0x0b (part 2 of 3)',
        carrierIds: ['id-0', '', ''],
      });
    },
  );

  test('of which a later part is unknown is unknown, with the ids so far', async () => {
    const submission = sending(2, 1);
    submission.unknown('smpp: no answer', 5);
    expect(await submission.result).toMatchObject({
      kind: 'unknown',
      error: 'smpp: no answer (part 2 of 2)',
      carrierIds: ['id-0', ''],
    });
  });

  test('is split anew for another link as long as no part was taken', () => {
    const submission = new Submission(SMS);
    submission.send(BY, cut(2));
    submission.notTaken(1);
    submission.send({ link: 'acme-2', route: 'acme' }, cut(1));
    expect(submission.single).toBe(true);
  });
});

describe('giving up', () => {
  test('ends at once what is not on the wire', async () => {
    const submission = new Submission(SMS);
    submission.giveUp({ error: 'smpp: no link', begunToo: false }, 5);
    expect(await submission.result).toEqual({ kind: 'retry', error: 'smpp: no link' });
    expect(submission.over).toBe(true);
  });

  test('waits for the answer to what is on the wire', async () => {
    const taken = sending(1, 0);
    taken.giveUp({ error: 'smpp: stopping', begunToo: false }, 5);
    expect(taken.over).toBe(false);
    taken.taken('7', 6);
    expect(await taken.result).toMatchObject({ kind: 'sent' });

    const throttled = sending(1, 0);
    throttled.giveUp({ error: 'smpp: stopping', begunToo: false }, 5);
    expect(throttled.notTaken(6)).toBe(false);
    expect(await throttled.result).toMatchObject({ kind: 'retry', error: 'smpp: stopping' });
  });

  test('lets a started SMS go on, unless it is told not to', async () => {
    const submission = begun(3, 1);
    submission.giveUp({ error: 'smpp: stopping', begunToo: false }, 5);
    expect(submission.over).toBe(false);
    submission.giveUp({ error: 'smpp: no time', begunToo: true }, 5);
    expect(await submission.result).toMatchObject({ final: 'undelivered', error: 'smpp: no time (part 2 of 3)' });
  });

  test('lets an SMS go on that starts while it is on the wire', () => {
    const submission = sending(2, 0);
    submission.giveUp({ error: 'smpp: stopping', begunToo: false }, 5);
    expect(submission.taken('7', 6)).toBe(true);
  });

  test('for lack of time postpones only an SMS that was never sent', async () => {
    const ending = { error: 'smpp: no time', begunToo: true, until: 5 };
    const waiting = new Submission(SMS);
    waiting.giveUp(ending, 5);
    expect(await waiting.result).toEqual({ kind: 'postponed', error: 'smpp: no time', until: 5 });
    const throttled = sending(1, 0);
    throttled.notTaken(4);
    throttled.giveUp(ending, 5);
    expect(await throttled.result).toMatchObject({ kind: 'retry' });
    const half = begun(2, 1);
    half.giveUp(ending, 5);
    expect(await half.result).toMatchObject({ final: 'undelivered' });
  });

  test('also postpones an SMS that was handed to a link and not sent', async () => {
    const ending = { error: 'smpp: stopping', begunToo: false, until: 5 };
    const unsent = { kind: 'postponed', error: 'smpp: stopping', until: 5 };
    const before = sending(1, 0);
    before.giveUp(ending, 4);
    expect(before.notSent(5)).toBe(false);
    expect(await before.result).toEqual(unsent);
    const after = sending(1, 0);
    expect(after.notSent(4)).toBe(true);
    after.giveUp(ending, 5);
    expect(await after.result).toEqual(unsent);
  });

  test('postpones no SMS that was sent before, or in part', async () => {
    const ending = { error: 'smpp: stopping', begunToo: true, until: 5 };
    const throttled = sending(1, 0);
    throttled.notTaken(3);
    throttled.send(BY, cut(1));
    throttled.notSent(4);
    throttled.giveUp(ending, 5);
    expect(await throttled.result).toMatchObject({ kind: 'retry' });
    const half = sending(2, 1);
    half.notSent(4);
    half.giveUp(ending, 5);
    expect(await half.result).toMatchObject({ final: 'undelivered' });
  });

  test('says until when a failing carrier is left alone', async () => {
    const waiting = new Submission(SMS);
    waiting.giveUp({ error: 'smpp: 0x04', begunToo: false, until: 20_000, away: true }, 5);
    expect(await waiting.result).toEqual({ kind: 'postponed', error: 'smpp: 0x04', until: 20_000, away: true });
  });

  test('comes too late for an SMS that has ended', async () => {
    const submission = sending(1, 0);
    submission.taken('7', 5);
    submission.giveUp({ error: 'smpp: no time', begunToo: true }, 6);
    submission.unknown('smpp: no answer', 6);
    expect(await submission.result).toMatchObject({ kind: 'sent' });
  });
});

describe('the queue', () => {
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, position) => new Submission({ ...SMS, position }));
  const positions = (queue: WorkQueue, route: string) => {
    const order: number[] = [];
    for (let next = queue.take(route); next; next = queue.take(route)) order.push(next.sms.position);
    return order;
  };

  test('gives the SMS that came first, without those that have ended', () => {
    const queue = new WorkQueue();
    const submissions = numbered(4);
    queue.add(submissions);
    submissions[1]?.giveUp({ error: 'x', begunToo: true }, 0);
    expect(positions(queue, 'acme')).toEqual([0, 2, 3]);
  });

  test('gives first the SMS that have started, and only to their route', () => {
    const queue = new WorkQueue();
    queue.add(numbered(2));
    const half = begun(2, 1);
    queue.putBack(half);
    expect(positions(queue, 'other')).toEqual([0, 1]);
    expect(queue.take('acme')).toBe(half);
  });

  test('takes back at its head what was not sent', () => {
    const queue = new WorkQueue();
    queue.add(numbered(3));
    const first = queue.take('acme');
    if (first) queue.putBack(first);
    expect(positions(queue, 'acme')).toEqual([0, 1, 2]);
  });

  test('notifies all links, each time beginning with another one', () => {
    const queue = new WorkQueue();
    const asked: string[] = [];
    for (const name of ['a', 'b', 'c']) queue.join(() => asked.push(name));
    queue.add([]);
    queue.add([]);
    expect(asked.join('')).toMatch(/^(bca|abc)(cab|bca)$/);
  });
});

describe('late answers', () => {
  const answer = (status: number, messageId = '') => ({ status, messageId, tlvs: [] });
  const receipt = { route: 'acme', ids: ['8', '7'], status: 'delivered' } as const;

  function fatesOf() {
    const reports: object[] = [];
    return { reports, fates: new LateResults((report) => reports.push(report)) };
  }

  test('a refusal which proves that nothing was sent settles the SMS, an unclear one does not', () => {
    const { reports, fates } = fatesOf();
    fates.take(SMS, 'acme', answer(0xff), false);
    expect(reports).toEqual([]);
    fates.take(SMS, 'acme', answer(0x0b), true);
    expect(reports).toEqual([{ smsId: 's', position: 0, status: 'failed', error: 'smpp: 0x0b' }]);
  });

  test('an id is matched later by its receipt', () => {
    const { reports, fates } = fatesOf();
    fates.take(SMS, 'acme', answer(0, ' 7\r\n'), false);
    expect(reports).toEqual([]);
    expect(fates.reportOf(receipt)).toEqual({ smsId: 's', position: 0, status: 'delivered' });
    expect(fates.reportOf({ ...receipt, number: SMS.number })).toBeDefined();
    expect(fates.reportOf({ ...receipt, number: '22670000001' })).toBeUndefined();
    expect(fates.reportOf({ ...receipt, route: 'other' })).toBeUndefined();
    expect(fates.reportOf({ ...receipt, ids: ['8'] })).toBeUndefined();
  });

  test('an id is matched later by a receipt that spells the number as in today’s plan', () => {
    const { fates } = fatesOf();
    fates.take({ ...SMS, number: '22997000001' }, 'acme', answer(0, '7'), false);
    expect(fates.reportOf({ ...receipt, number: '2290197000001' })).toMatchObject({ status: 'delivered' });
    expect(fates.reportOf({ ...receipt, number: '2290197000002' })).toBeUndefined();
  });

  test('without an id, no receipt is matched', () => {
    const { fates } = fatesOf();
    fates.take(SMS, 'acme', answer(0), false);
    expect(fates.reportOf({ ...receipt, ids: [''] })).toBeUndefined();
  });
});
