import { EventRecorder, type TransactionPublisher } from '../../events/event-recorder.js';
import type { SegmentDifference } from '../../events/messaging-events.js';
import type { DeliveryTransition } from '../../outbox/outbox-records.js';
import type { Walked } from '../../outbox/retention/retention-records.js';
import { settleDeliveries } from '../../outbox/settle/settle.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write, writeAll } from '../../storage/engine/operation.js';
import { integerOf, type RowShape, textOf } from '../../storage/engine/rows.js';
import { insertParts, PART_COLUMNS, toPart } from './part-rows.js';
import { applyReceipts } from './receipt-matching.js';
import { type DatedReceipt, receiptKey, type SmsPart, type TakenSms, withTrails } from './sms-part.js';

/** The limits for receipts that match no part yet. */
export interface Parking {
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** The time until which a receipt is kept, in milliseconds since the epoch. */
  readonly until: number;
  /** The maximum number of parked receipts per route. Above it, the oldest of the same route are deleted. */
  readonly most: number;
}

/** The number of rows that a purge removed. */
export interface PartPurgeCount {
  readonly parts: number;
  /** How many parked receipts matched no part in time, counted by their ids. */
  readonly receipts: number;
}

/**
 * Persists the carriers' ids of the parts of SMS, and the status of each part by its receipts. Every method is one transaction.
 * The same transaction stores the status of the SMS (`aggregatePartStatus`) with refund and trail, as `OutboxStore.settle` does.
 * The method returns the transitions. Recording and receiving on one route are serialized, so that a receipt either finds its
 * part or is parked and found when the part is recorded.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class PartStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Stores the parts of SMS that a carrier has accepted and applies parked receipts to them. Stored parts stay
   * unchanged.
   */
  async record(taken: readonly TakenSms[], now: number): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.database;
    const moved = await this.recorder.write((publisher) => recordParts(dialect, taken, now, publisher));
    if (!dialect.locksOneNode || taken.length === 0) return moved;
    const parked = await this.database.read(() => parkedReceipts(dialect, taken, now));
    return [...moved, ...(await this.lookAgain(parked, now, taken))];
  }

  /**
   * Applies receipts in their order. A receipt belongs to the part with the first of its `ids` that is known on its route, and
   * with its `number` if it has one. If several parts have the same id, the receipt belongs to the newest open part. If no part
   * with the id has this number, but the number of exactly one part may be another spelling of it, that part counts
   * (`mayBeSpellings`). Example: an SMS to 22997000001, and a receipt with its id for 2290197000001. A receipt for the `whole`
   * SMS changes all parts of that attempt. A receipt without a part is parked, and a repeat of it is not parked again. A receipt
   * without news changes nothing. It is parked too if its part is closed and it must belong to another SMS with the same id
   * (`mayBeForAnother`). A parked receipt that matches only closed parts when an SMS is recorded stays parked by the same rule.
   */
  async receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.database;
    const { moved, unmatched } = await this.recorder.write((publisher) =>
      receiveReceipts(dialect, receipts, parking, publisher),
    );
    return dialect.locksOneNode ? [...moved, ...(await this.lookAgain(unmatched, parking.now))] : moved;
  }

  /** Applies parked receipts whose parts another node has recorded meanwhile, see `Dialect.locksOneNode`. */
  private async lookAgain(
    parked: readonly DatedReceipt[],
    now: number,
    taken: readonly TakenSms[] = [],
  ): Promise<readonly DeliveryTransition[]> {
    if (parked.length === 0) return [];
    return this.recorder.write((publisher) => applyParked(this.database.dialect, parked, { now, taken, publisher }));
  }

  /** Returns the parts of one SMS, or of all SMS of a send, ordered by position, attempt and part. */
  parts(messageId: string, position?: number): Promise<readonly SmsPart[]> {
    return this.database.read(() => listParts(messageId, position));
  }

  /** Returns the SMS whose count of parts differs from the count of segments in a receipt with the id of each part. */
  differences(receipts: readonly DatedReceipt[]): Promise<readonly SegmentDifference[]> {
    return this.database.read(() => differingCounts(this.database.dialect, receipts));
  }

  /**
   * Deletes parts whose receipts are no longer expected and receipts that are parked for too long, at most `limit` of
   * each.
   */
  purge(now: number, limit: number): Promise<PartPurgeCount> {
    return this.database.write(() => purgeParts(this.database.dialect, now, limit));
  }

  /**
   * Deletes the receipts of a number among the next `limit` parked receipts.
   * @param after the `next` of the previous page. '' for the first page. `found` names the receipts
   */
  eraseParked(number: string, after: string, limit: number): Promise<Walked<string>> {
    return this.database.write(() => eraseParkedOf(this.database.dialect, number, after, limit));
  }
}

/** Stores accepted parts and applies the receipts that were parked for them: see `PartStore.record`. */
function* recordParts(
  dialect: Dialect,
  taken: readonly TakenSms[],
  now: number,
  publisher: TransactionPublisher,
): Operation<readonly DeliveryTransition[]> {
  if (taken.length === 0) return [];
  yield* lockRoutes(dialect, taken);
  yield* writeAll([insertParts(dialect, taken)], false);
  return yield* applyParked(dialect, yield* parkedReceipts(dialect, taken, now), { now, taken, publisher });
}

/** The values with which parked receipts are applied. */
interface Unparking {
  readonly now: number;
  /** SMS that have just been recorded. */
  readonly taken: readonly TakenSms[];
  readonly publisher: TransactionPublisher;
}

/** Applies parked receipts, and deletes those that have a part now. */
function* applyParked(
  dialect: Dialect,
  parked: readonly DatedReceipt[],
  { now, taken, publisher }: Unparking,
): Operation<readonly DeliveryTransition[]> {
  if (parked.length === 0) return [];
  yield* lockRoutes(dialect, parked);
  const { updates, unmatched } = yield* applyReceipts(dialect, parked, now);
  const left = new Set(unmatched);
  yield* unparkReceipts(
    dialect,
    parked.filter((receipt) => !left.has(receipt)),
  );
  return yield* settleDeliveries(dialect, withTrails(updates, taken), publisher);
}

/** The result of receiving receipts. */
interface ReceivedReceipts {
  readonly moved: readonly DeliveryTransition[];
  /** The receipts without a part. They are parked. */
  readonly unmatched: readonly DatedReceipt[];
}

/** Applies receipts and parks those without a matching part: see `PartStore.receive`. */
function* receiveReceipts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
  parking: Parking,
  publisher: TransactionPublisher,
): Operation<ReceivedReceipts> {
  if (receipts.length === 0) return { moved: [], unmatched: [] };
  yield* lockRoutes(dialect, receipts);
  const { updates, unmatched } = yield* applyReceipts(dialect, receipts, parking.now);
  yield* parkReceipts(dialect, unmatched, parking);
  return { moved: yield* settleDeliveries(dialect, updates, publisher), unmatched };
}

/** Locks routes until the transaction ends. Does nothing if a writer locks the whole database. */
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
function* purgeParts(dialect: Dialect, now: number, limit: number): Operation<PartPurgeCount> {
  const first = dialect.deleteFirst('messaging_sms_part', 'message_id, position, attempt, part', 'expires_at');
  const parts = yield* write(first, now, limit);
  return { parts, receipts: yield* purgeParked(dialect, now, limit) };
}

/** See `PartStore.eraseParked`. A page ends after the rows of a receipt, of which there are up to 16. */
function* eraseParkedOf(dialect: Dialect, number: string, after: string, limit: number): Operation<Walked<string>> {
  const rows = yield* rowsOf(
    `SELECT q.receipt_id, CASE WHEN q.receipt LIKE ? THEN 1 ELSE 0 END AS named
      FROM messaging_sms_parked q${dialect.by('primary key')} WHERE q.receipt_id > ? ORDER BY q.receipt_id LIMIT ?`,
    `%"number":${JSON.stringify(number)}%`,
    after,
    limit,
  );
  const found = [...new Set(rows.filter(({ named }) => Number(named) === 1).map((row) => textOf(row, 'receipt_id')))];
  if (found.length > 0) {
    yield* write(`DELETE FROM messaging_sms_parked WHERE receipt_id ${dialect.among()}`, JSON.stringify(found));
  }
  const last = rows.at(-1);
  return { found, next: rows.length < limit || !last ? undefined : textOf(last, 'receipt_id') };
}

/** See `PartStore.parts`. */
function* listParts(messageId: string, position?: number): Operation<readonly SmsPart[]> {
  const rows = yield* rowsOf(
    `SELECT ${PART_COLUMNS.join(', ')} FROM messaging_sms_part
      WHERE message_id = ? ${position === undefined ? '' : 'AND position = ?'} ORDER BY position, attempt, part`,
    messageId,
    ...(position === undefined ? [] : [position]),
  );
  return rows.map(toPart);
}

/** See `PartStore.differences`. */
function* differingCounts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
): Operation<readonly SegmentDifference[]> {
  const asked = receipts.flatMap(({ route, ids, segments }) => ids.map((id) => [route, id, segments]));
  const rows = yield* rowsOf(
    `SELECT DISTINCT p.message_id, p.position, p.route, p.parts, v.segments
      FROM ${dialect.rows({ route: 'id', carrier_id: 'id', segments: 'integer' })}
      ${dialect.thenJoin} messaging_sms_part p ON ${dialect.lookUp('p.route = v.route AND p.carrier_id = v.carrier_id')}
      WHERE p.parts <> v.segments`,
    JSON.stringify(asked),
  );
  return rows.map((row) => ({
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    route: textOf(row, 'route'),
    ours: integerOf(row, 'parts'),
    carriers: integerOf(row, 'segments'),
  }));
}

const SHAPE: RowShape = {
  receipt_id: 'id',
  carrier_id: 'id',
  route: 'id',
  receipt: 'text',
  expires_at: 'integer',
  counts_for: 'id',
};

/** Reads receipts that were parked under an id of these SMS, in the order of their arrival, then of the carrier's time. */
function* parkedReceipts(
  dialect: Dialect,
  taken: readonly TakenSms[],
  now: number,
): Operation<readonly DatedReceipt[]> {
  const ids = new Set(taken.flatMap(({ route, carrierIds }) => carrierIds.map((id) => JSON.stringify([route, id]))));
  const rows = yield* rowsOf(
    `SELECT DISTINCT q.expires_at, q.receipt_id, q.receipt FROM ${dialect.rows({ route: 'id', carrier_id: 'id' })}
      ${dialect.thenJoin} messaging_sms_parked q ON ${dialect.lookUp('q.route = v.route AND q.carrier_id = v.carrier_id')}
      WHERE q.expires_at > ? ORDER BY q.expires_at, q.receipt_id`,
    `[${[...ids].join(',')}]`,
    now,
  );
  const waiting = rows.map((row): { receipt: DatedReceipt; until: number } => ({
    receipt: JSON.parse(textOf(row, 'receipt')),
    until: integerOf(row, 'expires_at'),
  }));
  waiting.sort((a, b) => a.until - b.until || a.receipt.at - b.receipt.at);
  return waiting.map(({ receipt }) => receipt);
}

/** Stores receipts for later, with one row for each id. Only the first row of a receipt counts against the route's limit. */
function* parkReceipts(dialect: Dialect, receipts: readonly DatedReceipt[], { until, most }: Parking): Operation<void> {
  if (receipts.length === 0) return;
  const rows = receipts.flatMap((receipt) => {
    const key = receiptKey(receipt);
    const text = JSON.stringify(receipt);
    return receipt.ids.map((id, place) => [key, id, receipt.route, text, until, place === 0 ? receipt.route : null]);
  });
  const onDuplicate = ['receipt_id, carrier_id'] as const;
  yield dialect.insertRows({ table: 'messaging_sms_parked', shape: SHAPE, rows, onDuplicate });
  for (const route of new Set(receipts.map((receipt) => receipt.route))) yield* deleteOldest(dialect, route, most);
}

/** Deletes the oldest receipts of a route above its limit. The caller has locked the route. */
function* deleteOldest(dialect: Dialect, route: string, most: number): Operation<void> {
  const [count] = yield* rowsOf('SELECT count(*) AS parked FROM messaging_sms_parked WHERE counts_for = ?', route);
  const excess = (count ? integerOf(count, 'parked') : 0) - most;
  if (excess <= 0) return;
  const oldest = yield* rowsOf(
    'SELECT receipt_id FROM messaging_sms_parked WHERE counts_for = ? ORDER BY expires_at, receipt_id LIMIT ?',
    route,
    excess,
  );
  yield* forget(
    dialect,
    oldest.map((row) => textOf(row, 'receipt_id')),
  );
}

/** Deletes receipts that were applied to a part. */
function* unparkReceipts(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<void> {
  if (receipts.length > 0) yield* forget(dialect, receipts.map(receiptKey));
}

function* forget(dialect: Dialect, keys: readonly string[]): Operation<void> {
  yield* write(`DELETE FROM messaging_sms_parked WHERE receipt_id ${dialect.among()}`, JSON.stringify(keys));
}

/** Deletes expired receipts. */
function purgeParked(dialect: Dialect, now: number, limit: number): Operation<number> {
  return write(dialect.deleteFirst('messaging_sms_parked', 'receipt_id, carrier_id', 'expires_at'), now, limit);
}
