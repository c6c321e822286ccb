import { type ErasureRule, pages } from '../../outbox/retention/erasure-service.js';
import type { PartStore } from './part-store.js';

const ROWS = 1000;

/** Receipts of the number that matched no part yet. */
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
