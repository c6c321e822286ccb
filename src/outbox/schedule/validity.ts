import { SECOND_MS } from '../../common/time.js';
import type { TransactionPublisher } from '../../events/event-recorder.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, type Statement, writeAll } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, type RowShape, textOf } from '../../storage/engine/rows.js';
import type { DeliveryUpdate } from '../delivery-state.js';
import type { DeliveryTransition } from '../outbox-records.js';
import { settleDeliveries } from '../settle/settle.js';
import { EXPIRED, type Schedule } from './schedule.js';

/** The maximum number of entries that one search reads. */
const ENTRIES = 500;

/** How long after the end of a validity a recipient is looked at again that a worker has claimed before, in milliseconds. */
const AGAIN_MS = 30 * SECOND_MS;

const TABLE = 'messaging_validity';
const KEY: RowShape = { due_at: 'integer', message_id: 'id' };
const IS_ENTRY = `${TABLE}.due_at = v.due_at AND ${TABLE}.message_id = v.message_id`;

/** Selects waiting recipients whose validity has ended. */
export interface WaitingExpiryOrder {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The maximum number of recipients that are examined. */
  readonly limit: number;
}

/** The result of one step of the walk. */
export interface ExpiredSlice {
  readonly transitions: readonly DeliveryTransition[];
  /** Whether the validity of others may have ended. */
  readonly more: boolean;
}

interface ValidSend {
  readonly id: string;
  readonly schedule?: Schedule | undefined;
}

/** The statements that note the ends of validity of new sends. A send without validity has no entry. */
export function insertValidities(dialect: Dialect, sends: readonly ValidSend[]): readonly Statement[] {
  const rows = sends.flatMap(({ id, schedule }) =>
    schedule?.validUntil === undefined ? [] : [[schedule.validUntil, id]],
  );
  return rows.length === 0 ? [] : [insertEntries(dialect, rows)];
}

/** Notes that the validity of a message has another end. */
export function* moveValidity(dialect: Dialect, messageId: string, before: Schedule, after: Schedule): Operation<void> {
  const [from, to] = [before.validUntil, after.validUntil];
  if (from === to) return;
  if (from !== undefined) yield* writeAll([deleteEntries(dialect, [[from, messageId]])], false);
  if (to !== undefined) yield* dialect.insertNew(insertEntries(dialect, [[to, messageId]]), 'due_at, message_id');
}

function insertEntries(dialect: Dialect, rows: readonly (readonly unknown[])[]): Statement {
  const values = { due_at: 'v.due_at', message_id: 'v.message_id', position: '0', again: '0' };
  return dialect.insertRows({ table: TABLE, shape: KEY, values, rows });
}

function deleteEntries(dialect: Dialect, rows: readonly (readonly unknown[])[]): Statement {
  return dialect.deleteRows({ table: TABLE, shape: KEY, rows, on: IS_ENTRY });
}

/** An end of a validity that has passed. The recipients before `position` were examined. */
interface Entry {
  readonly dueAt: number;
  readonly messageId: string;
  readonly position: number;
  /** Whether one of them was in the hands of a worker. */
  readonly again: boolean;
  /** The number of recipients; 0 if the message was removed. */
  readonly recipients: number;
}

/**
 * Fails waiting recipients whose validity has ended, and refunds them: see `OutboxStore.expireWaiting`. A recipient that a
 * worker has claimed may come back for another attempt, so its message is looked at again later.
 */
export function* expireWaiting(
  dialect: Dialect,
  { now, limit }: WaitingExpiryOrder,
  publisher: TransactionPublisher,
): Operation<ExpiredSlice> {
  const entries = yield* findEntries(now);
  const taken = together(entries, limit);
  const [first] = taken;
  if (!first) return { transitions: [], more: false };
  const open = yield* lockOpen(dialect, taken, first.position, limit);
  // They are read under the locks, because a request may have changed the schedule until then.
  const expired = yield* findExpired(dialect, taken, now);
  const claimed = new Set<string>();
  const updates: DeliveryUpdate[] = [];
  for (const row of open) {
    const messageId = textOf(row, 'message_id');
    if (!expired.has(messageId)) continue;
    if (row.status === 'sending') claimed.add(messageId);
    else updates.push(expiryOf(row, now));
  }
  const done: unknown[][] = [];
  const changed: unknown[][] = [];
  let isUnfinished = false;
  for (const { dueAt, messageId, position, recipients, again } of taken) {
    const isClaimed = again || claimed.has(messageId);
    const next = position + limit;
    if (!expired.has(messageId)) done.push([dueAt, messageId]);
    else if (next < recipients) {
      isUnfinished = true;
      changed.push([dueAt, messageId, dueAt, next, isClaimed ? 1 : 0]);
    } else if (isClaimed) changed.push([dueAt, messageId, now + AGAIN_MS, 0, 0]);
    else done.push([dueAt, messageId]);
  }
  yield* writeAll(
    [
      ...(done.length > 0 ? [deleteEntries(dialect, done)] : []),
      ...(changed.length > 0 ? [updateEntries(dialect, changed)] : []),
    ],
    false,
  );
  const transitions = yield* settleDeliveries(dialect, updates, publisher);
  return { transitions, more: isUnfinished || taken.length < entries.length || entries.length === ENTRIES };
}

function* findEntries(now: number): Operation<readonly Entry[]> {
  const rows = yield* rowsOf(
    `SELECT e.due_at, e.message_id, e.position, e.again, m.recipients FROM ${TABLE} e
      LEFT JOIN messaging_message m ON m.id = e.message_id
      WHERE e.due_at <= ? ORDER BY e.due_at, e.message_id LIMIT ?`,
    now,
    ENTRIES,
  );
  return rows.map((row) => ({
    dueAt: integerOf(row, 'due_at'),
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    again: integerOf(row, 'again') === 1,
    recipients: optionalInteger(row, 'recipients') ?? 0,
  }));
}

/** The first entries that have at most `limit` recipients in all. An entry that needs several steps is alone. */
function together(entries: readonly Entry[], limit: number): readonly Entry[] {
  const [first] = entries;
  if (!first || first.position > 0 || first.recipients > limit) return entries.slice(0, 1);
  let total = 0;
  const end = entries.findIndex(({ position, recipients }) => {
    total += recipients;
    return position > 0 || total > limit;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/** Locks the recipients that need an attempt or its result, in the order of all transactions. */
function lockOpen(dialect: Dialect, entries: readonly Entry[], from: number, limit: number): Operation<readonly Row[]> {
  return rowsOf(
    `SELECT r.message_id, r.position, r.status, r.doubtful FROM ${dialect.rowsInOrder({ message_id: 'id' }, 'message_id')}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')} ON ${dialect.lookUp('r.message_id = v.message_id')}
      WHERE r.position >= ? AND r.position < ? AND r.status IN ('queued', 'sending')
      ORDER BY r.message_id, r.position${dialect.lock('r', 'wait')}`,
    JSON.stringify(entries.map(({ messageId }) => [messageId])),
    from,
    from + limit,
  );
}

/** Those messages of the entries whose validity has ended. */
function* findExpired(dialect: Dialect, entries: readonly Entry[], now: number): Operation<ReadonlySet<string>> {
  const rows = yield* rowsOf(
    `SELECT id FROM messaging_message WHERE id ${dialect.among()} AND valid_until <= ?`,
    JSON.stringify(entries.map(({ messageId }) => messageId)),
    now,
  );
  return new Set(rows.map((row) => textOf(row, 'id')));
}

/** If an earlier attempt may have been accepted, nothing proves that the recipient got nothing. */
function expiryOf(row: Row, at: number): DeliveryUpdate {
  return {
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    status: optionalInteger(row, 'doubtful') === 1 ? 'unknown' : 'failed',
    error: EXPIRED,
    at,
  };
}

function updateEntries(dialect: Dialect, rows: readonly (readonly unknown[])[]): Statement {
  return dialect.updateRows({
    table: TABLE,
    set: { position: 'v.next', again: 'v.claimed', due_at: 'v.due' },
    shape: { ...KEY, due: 'integer', next: 'integer', claimed: 'integer' },
    rows,
    on: IS_ENTRY,
  });
}
