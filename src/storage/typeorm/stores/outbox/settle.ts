import {
  type DeliveryChange,
  type DeliveryRow,
  type DeliveryStatus,
  type DeliveryUpdate,
  isAttempt,
  nextState,
  type TrailEntry,
} from '../../../../outbox/delivery-state.js';
import type { DeliveryTransition, ExpiryOrder } from '../../../../outbox/outbox-store.js';
import { PRIORITIES } from '../../../../outbox/priority.js';
import type { Dialect } from '../../dialects/dialect.js';
import { type Operation, type Row, rowsOf, type Statement, writeAll } from '../../engine/operation.js';
import { asTheyAre, integerOf, optionalInteger, shapeOf, textOf } from '../../engine/rows.js';
import { type Floors, floorOf, type QueueMemory } from './queue-memory.js';
import { findQueues, lockQueues } from './queues.js';
import { insertTrail } from './trail.js';

/** A recipient as it was read under lock. */
interface LockedRow extends DeliveryRow {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  readonly number: string;
  readonly storedAttempts: number;
}

/** The values of a row after the updates so far, and what these add. */
interface ChangedRow extends LockedRow {
  readonly refund: number;
  readonly error: string | undefined;
  /** Undefined: the stored one stays. */
  readonly reference: string | undefined;
  readonly at: number;
  /** False: the stored mark stays. */
  readonly doubtful: boolean;
  readonly trail: readonly TrailEntry[];
}

/** Locks, reads, applies `nextState` and writes: see `OutboxStore.settle`. */
export function* settleDeliveries(
  dialect: Dialect,
  updates: readonly DeliveryUpdate[],
): Operation<readonly DeliveryTransition[]> {
  if (updates.length === 0) return [];
  const locked = yield* lockRecipients(dialect, updates);
  const transitions: DeliveryTransition[] = [];
  const changed = new Map<string, ChangedRow>();
  for (const update of updates) {
    const key = keyOf(update);
    const earlier = changed.get(key);
    const row = earlier ?? locked.get(key);
    const change = row && nextState(row, update);
    if (!row || !change) continue;
    changed.set(key, changedRow(row, earlier, update, change));
    if (change.status === row.status) continue;
    const { messageId, position, accountId, channel, number } = row;
    const { status, refund } = change;
    const { error, at } = update;
    transitions.push({ messageId, position, accountId, channel, number, status, error, refund, at });
  }
  if (changed.size > 0) {
    const rows = inOrder(locked.keys(), changed);
    const refunded = rows.filter(({ refund }) => refund > 0);
    const statements = [
      updateRecipients(dialect, rows),
      ...(refunded.length > 0 ? refunds(dialect, refunded) : []),
      ...insertTrail(dialect, rows),
    ];
    yield* writeAll(dialect.together(statements), true);
  }
  return transitions;
}

/** The row after one more update. */
function changedRow(
  row: LockedRow,
  earlier: ChangedRow | undefined,
  { error, at, reference, doubtful = false, trail = NONE }: DeliveryUpdate,
  change: DeliveryChange,
): ChangedRow {
  // Written out: with spread operators a batch takes several times as long here.
  return {
    messageId: row.messageId,
    position: row.position,
    accountId: row.accountId,
    channel: row.channel,
    number: row.number,
    units: row.units,
    status: change.status,
    dueAt: change.dueAt,
    attempt: change.attempt ?? row.attempt,
    refund: (earlier?.refund ?? 0) + change.refund,
    error,
    at,
    reference: reference ?? earlier?.reference,
    doubtful: doubtful || earlier?.doubtful === true,
    trail: earlier ? [...earlier.trail, ...trail] : trail,
    storedAttempts: row.storedAttempts + trail.filter(isAttempt).length,
  };
}

const NONE: readonly TrailEntry[] = [];

/** The changed rows in the order of their locks. */
function inOrder(keys: Iterable<string>, changed: ReadonlyMap<string, ChangedRow>): readonly ChangedRow[] {
  const rows: ChangedRow[] = [];
  for (const key of keys) {
    const row = changed.get(key);
    if (row) rows.push(row);
  }
  return rows;
}

/** The most queues between two remembered ones that one expiry looks at; there is one, but for those of an earlier version. */
const QUEUES = 64;

/**
 * Sets overdue deliveries to `unknown`: see `OutboxStore.expire`.
 * @param floors gets what the search has found; to be told to the memory after the commit
 */
export function* expireDeliveries(
  dialect: Dialect,
  { channel, limit, now, statuses }: ExpiryOrder,
  memory: QueueMemory,
  floors: Floors,
): Operation<readonly DeliveryTransition[]> {
  const rows: Row[] = [];
  const places = statuses.flatMap((status) => PRIORITIES.flatMap((priority) => memory.placesOf(status, priority)));
  for (const queue of (yield* findQueues(dialect, channel, places, now, QUEUES)).flat()) {
    const { due } = queue;
    const take = limit - rows.length;
    if (due !== undefined && take > 0) {
      rows.push(...(yield* lockQueues(dialect, channel, [{ ...queue, floor: due, take }], now, 'any')));
    }
    floors.set(queue, floorOf(rows.length < limit ? undefined : due, now));
  }
  return yield* settleDeliveries(
    dialect,
    rows.map((row) => ({
      messageId: textOf(row, 'message_id'),
      position: integerOf(row, 'position'),
      status: 'unknown',
      at: now,
    })),
  );
}

function keyOf({ messageId, position }: { readonly messageId: string; readonly position: number }): string {
  return `${position} ${messageId}`;
}

function* lockRecipients(
  dialect: Dialect,
  wanted: readonly DeliveryUpdate[],
): Operation<ReadonlyMap<string, LockedRow>> {
  const keys = new Map(wanted.map((key) => [keyOf(key), [key.messageId, key.position]]));
  // All transactions lock in this order, so that two updates of the same deliveries cannot deadlock.
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.position, r.status, r.units, r.attempt, r.tries, r.due_at, r.channel, r.number, m.account_id
      FROM ${dialect.rowsInOrder({ message_id: 'id', position: 'integer' }, 'message_id, position')}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')} ON r.message_id = v.message_id AND r.position = v.position
      ${dialect.thenJoin} ${dialect.unlocked('messaging_message')} m ON m.id = r.message_id
      ORDER BY r.message_id, r.position${dialect.lock('r', 'wait')}`,
    JSON.stringify([...keys.values()]),
  );
  return new Map(rows.map(toLocked).map((row) => [keyOf(row), row]));
}

function toLocked(row: Row): LockedRow {
  return {
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    number: textOf(row, 'number'),
    units: integerOf(row, 'units'),
    attempt: integerOf(row, 'attempt'),
    storedAttempts: integerOf(row, 'tries'),
    // Only this package writes the column, from values of this type.
    status: textOf(row, 'status') as DeliveryStatus,
    dueAt: optionalInteger(row, 'due_at') ?? null,
  };
}

function updateRecipients(dialect: Dialect, rows: readonly ChangedRow[]): Statement {
  // Doubtful attempts are rare, so the column is only updated where there are any.
  const doubts = rows.some(({ doubtful }) => doubtful);
  // Few are tried again, so the account is only given where there are any.
  const waits = rows.some(({ status }) => status === 'queued');
  return dialect.updateRows({
    table: 'messaging_recipient',
    set: {
      status: 'v.status',
      due_at: 'v.due_at',
      error: 'v.error',
      updated_at: 'v.at',
      refunded_units: 'refunded_units + v.refund',
      attempt: 'v.attempt',
      tries: 'v.tries',
      // It leaves its lane, and with it the index of lanes, when it needs no further attempt.
      lane: "CASE WHEN v.status = 'queued' THEN messaging_recipient.lane END",
      queue: waits ? "CASE WHEN messaging_recipient.lane IS NULL THEN v.queue ELSE '' END" : "''",
      reference: 'coalesce(v.reference, messaging_recipient.reference)',
      ...(doubts ? { doubtful: 'coalesce(v.doubtful, messaging_recipient.doubtful)' } : {}),
    },
    shape: {
      ...shapeOf('message_id status error reference', 'position due_at attempt tries refund at'),
      ...(doubts ? { doubtful: 'integer' } : {}),
      ...(waits ? { queue: 'id' } : {}),
    },
    rows: rows.map((row) => [
      row.messageId,
      row.status,
      row.error ?? null,
      row.reference ?? null,
      row.position,
      row.dueAt,
      row.attempt,
      row.storedAttempts,
      row.refund,
      row.at,
      ...(doubts ? [row.doubtful ? 1 : null] : []),
      ...(waits ? [row.status === 'queued' ? row.accountId : ''] : []),
    ]),
    on: 'messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position',
  });
}

const REFUND = shapeOf('id account_id message_id', 'units position posted_at');

function refunds(dialect: Dialect, rows: readonly ChangedRow[]): Statement[] {
  return [
    dialect.insertRows({
      table: 'messaging_ledger',
      values: { ...asTheyAre(REFUND), kind: "'refund'" },
      shape: REFUND,
      rows: rows.map(({ messageId, accountId, refund, position, at }) => {
        return [`${messageId}:${position}`, accountId, messageId, refund, position, at];
      }),
    }),
    dialect.updateRows({
      table: 'messaging_account',
      set: { balance: 'balance + v.units' },
      shape: { id: 'id', units: 'integer' },
      rows: sums(rows, ({ accountId }) => accountId),
      on: 'messaging_account.id = v.id',
    }),
    dialect.updateRows({
      table: 'messaging_message',
      set: { refunded_units: 'refunded_units + v.units' },
      shape: { id: 'id', units: 'integer' },
      rows: sums(rows, ({ messageId }) => messageId),
      on: 'messaging_message.id = v.id',
    }),
  ];
}

/** Sums refunds by a key, sorted by the key, as all transactions lock rows in that order. */
function sums(rows: readonly ChangedRow[], key: (row: ChangedRow) => string): [string, number][] {
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(key(row), (totals.get(key(row)) ?? 0) + row.refund);
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1));
}
