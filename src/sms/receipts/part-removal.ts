import { FaultLog } from '../../common/log.js';
import type { PurgeRule } from '../../outbox/purger.js';
import { type ErasureRule, pages } from '../../outbox/retention/erasure-service.js';
import type { PartStore } from './part-store.js';

/** Purges parts whose receipts are no longer expected, and receipts that matched no part. It logs the number of the latter. */
export function partPurge(store: PartStore): PurgeRule {
  const log = new FaultLog('SmsChannel');
  return {
    what: 'parts of SMS',
    purge: async (now, limit) => {
      const { parts, receipts } = await store.purge(now, limit);
      if (receipts > 0) {
        const fields = { code: 'unmatched_receipts', channel: 'sms' };
        log.warn(`${receipts} ids of receipts matched no open SMS: does the link's id format fit?`, fields);
      }
      return Math.max(parts, receipts);
    },
  };
}

const ROWS = 1000;

/** Erases receipts of a number that have matched no part yet. */
export function receiptErasure(store: PartStore): ErasureRule {
  return {
    what: 'receipts',
    everywhere: async (number) => {
      let receipts = 0;
      for await (const found of pages((after) => store.eraseParked(number, after, ROWS))) receipts += found.length;
      return { receipts };
    },
  };
}
