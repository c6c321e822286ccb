import { createHash } from 'node:crypto';
import type { DatedReceipt } from './sms-part.js';

/** Names a receipt by what it says: the same one given again has the same key. */
export function receiptKey({ route, ids, number, status, error, at }: DatedReceipt): string {
  return createHash('sha256')
    .update(JSON.stringify([route, ids, number, status, error, at]))
    .digest('hex');
}
