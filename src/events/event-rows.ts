import type { Dialect } from '../storage/dialect.js';
import { RecordMovedError } from '../storage/engine/faults.js';
import { type Operation, type Row, rowsOf, type Statement, writeAll } from '../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../storage/engine/rows.js';
import { eventRows } from './event-runs.js';
import type { NewEvent } from './event-types.js';
import type { AddedEvents } from './stored-event.js';

const EVENT = { account_id: 'id', ...shapeOf('type data', 'sequence earlier at') } as const;
const MARK = { account_id: 'id', ...shapeOf('type data', 'at') } as const;

/**
 * Numbers and stores events, for the accounts that record. It is the last step of a transaction: whoever changes one of these
 * accounts waits for the lock on its counter until the commit, so that numbers are committed in their order.
 *
 * @param expected since which number accounts record, as it was read without a lock
 * @throws RecordMovedError where an account records since another number, so that the transaction is repeated
 */
export function* recordEvents(
  dialect: Dialect,
  events: readonly NewEvent[],
  expected: ReadonlyMap<string, number | undefined> = NOTHING_EXPECTED,
): Operation<AddedEvents> {
  if (events.length === 0) return NOTHING;
  const counters = yield* lockCounters(dialect, events);
  for (const [id, since] of expected) {
    const counter = counters.get(id);
    if (counter && counter.since !== since) throw new RecordMovedError('The account records since another number.');
  }
  const own = new Map<string, NewEvent[]>([...counters.keys()].map((id) => [id, []]));
  for (const event of events) own.get(event.accountId)?.push(event);
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

/** The counters of those of these accounts that record, under lock, in the order of their ids. */
function* lockCounters(dialect: Dialect, events: readonly NewEvent[]): Operation<ReadonlyMap<string, Counter>> {
  const ids = [...new Set(events.map(({ accountId }) => accountId))].sort();
  let rows = yield* lockRows(dialect, ids);
  if (rows.length < ids.length) {
    // Without a row there is nothing to wait for, and what is committed after a switch-on could be missed.
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

/** Gives an account a counter that does not record; does nothing where it has one. */
export function* insertCounter(dialect: Dialect, accountId: string): Operation<void> {
  const sql = `INSERT INTO messaging_event_counter (id, sequence, began, earliest, recording, used_at) VALUES (?, 0, 1, 1, ${NEVER_ON}, 0)`;
  yield* dialect.insertNew({ sql, params: [accountId] }, 'id');
}

/** The values of `recording`. A log that was on before has missed something; one that was never on has promised nothing. */
export const [NEVER_ON, ON, OFF_AGAIN] = [0, 1, 2] as const;

/** Stores events without numbers: no lock, nobody waits. */
export function* markEvents(dialect: Dialect, events: readonly NewEvent[]): Operation<AddedEvents> {
  yield* writeAll(insertMarks(dialect, events), false);
  return { accounts: [], marks: events.length > 0 };
}

/** The statement of `markEvents`; none without events. */
export function insertMarks(dialect: Dialect, events: readonly NewEvent[]): readonly Statement[] {
  if (events.length === 0) return [];
  const rows = events.map(({ accountId, type, data, at }) => [accountId, type, JSON.stringify(data), at]);
  return [dialect.insertRows({ table: 'messaging_event_mark', shape: MARK, rows })];
}

/** As `markEvents`, without the events of accounts that do not record: for them nothing is written. */
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

/** A mark from its row. Only this package writes the columns, from values of these types. */
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
