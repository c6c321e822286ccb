import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type DeliveryStatus, nextState } from '../../../src/outbox/delivery-state.js';
import {
  aggregatePartStatus,
  mayBeForAnother,
  nextPart,
  type PartStatus,
  partsOf,
  type SmsPart,
  updateOfParts,
} from '../../../src/sms/receipts/sms-part.js';
import { aReceipt, aTakenSms, START } from '../../contract/storage/fixtures.js';

function parts(statuses: readonly PartStatus[], attempt = 1): SmsPart[] {
  const taken = aTakenSms(1, { carrierIds: statuses.map((_, index) => `id-${index}`), attempt });
  return partsOf(taken).map((part, index) => ({ ...part, status: statuses[index] ?? 'sent', error: statuses[index] }));
}

describe('the state of an SMS', () => {
  test.each<[string, PartStatus[]]>([
    ['delivered', ['delivered']],
    ['delivered', ['delivered', 'delivered']],
    ['open', ['delivered', 'sent']],
    ['open', ['failed', 'sent']],
    ['open', ['unknown', 'sent']],
    ['undelivered', ['undelivered', 'sent', 'sent']],
    ['undelivered', ['failed', 'delivered', 'sent']],
    ['undelivered', ['failed', 'undelivered']],
    ['unknown', ['unknown', 'delivered']],
    ['unknown', ['unknown', 'failed']],
    ['failed', ['failed', 'failed']],
  ])('is %s if its parts are %j', (fate, statuses) => {
    expect(aggregatePartStatus(parts(statuses))?.status ?? 'open').toBe(fate);
  });

  test.each<[string, PartStatus, PartStatus]>([
    ['delivered', 'failed', 'delivered'],
    ['delivered', 'delivered', 'sent'],
    ['open', 'undelivered', 'sent'],
    ['unknown', 'undelivered', 'unknown'],
    ['undelivered', 'undelivered', 'failed'],
    ['failed', 'failed', 'failed'],
  ])('is %s after two attempts that are %s and %s', (fate, first, second) => {
    expect(aggregatePartStatus([...parts([first]), ...parts([second], 2)])?.status ?? 'open').toBe(fate);
    expect(aggregatePartStatus([...parts([second]), ...parts([first], 2)])?.status ?? 'open').toBe(fate);
  });

  test('has the reason of the part that decides it', () => {
    expect(aggregatePartStatus(parts(['delivered', 'failed', 'undelivered']))).toEqual({
      status: 'undelivered',
      error: 'undelivered',
    });
    expect(aggregatePartStatus([])).toBeUndefined();
  });

  test('does not depend on the order of the reports, and is refunded only if all parts failed', () => {
    const final = fc.constantFrom<PartStatus>('delivered', 'undelivered', 'failed', 'unknown');
    fc.assert(
      fc.property(fc.array(fc.tuple(final, fc.nat()), { minLength: 1, maxLength: 6 }), (reported) => {
        const statuses = reported.map(([status]) => status);
        const order = reported.map(([, weight], index) => ({ weight, index })).sort((a, b) => a.weight - b.weight);
        const now = parts(statuses.map(() => 'sent'));
        const row = { status: 'sent' as DeliveryStatus, units: 5, attempt: 1, dueAt: null };
        let refunded = 0;
        for (const { index } of order) {
          const receipt = aReceipt(`id-${index}`, { status: statuses[index] ?? 'sent' });
          const [part] = now.slice(index, index + 1);
          const next = part && nextPart(part, receipt);
          if (next) now[index] = next;
          for (const settlement of updateOfParts(now, receipt, START)) {
            const change = nextState(row, settlement);
            if (change) Object.assign(row, { status: change.status });
            refunded += change?.refund ?? 0;
          }
        }
        expect(row.status).toBe(aggregatePartStatus(parts(statuses))?.status);
        expect(refunded).toBe(statuses.every((status) => status === 'failed') ? 5 : 0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a part', () => {
  const all: PartStatus[] = ['sent', 'unknown', 'delivered', 'undelivered', 'failed'];

  test.each(all.flatMap((from) => all.map((to) => [from, to] as const)))(
    'from %s to %s only moves forward',
    (from, to) => {
      const [part] = parts([from]);
      const forward = (from === 'sent' && to !== 'sent') || (from === 'unknown' && all.indexOf(to) > 1);
      expect(part && nextPart(part, aReceipt('id-0', { status: to }))?.status).toBe(forward ? to : undefined);
    },
  );

  test('keeps the time of its receipt, which is compared with later ones; its SMS is neither older than its hand-off nor newer than now', () => {
    const [part] = parts(['sent']);
    const now = START + 9000;
    const times = [START - 1, START + 5000, now + 1].map((at) => {
      const receipt = aReceipt('id-0', { at });
      const next = part && nextPart(part, receipt);
      expect(next?.updatedAt).toBe(at);
      return next && updateOfParts([next], receipt, now)[0]?.at;
    });
    expect(times).toEqual([part?.recordedAt, START + 5000, now]);
  });

  test('says nothing about other SMS unless it is closed and its receipt has a time of the carrier', () => {
    const dated = (status: PartStatus) => aReceipt('id-0', { status, atByCarrier: true });
    const may = (from: PartStatus, receipt = dated('delivered')) =>
      parts([from]).map((part) => mayBeForAnother(part, receipt));
    for (const closed of ['delivered', 'undelivered', 'failed'] as const) expect(may(closed)).toEqual([true]);
    expect([may('sent'), may('unknown', dated('unknown'))]).toEqual([[false], [false]]);
    expect([may('failed', dated('sent')), may('failed', aReceipt('id-0'))]).toEqual([[false], [false]]);
  });
});
