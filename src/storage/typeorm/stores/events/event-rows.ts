import type { AddedEvents, LoggedEvent } from '../../../../events/event-log.js';
import type { EventType, NewEvent, TypedData } from '../../../../events/event-types.js';
import type { Dialect } from '../../dialects/dialect.js';
import { type Operation, type Row, rowsOf, type Statement, writeAll } from '../../engine/operation.js';
import { integerOf, shapeOf, textOf } from '../../engine/rows.js';

const EVENT = { account_id: 'id', ...shapeOf('type data', 'sequence at') } as const;
const MARK = { account_id: 'id', ...shapeOf('type data', 'at') } as const;

/**
 * Numbers and stores events, for the accounts that record. It is the last step of a transaction: whoever changes one of these
 * accounts waits for the lock on its counter until the commit, so that numbers are committed in their order.
 */
export function* recordEvents(dialect: Dialect, events: readonly NewEvent[]): Operation<AddedEvents> {
  if (events.length === 0) return NOTHING;
  const next = yield* lockCounters(dialect, events);
  const counters = new Map<string, number>();
  const rows: unknown[][] = [];
  for (const { accountId, type, data, at } of events) {
    const last = counters.get(accountId) ?? next.get(accountId);
    if (last === undefined) continue;
    counters.set(accountId, last + 1);
    rows.push([accountId, type, JSON.stringify(data), last + 1, at]);
  }
  if (rows.length === 0) return NOTHING;
  const statements: Statement[] = [
    dialect.insertRows({ table: 'messaging_event', shape: EVENT, rows }),
    dialect.updateRows({
      table: 'messaging_event_counter',
      set: { sequence: 'v.sequence' },
      shape: { id: 'id', sequence: 'integer' },
      rows: [...counters],
      on: 'messaging_event_counter.id = v.id',
    }),
  ];
  yield* writeAll(dialect.together(statements), true);
  return { accounts: [...counters.keys()], marks: false };
}

/** The last number of each of these accounts that records, under lock, in the order of their ids. */
function* lockCounters(dialect: Dialect, events: readonly NewEvent[]): Operation<ReadonlyMap<string, number>> {
  const ids = [...new Set(events.map(({ accountId }) => accountId))].sort();
  const columns = 'a.id, a.sequence, a.recording';
  const sql = dialect.lockByIds('messaging_event_counter', columns, 'wait', 'no key update');
  const rows = yield* rowsOf(sql, JSON.stringify(ids));
  const recording = rows.filter((row) => integerOf(row, 'recording') === 1);
  return new Map(recording.map((row) => [textOf(row, 'id'), integerOf(row, 'sequence')]));
}

/** Stores events without numbers: no lock, nobody waits. */
export function* markEvents(dialect: Dialect, events: readonly NewEvent[]): Operation<AddedEvents> {
  if (events.length === 0) return NOTHING;
  yield insertMarks(dialect, events);
  return { accounts: [], marks: true };
}

/** The statement of `markEvents`. */
export function insertMarks(dialect: Dialect, events: readonly NewEvent[]): Statement {
  const rows = events.map(({ accountId, type, data, at }) => [accountId, type, JSON.stringify(data), at]);
  return dialect.insertRows({ table: 'messaging_event_mark', shape: MARK, rows });
}

/** An event from its row. */
export function toEvent(row: Row): LoggedEvent {
  return {
    ...typedData(row),
    accountId: textOf(row, 'account_id'),
    sequence: integerOf(row, 'sequence'),
    at: integerOf(row, 'at'),
  };
}

/** A mark from its row. */
export function toMark(row: Row): NewEvent {
  return { ...typedData(row), accountId: textOf(row, 'account_id'), at: integerOf(row, 'at') };
}

/** Only this package writes the columns, from values of these types. */
function typedData(row: Row): TypedData {
  const type = textOf(row, 'type') as EventType;
  return { type, data: JSON.parse(textOf(row, 'data')) } as TypedData;
}

const NOTHING: AddedEvents = { accounts: [], marks: false };
