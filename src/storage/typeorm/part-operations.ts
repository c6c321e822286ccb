import type { Movement } from '../../outbox/outbox-store.js';
import type { Parking, PartPurgeCount } from '../../sms/part-store.js';
import { type DatedReceipt, type SmsPart, type TakenSms, withTrails } from '../../sms/sms-part.js';
import type { Dialect } from './dialect.js';
import { type Operation, rowsOf, write } from './operation.js';
import { parkedReceipts, parkReceipts, purgeParked, unparkReceipts } from './parked-operations.js';
import { insertParts, PART_COLUMNS, toPart } from './part-rows.js';
import { applyReceipts } from './receipt-operations.js';
import { settleDeliveries } from './settle-operation.js';
import { textOf } from './values.js';

/** Keeps what carriers took and applies what was parked for it: see `PartStore.record`. */
export function* recordParts(
  dialect: Dialect,
  taken: readonly TakenSms[],
  now: number,
): Operation<readonly Movement[]> {
  if (taken.length === 0) return [];
  yield* lockRoutes(dialect, taken);
  yield insertParts(dialect, taken);
  const parked = yield* parkedReceipts(dialect, taken, now);
  if (parked.length === 0) return [];
  const { settlements, unmatched } = yield* applyReceipts(dialect, parked, now);
  const left = new Set(unmatched);
  yield* unparkReceipts(
    dialect,
    parked.filter((receipt) => !left.has(receipt)),
  );
  return yield* settleDeliveries(dialect, withTrails(settlements, taken));
}

/** Applies receipts and parks what nothing matches: see `PartStore.receive`. */
export function* receiveReceipts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
  parking: Parking,
): Operation<readonly Movement[]> {
  if (receipts.length === 0) return [];
  yield* lockRoutes(dialect, receipts);
  const { settlements, unmatched } = yield* applyReceipts(dialect, receipts, parking.now);
  yield* parkReceipts(dialect, unmatched, parking);
  return yield* settleDeliveries(dialect, settlements);
}

/** Holds the routes of these until the transaction ends. Where a writer holds the whole database nothing is to be locked. */
function* lockRoutes(dialect: Dialect, of: readonly { readonly route: string }[]): Operation<void> {
  if (dialect.lock('a', 'wait') === '') return;
  for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  let missing = [...new Set(of.map(({ route }) => route))].sort();
  while (missing.length > 0) {
    const rows = yield* rowsOf(dialect.lockByIds('messaging_sms_route', 'a.id', 'wait'), JSON.stringify(missing));
    const held = new Set(rows.map((row) => textOf(row, 'id')));
    missing = missing.filter((route) => !held.has(route));
    for (const route of missing) {
      yield* dialect.insertNew({ sql: 'INSERT INTO messaging_sms_route (id) VALUES (?)', params: [route] }, 'id');
    }
  }
}

/** See `PartStore.purge`. */
export function* purgeParts(dialect: Dialect, now: number, limit: number): Operation<PartPurgeCount> {
  const first = dialect.deleteFirst('messaging_sms_part', 'message_id, position, attempt, part', 'expires_at');
  const parts = yield* write(first, now, limit);
  return { parts, receipts: yield* purgeParked(dialect, now, limit) };
}

/** See `PartStore.parts`. */
export function* listParts(messageId: string, position?: number): Operation<readonly SmsPart[]> {
  const rows = yield* rowsOf(
    `SELECT ${PART_COLUMNS.join(', ')} FROM messaging_sms_part
      WHERE message_id = ? ${position === undefined ? '' : 'AND position = ?'} ORDER BY position, attempt, part`,
    ...[messageId, ...(position === undefined ? [] : [position])],
  );
  return rows.map(toPart);
}
