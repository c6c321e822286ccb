import type { Dialect } from '../storage/dialect.js';
import { RecordMovedError } from '../storage/engine/faults.js';
import { type Operation, type Row, rowsOf, type Statement, writeAll } from '../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../storage/engine/rows.js';
import { eventRows } from './event-runs.js';
import type { NewEvent } from './event-types.js';
import { accountsOf, eventsOf, type PublishedEvents } from './published-events.js';
import type { AddedEvents } from './stored-event.js';

const EVENT = { account_id: 'id', ...shapeOf('type data', 'sequence earlier at') } as const;
const MARK = { account_id: 'id', ...shapeOf('type data', 'at') } as const;

/**
 * Numbers and stores the events of accounts that record. This must be the last step of a transaction. From here to the
 * commit it locks the counters of these accounts, and every other transaction with an event of theirs waits. So numbers
 * are committed in their order.
 *
 * @param expected the numbers from which accounts record, as they were read without a lock
 * @throws RecordMovedError if an account records from another number on, so that the transaction is repeated
 */
export function* recordEvents(
  dialect: Dialect,
  published: readonly PublishedEvents[],
  expected: ReadonlyMap<string, number | undefined> = NOTHING_EXPECTED,
): Operation<AddedEvents> {
  if (published.length === 0) return NOTHING;
  const counters = yield* lockCounters(dialect, published);
  for (const [id, since] of expected) {
    const counter = counters.get(id);
    if (counter && counter.since !== since) throw new RecordMovedError('The account records since another number.');
  }
  if (counters.size === 0) return NOTHING;
  const own = new Map<string, NewEvent[]>([...counters.keys()].map((id) => [id, []]));
  for (const event of eventsOf(published, (id) => counters.has(id))) own.get(event.accountId)?.push(event);
  const last = new Map<string, number>();
  const rows: unknown[][] = [];
  for (const [accountId, { sequence }] of counters) {
    let number = sequence;
    for (const { type, data, events: count, at } of eventRows(own.get(accountId) ?? [])) {
      number += count;
      rows.push([accountId, type, data, number, count - 1, at]);
    }
    last.set(accountId, number);
  }
  if (rows.length === 0) return NOTHING;
  const statements: Statement[] = [
    dialect.insertRows({ table: 'messaging_event', shape: EVENT, rows }),
    dialect.updateRows({
      table: 'messaging_event_counter',
      set: { sequence: 'v.sequence' },
      shape: { id: 'id', sequence: 'integer' },
      rows: [...last],
      on: 'messaging_event_counter.id = v.id',
    }),
  ];
  yield* writeAll(dialect.together(statements), true);
  return { accounts: [...last.keys()], marks: false };
}

/** The counter of an account that records. */
interface Counter {
  /** The number of its last event. */
  readonly sequence: number;
  /** The first number of this recording. */
  readonly since: number;
}

/** Locks the counters of the events' accounts, in the order of their ids, and returns those of accounts that record. */
function* lockCounters(
  dialect: Dialect,
  published: readonly PublishedEvents[],
): Operation<ReadonlyMap<string, Counter>> {
  const ids = accountsOf(published).toSorted();
  let rows = yield* lockRows(dialect, ids);
  if (rows.length < ids.length) {
    // Without a counter row there is nothing to lock. A transaction that is committed after the log was switched on
    // could then miss its events. So the row is inserted.
    const known = new Set(rows.map((row) => textOf(row, 'id')));
    for (const id of ids) if (!known.has(id)) yield* insertCounter(dialect, id);
    rows = yield* lockRows(dialect, ids);
  }
  const recording = rows.filter((row) => integerOf(row, 'recording') === ON);
  return new Map(
    recording.map((row) => [
      textOf(row, 'id'),
      { sequence: integerOf(row, 'sequence'), since: integerOf(row, 'began') },
    ]),
  );
}

function lockRows(dialect: Dialect, ids: readonly string[]): Operation<readonly Row[]> {
  const columns = 'a.id, a.sequence, a.began, a.recording';
  const sql = dialect.lockByIds('messaging_event_counter', columns, 'wait', 'no key update');
  return rowsOf(sql, JSON.stringify(ids));
}

/** Gives an account a counter that does not record. Does nothing if the account has one. */
export function* insertCounter(dialect: Dialect, accountId: string): Operation<void> {
  const sql = `INSERT INTO messaging_event_counter (id, sequence, began, earliest, recording, used_at) VALUES (?, 0, 1, 1, ${NEVER_ON}, 0)`;
  yield* dialect.insertNew({ sql, params: [accountId] }, 'id');
}

/**
 * The values of `recording`. A log that was switched off has missed events, and its readers must see that. A log that
 * was never on had no readers.
 */
export const [NEVER_ON, ON, OFF_AGAIN] = [0, 1, 2] as const;

/** Stores events without numbers. This locks nothing, so no other transaction waits. */
export function* markEvents(dialect: Dialect, events: readonly NewEvent[]): Operation<AddedEvents> {
  yield* writeAll(insertMarks(dialect, events), false);
  return { accounts: [], marks: events.length > 0 };
}

/** The statement of `markEvents`; none if there are no events. */
export function insertMarks(dialect: Dialect, events: readonly NewEvent[]): readonly Statement[] {
  if (events.length === 0) return [];
  const rows = events.map(({ accountId, type, data, at }) => [accountId, type, JSON.stringify(data), at]);
  return [dialect.insertRows({ table: 'messaging_event_mark', shape: MARK, rows })];
}

/** As `markEvents`, but writes nothing for accounts that do not record. */
export function* markRecorded(dialect: Dialect, events: readonly NewEvent[]): Operation<AddedEvents> {
  const rows = yield* rowsOf(
    `SELECT c.id FROM messaging_event_counter c WHERE c.recording = ${ON} AND c.id ${dialect.among()}`,
    JSON.stringify([...new Set(events.map(({ accountId }) => accountId))]),
  );
  const recording = new Set(rows.map((row) => textOf(row, 'id')));
  return yield* markEvents(
    dialect,
    events.filter(({ accountId }) => recording.has(accountId)),
  );
}

/** Reads a mark from its row. Only this package writes the columns, from values of these types. */
export function toMark(row: Row): NewEvent {
  const data = JSON.parse(textOf(row, 'data'));
  return {
    type: textOf(row, 'type'),
    data,
    accountId: textOf(row, 'account_id'),
    at: integerOf(row, 'at'),
  } as NewEvent;
}

const NOTHING: AddedEvents = { accounts: [], marks: false };
const NOTHING_EXPECTED: ReadonlyMap<string, undefined> = new Map();
