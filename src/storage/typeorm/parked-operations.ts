import type { Parking } from '../../sms/part-store.js';
import { receiptKey } from '../../sms/receipt-key.js';
import type { DatedReceipt, TakenSms } from '../../sms/sms-part.js';
import type { Dialect } from './dialect.js';
import { type Operation, rowsOf, write } from './operation.js';
import type { RowShape } from './rows.js';
import { integerOf, textOf } from './values.js';

const SHAPE: RowShape = {
  ...{ receipt_id: 'id', carrier_id: 'id', route: 'id', receipt: 'text', expires_at: 'integer', counts_for: 'id' },
};

/** Receipts that were parked under an id of these SMS, in the order they came; those that came together, in the order they happened. */
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
  const waiting = rows.map((row): { receipt: DatedReceipt; until: number } => ({
    receipt: JSON.parse(textOf(row, 'receipt')),
    until: integerOf(row, 'expires_at'),
  }));
  waiting.sort((a, b) => a.until - b.until || a.receipt.at - b.receipt.at);
  return waiting.map(({ receipt }) => receipt);
}

/** Keeps receipts for later, one row for each id; the first of its rows is the one that is counted. */
export function* parkReceipts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
  { until, most }: Parking,
): Operation<void> {
  if (receipts.length === 0) return;
  const rows = receipts.flatMap((receipt) => {
    const key = receiptKey(receipt);
    const text = JSON.stringify(receipt);
    return receipt.ids.map((id, place) => [key, id, receipt.route, text, until, place === 0 ? receipt.route : null]);
  });
  const onDuplicate = ['receipt_id, carrier_id'] as const;
  yield dialect.insertRows({ table: 'messaging_sms_parked', shape: SHAPE, rows, onDuplicate });
  for (const route of new Set(receipts.map((receipt) => receipt.route))) yield* makeRoom(dialect, route, most);
}

/** Forgets the oldest receipts of a route that keeps too many; the route is locked. */
function* makeRoom(dialect: Dialect, route: string, most: number): Operation<void> {
  const [count] = yield* rowsOf('SELECT count(*) AS parked FROM messaging_sms_parked WHERE counts_for = ?', route);
  const excess = (count ? integerOf(count, 'parked') : 0) - most;
  if (excess <= 0) return;
  const oldest = yield* rowsOf(
    'SELECT receipt_id FROM messaging_sms_parked WHERE counts_for = ? ORDER BY expires_at, receipt_id LIMIT ?',
    ...[route, excess],
  );
  yield* forget(
    dialect,
    oldest.map((row) => textOf(row, 'receipt_id')),
  );
}

/** Removes receipts that have found their part. */
export function* unparkReceipts(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<void> {
  if (receipts.length > 0) yield* forget(dialect, receipts.map(receiptKey));
}

function* forget(dialect: Dialect, keys: readonly string[]): Operation<void> {
  yield* write(`DELETE FROM messaging_sms_parked WHERE receipt_id IN ${dialect.strings()}`, JSON.stringify(keys));
}

/** Forgets receipts that were parked for too long. */
export function purgeParked(dialect: Dialect, now: number, limit: number): Operation<number> {
  return write(dialect.deleteFirst('messaging_sms_parked', 'receipt_id, carrier_id', 'expires_at'), now, limit);
}
