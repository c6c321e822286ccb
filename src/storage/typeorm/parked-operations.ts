import type { Parking } from '../../sms/part-store.js';
import { receiptKey } from '../../sms/receipt-key.js';
import type { DatedReceipt, TakenSms } from '../../sms/sms-part.js';
import type { Dialect, RowShape } from './dialect.js';
import { type Operation, rowsOf, write } from './operation.js';
import { integerOf, textOf } from './values.js';

const SHAPE: RowShape = { receipt_id: 'id', carrier_id: 'id', route: 'id', receipt: 'text', expires_at: 'integer' };

/** Receipts that were parked under an id of these SMS, in the order they came. */
export function* parkedReceipts(
  dialect: Dialect,
  taken: readonly TakenSms[],
  now: number,
): Operation<readonly DatedReceipt[]> {
  const ids = new Set(taken.flatMap(({ route, carrierIds }) => carrierIds.map((id) => JSON.stringify([route, id]))));
  const rows = yield* rowsOf(
    `SELECT DISTINCT q.expires_at, q.receipt_id, q.receipt FROM ${dialect.rows({ route: 'id', carrier_id: 'id' })}
      ${dialect.thenJoin} messaging_sms_parked q ON q.route = v.route AND q.carrier_id = v.carrier_id
      WHERE q.expires_at > ? ORDER BY q.expires_at, q.receipt_id`,
    ...[`[${[...ids].join(',')}]`, now],
  );
  return rows.map((row) => JSON.parse(textOf(row, 'receipt')));
}

/** Keeps receipts for later, one row for each id; the oldest make room. */
export function* parkReceipts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
  { until, most }: Parking,
): Operation<void> {
  if (receipts.length === 0) return;
  const rows = receipts.flatMap((receipt) => {
    const key = receiptKey(receipt);
    return receipt.ids.map((id) => [key, id, receipt.route, JSON.stringify(receipt), until]);
  });
  const onDuplicate = ['receipt_id, carrier_id'] as const;
  yield dialect.insertRows({ table: 'messaging_sms_parked', shape: SHAPE, rows, onDuplicate });
  const [count] = yield* rowsOf('SELECT count(*) AS parked FROM messaging_sms_parked');
  const excess = (count ? integerOf(count, 'parked') : 0) - most;
  if (excess > 0) yield* purgeParked(dialect, until, excess);
}

/** Removes receipts that have found their part. */
export function* unparkReceipts(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<void> {
  if (receipts.length === 0) return;
  yield* write(
    `DELETE FROM messaging_sms_parked WHERE receipt_id IN ${dialect.strings()}`,
    JSON.stringify(receipts.map(receiptKey)),
  );
}

/** Forgets receipts that were parked for too long. */
export function purgeParked(dialect: Dialect, now: number, limit: number): Operation<number> {
  return write(dialect.deleteFirst('messaging_sms_parked', 'receipt_id, carrier_id', 'expires_at'), now, limit);
}
