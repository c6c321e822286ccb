import type { Writable } from '../../common/writable.js';
import { isComplete, isPublished } from '../../events/delivery-status.js';
import type { TransactionPublisher } from '../../events/event-recorder.js';
import type { NewEvent } from '../../events/event-types.js';
import { deliveryEvents } from '../../events/events-of.js';
import type { Dialect } from '../../storage/dialect.js';
import { RecordMovedError } from '../../storage/engine/faults.js';
import { type Operation, type Row, rowsOf, type Statement, writeAll } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, type RowShape, shapeOf, textOf } from '../../storage/engine/rows.js';
import {
  countAttempts,
  type DeliveryChange,
  type DeliveryRow,
  type DeliveryStatus,
  type DeliveryUpdate,
  nextState,
  type TrailEntry,
} from '../delivery-state.js';
import type { DeliveryTransition, ExpiryOrder } from '../outbox-records.js';
import { PARKED, PARKED_QUEUE } from '../queue/parked.js';
import { PRIORITIES } from '../queue/priority.api.js';
import type { Floors, QueueMemory } from '../queue/queue-memory.js';
import { findQueues, lockQueues } from '../queue/queues.js';
import { type Completing, completeSends, lockMessages, updateMessages } from './completion.js';
import type { HeldRow } from './held-rows.js';
import { lockAccounts, refunds, refundsOfMessages } from './refunds.js';
import { insertTrail } from './trail.js';

/** The fields of a message that no update changes. */
interface SentMessage
  extends Pick<
    DeliveryTransition,
    'accountId' | 'channel' | 'sender' | 'acceptedAt' | 'sendAt' | 'metadata' | 'trace'
  > {
  readonly recipients: number;
  readonly units: number;
  /**
   * The number from which its account records events; undefined if the account does not record, or if the send has one
   * recipient.
   */
  readonly recordedSince: number | undefined;
}

/** A recipient that was read while it was locked. */
interface LockedRow extends DeliveryRow {
  readonly messageId: string;
  readonly position: number;
  readonly number: string;
  readonly message: SentMessage;
  readonly refundedUnits: number;
  readonly storedAttempts: number;
  readonly doubtful: boolean;
}

/** The values of a row after the updates so far, and the refunds and trail entries of these updates. */
interface ChangedRow extends LockedRow {
  readonly refund: number;
  readonly error: string | undefined;
  /** Undefined: the stored reference stays. */
  readonly reference: string | undefined;
  readonly at: number;
  /** False: the stored mark stays. */
  readonly doubtful: boolean;
  readonly leavesLane: boolean;
  readonly trail: readonly TrailEntry[];
}

/**
 * Locks, reads, applies `nextState` and writes: see `OutboxStore.settle`. It must be the last part of a transaction of
 * `EventRecorder`. If there is no event, it ends the transaction.
 */
export function* settleDeliveries(
  dialect: Dialect,
  updates: readonly DeliveryUpdate[],
  publisher: TransactionPublisher,
): Operation<readonly DeliveryTransition[]> {
  if (updates.length === 0) return [];
  const locked = yield* lockRecipients(dialect, updates);
  return yield* settleRows(dialect, updates, locked, publisher);
}

/**
 * As `settleDeliveries`, without a read of the rows: they are written only if they still are as their claim has left them.
 * Only for a database with one writer.
 * @param moved called if one of them is not
 * @throws RecordMovedError in this case, so that nothing is written
 */
export function* settleHeldDeliveries(
  dialect: Dialect,
  updates: readonly DeliveryUpdate[],
  held: ReadonlyMap<DeliveryUpdate, HeldRow>,
  publisher: TransactionPublisher,
  moved: () => void,
): Operation<readonly DeliveryTransition[]> {
  const rows = yield* assumedRows(dialect, held);
  return yield* settleRows(dialect, updates, rows, publisher, function* (changed) {
    const { affected } = yield updateRecipients(dialect, changed, rows);
    if (affected === changed.length) return;
    moved();
    throw new RecordMovedError('A delivery is no longer as its claim has left it.');
  });
}

/** The rows as their claims have left them. */
function* assumedRows(
  dialect: Dialect,
  held: ReadonlyMap<DeliveryUpdate, HeldRow>,
): Operation<ReadonlyMap<string, LockedRow>> {
  const several = new Set<string>();
  for (const { delivery, message } of held.values()) if (message.recipients > 1) several.add(delivery.accountId);
  const recording = several.size > 0 ? yield* findRecording(dialect, [...several]) : undefined;
  const rows = new Map<string, LockedRow>();
  for (const { delivery, leaseUntil, units, storedAttempts, message } of held.values()) {
    const { recipients, metadata } = message;
    rows.set(keyOf(delivery), {
      messageId: delivery.messageId,
      position: delivery.position,
      number: delivery.number,
      message: {
        accountId: delivery.accountId,
        channel: delivery.channel,
        sender: delivery.sender,
        recipients,
        units: message.units,
        acceptedAt: delivery.acceptedAt,
        sendAt: delivery.schedule?.sendAt,
        metadata,
        recordedSince: recipients > 1 ? recording?.get(delivery.accountId) : undefined,
        trace: delivery.trace,
      },
      units,
      // Only a failed delivery is refunded, and it is not sent again.
      refundedUnits: 0,
      attempt: delivery.attempt,
      storedAttempts,
      doubtful: delivery.doubtful === true,
      status: 'sending',
      dueAt: leaseUntil,
    });
  }
  return rows;
}

/** The numbers from which accounts record events. An account that does not record is missing. */
function* findRecording(dialect: Dialect, accountIds: readonly string[]): Operation<ReadonlyMap<string, number>> {
  const rows = yield* rowsOf(
    `SELECT id, began FROM messaging_event_counter WHERE recording = 1 AND id ${dialect.among()}`,
    JSON.stringify(accountIds),
  );
  return new Map(rows.map((row) => [textOf(row, 'id'), integerOf(row, 'began')]));
}

/** @param writeFirst writes the changed rows before everything else. Undefined: they are written with it */
function* settleRows(
  dialect: Dialect,
  updates: readonly DeliveryUpdate[],
  locked: ReadonlyMap<string, LockedRow>,
  { publishLater, expect }: TransactionPublisher,
  writeFirst?: (changed: readonly ChangedRow[]) => Operation<void>,
): Operation<readonly DeliveryTransition[]> {
  const transitions: DeliveryTransition[] = [];
  const changed = new Map<string, ChangedRow>();
  const completing = new Map<string, Completing & { readonly by: number }>();
  let again = false;
  for (const update of updates) {
    const key = keyOf(update);
    const earlier = changed.get(key);
    const row = earlier ?? locked.get(key);
    const change = row && nextState(row, update);
    if (!row || !change) continue;
    if (earlier) again = true;
    const next = changedRow(row, earlier, update, change);
    changed.set(key, next);
    if (change.status === row.status) continue;
    const completes = isComplete(change.status) && !isComplete(row.status);
    transitions.push(transitionOf(next, change.refund, completes));
    const { messageId, message } = row;
    const { recipients, units, accountId, recordedSince } = message;
    if (!completes || recipients === 1) continue;
    expect(accountId, recordedSince);
    if (recordedSince === undefined) continue;
    const added = (completing.get(messageId)?.added ?? 0) + 1;
    completing.set(messageId, { messageId, recipients, units, recordedSince, added, by: transitions.length - 1 });
  }
  if (changed.size === 0) return transitions;
  const rows = inOrder(locked.keys(), changed);
  const refunded = rows.filter(({ refund }) => refund > 0);
  const messages = [...completing.keys(), ...refunded.map(({ messageId }) => messageId)];
  const counts = yield* lockMessages(dialect, messages, completing);
  yield* lockAccounts(dialect, refunded);
  if (writeFirst) yield* writeFirst(rows);
  const statements = [
    ...(writeFirst ? [] : [updateRecipients(dialect, rows)]),
    ...(refunded.length > 0 ? refunds(dialect, refunded) : []),
    ...updateMessages(dialect, refundsOfMessages(refunded), completing, counts),
    ...insertTrail(dialect, rows),
  ];
  const publishesNothing = !transitions.some(({ status }) => isPublished(status));
  yield* writeAll(dialect.together(statements), publishesNothing);
  for (const [messageId, completed] of yield* completeSends(dialect, completing, counts)) {
    const place = completing.get(messageId)?.by ?? -1;
    const last = transitions[place];
    if (last) transitions[place] = { ...last, completed };
  }
  const published = transitions.filter(({ status }) => isPublished(status));
  if (published.length > 0) {
    publishLater({
      accountIds: published.map(({ accountId }) => accountId),
      make: (records) => {
        const events = published.filter(({ accountId }) => records(accountId)).flatMap(deliveryEvents);
        return again ? events : byType(events);
      },
    });
  }
  return transitions;
}

/**
 * Orders the events of many deliveries. Events of one type are next to each other, because the log then stores them in
 * fewer rows. The completions of sends come last.
 */
function byType(events: readonly NewEvent[]): readonly NewEvent[] {
  const types = new Map<string, NewEvent[]>();
  for (const event of events) {
    const alike = types.get(event.type);
    if (alike) alike.push(event);
    else types.set(event.type, [event]);
  }
  const completed = types.get('send.completed') ?? [];
  types.delete('send.completed');
  return [...types.values(), completed].flat();
}

function transitionOf(row: ChangedRow, refund: number, completes: boolean): DeliveryTransition {
  const { message, status, refundedUnits } = row;
  const { recipients, units, sendAt, trace } = message;
  // Written out, as in `changedRow`.
  const transition: Writable<DeliveryTransition> = {
    messageId: row.messageId,
    position: row.position,
    accountId: message.accountId,
    channel: message.channel,
    sender: message.sender,
    number: row.number,
    status,
    error: row.error,
    units: row.units,
    refund,
    refundedUnits,
    acceptedAt: message.acceptedAt,
    metadata: message.metadata,
    at: row.at,
  };
  if (sendAt !== undefined) transition.sendAt = sendAt;
  if (trace !== undefined) transition.trace = trace;
  if (completes && recipients === 1)
    transition.completed = { recipients, statuses: { [status]: 1 }, units, refundedUnits };
  return transition;
}

/** The row after one more update. */
function changedRow(
  row: LockedRow,
  earlier: ChangedRow | undefined,
  { error, at, reference, doubtful = false, leavesLane = false, trail = NONE }: DeliveryUpdate,
  change: DeliveryChange,
): ChangedRow {
  // The fields are written out, because with spread operators a batch takes several times as long here.
  return {
    messageId: row.messageId,
    position: row.position,
    number: row.number,
    message: row.message,
    units: row.units,
    status: change.status,
    dueAt: change.dueAt,
    attempt: change.attempt ?? row.attempt,
    refund: (earlier?.refund ?? 0) + change.refund,
    refundedUnits: row.refundedUnits + change.refund,
    error,
    at,
    reference: reference ?? earlier?.reference,
    doubtful: doubtful || earlier?.doubtful === true,
    leavesLane,
    trail: earlier ? [...earlier.trail, ...trail] : trail,
    storedAttempts: row.storedAttempts + countAttempts(trail),
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

/**
 * Sets overdue deliveries to `unknown`: see `OutboxStore.expire`.
 * @param floors is filled with the results of the search. Pass them to the memory after the commit
 */
export function* expireDeliveries(
  dialect: Dialect,
  { channel, limit, now, statuses }: ExpiryOrder,
  memory: QueueMemory,
  floors: Floors,
  publisher: TransactionPublisher,
): Operation<readonly DeliveryTransition[]> {
  const rows: Row[] = [];
  const places = statuses.flatMap((status) => PRIORITIES.flatMap((priority) => memory.placesOf(status, priority)));
  // Each place is one queue, so one result is enough.
  for (const queue of (yield* findQueues(dialect, channel, places, now, 1)).flat()) {
    const { due } = queue;
    const take = limit - rows.length;
    if (due !== undefined && take > 0) {
      rows.push(...(yield* lockQueues(dialect, channel, [{ ...queue, floor: due, take }], now, 'any')));
    }
    floors.set(queue, rows.length < limit ? undefined : due);
  }
  return yield* settleDeliveries(
    dialect,
    rows.map((row) => ({
      messageId: textOf(row, 'message_id'),
      position: integerOf(row, 'position'),
      status: 'unknown',
      at: now,
    })),
    publisher,
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
  // All transactions lock recipients in this order, so that two updates of the same deliveries cannot deadlock.
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.position, r.status, r.units, r.refunded_units, r.attempt, r.tries, r.doubtful, r.due_at, r.channel, r.number,
        m.account_id, m.sender, m.recipients, m.units AS price, m.accepted_at, m.send_at, m.metadata, m.trace,
        CASE WHEN m.recipients > 1 THEN (${RECORDED_SINCE} WHERE c.id = m.account_id AND c.recording = 1) END AS recorded_since
      FROM ${dialect.rowsInOrder({ message_id: 'id', position: 'integer' }, 'message_id, position')}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')} ON ${dialect.lookUp('r.message_id = v.message_id AND r.position = v.position')}
      ${dialect.thenJoin} ${dialect.unlocked('messaging_message')} m ON ${dialect.lookUp('m.id = r.message_id')}
      ORDER BY r.message_id, r.position${dialect.lock('r', 'wait')}`,
    JSON.stringify([...keys.values()]),
  );
  const messages = new Map<string, SentMessage>();
  return new Map(
    rows.map((row) => {
      const messageId = textOf(row, 'message_id');
      const message = messages.get(messageId) ?? toMessage(row);
      messages.set(messageId, message);
      const locked = toLocked(row, messageId, message);
      return [keyOf(locked), locked];
    }),
  );
}

/**
 * This is read without a lock. The recorder reads it again after it has locked the counter, and repeats the transaction
 * if the value differs.
 */
const RECORDED_SINCE = 'SELECT c.began FROM messaging_event_counter c';

function toMessage(row: Row): SentMessage {
  const metadata = optionalText(row, 'metadata');
  return {
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    sender: textOf(row, 'sender'),
    recipients: integerOf(row, 'recipients'),
    units: integerOf(row, 'price'),
    acceptedAt: integerOf(row, 'accepted_at'),
    sendAt: optionalInteger(row, 'send_at'),
    metadata: metadata === undefined ? undefined : JSON.parse(metadata),
    recordedSince: optionalInteger(row, 'recorded_since'),
    trace: optionalText(row, 'trace'),
  };
}

function toLocked(row: Row, messageId: string, message: SentMessage): LockedRow {
  return {
    messageId,
    position: integerOf(row, 'position'),
    number: textOf(row, 'number'),
    message,
    units: integerOf(row, 'units'),
    refundedUnits: integerOf(row, 'refunded_units'),
    attempt: integerOf(row, 'attempt'),
    storedAttempts: integerOf(row, 'tries'),
    doubtful: optionalInteger(row, 'doubtful') === 1,
    // Only this package writes the column, from values of this type.
    status: textOf(row, 'status') as DeliveryStatus,
    dueAt: optionalInteger(row, 'due_at') ?? null,
  };
}

/** A delivery that needs no further attempt leaves its lane, and so the index of lanes. */
const LANE = "CASE WHEN v.status = 'queued' THEN messaging_recipient.lane END";
const QUEUE = "CASE WHEN messaging_recipient.lane IS NULL THEN v.queue ELSE '' END";

/**
 * As above, if some of the deliveries wait outside their lanes. `queue` comes first, because MariaDB sets the columns one
 * after the other.
 */
const LEAVING_LANE = {
  queue: `CASE WHEN messaging_recipient.lane IS NULL THEN v.queue WHEN v.parked = 1 THEN '${PARKED_QUEUE}' ELSE '' END`,
  lane: `CASE WHEN v.parked = 1 AND messaging_recipient.lane IS NOT NULL THEN concat('${PARKED}', messaging_recipient.lane)
    WHEN v.status = 'queued' THEN messaging_recipient.lane END`,
};

/** @param before if given, only rows are changed that still are in their earlier state of `before`, and have its lease */
function updateRecipients(
  dialect: Dialect,
  rows: readonly ChangedRow[],
  before?: ReadonlyMap<string, LockedRow>,
): Statement {
  // Doubtful attempts are rare, so the column is only updated if there are any.
  const doubts = rows.some(({ doubtful }) => doubtful);
  // Few deliveries are tried again, so the account is only passed if there are any.
  const waits = rows.some(({ status }) => status === 'queued');
  const leaving = rows.some(({ leavesLane }) => leavesLane);
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
      ...(leaving ? LEAVING_LANE : { lane: LANE, queue: waits ? QUEUE : "''" }),
      reference: 'coalesce(v.reference, messaging_recipient.reference)',
      ...(doubts ? { doubtful: 'coalesce(v.doubtful, messaging_recipient.doubtful)' } : {}),
    },
    shape: {
      ...shapeOf('message_id status error reference', 'position due_at attempt tries refund at'),
      ...(doubts ? { doubtful: 'integer' } : {}),
      ...(waits ? { queue: 'id' } : {}),
      ...(leaving ? { parked: 'integer' } : {}),
      ...(before ? HELD : {}),
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
      ...(waits ? [row.status === 'queued' ? row.message.accountId : ''] : []),
      ...(leaving ? [row.leavesLane ? 1 : 0] : []),
      ...(before ? heldAs(before.get(keyOf(row))) : []),
    ]),
    on: `messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position${before ? IS_HELD : ''}`,
  });
}

const HELD: RowShape = { held_attempt: 'integer', held_until: 'integer' };
const IS_HELD = ` AND messaging_recipient.status = 'sending' AND messaging_recipient.attempt = v.held_attempt
  AND messaging_recipient.due_at = v.held_until`;

function heldAs(row: LockedRow | undefined): readonly unknown[] {
  return [row?.attempt ?? null, row?.dueAt ?? null];
}
