import {
  type AddedEvents,
  EventLog,
  type EventLogState,
  type EventPage,
  type EventQuery,
} from '../../../../events/event-log.js';
import type { EventType } from '../../../../events/event-types.js';
import type { Dialect } from '../../dialects/dialect.js';
import type { Executor } from '../../engine/executor.js';
import { type Operation, type Row, rowsOf, write } from '../../engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../../engine/rows.js';
import type { EventRecorder } from './event-recorder.js';
import { recordEvents, toEvent, toMark } from './event-rows.js';

/** The log of events in SQL. */
export class TypeormEventLog extends EventLog {
  constructor(
    private readonly executor: Executor,
    private readonly recorder: EventRecorder,
  ) {
    super();
  }

  override switchOn(accountId: string, at: number): Promise<EventLogState> {
    return this.executor.write(() => switchOn(this.executor.dialect, accountId, at));
  }

  override switchOffUnused(before: number, limit: number): Promise<number> {
    return this.executor.write(() => switchOffUnused(this.executor.dialect, before, limit));
  }

  override state(accountId: string): Promise<EventLogState> {
    return this.executor.read(() => readState(accountId));
  }

  override read(query: EventQuery): Promise<EventPage> {
    return this.executor.browse(() => readEvents(this.executor.dialect, query));
  }

  override previous(
    accountId: string,
    sequence: number,
    types: readonly EventType[] | undefined,
  ): Promise<number | undefined> {
    return this.executor.read(() => findPrevious(this.executor.dialect, accountId, sequence, types));
  }

  override async numberMarks(limit: number): Promise<number> {
    let added: AddedEvents | undefined;
    const { dialect } = this.executor;
    const taken = await this.executor.write(function* () {
      const rows = yield* takeMarks(dialect, limit);
      added = yield* recordEvents(dialect, rows.map(toMark));
      return rows.length;
    });
    if (added) this.recorder.added(added);
    return taken;
  }

  override purge(before: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeEvents(this.executor.dialect, before, limit));
  }

  override listen(listener: (added: AddedEvents) => void): () => void {
    return this.recorder.listen(listener);
  }
}

const COUNTER = 'a.id, a.sequence, a.earliest, a.recording';
const NONE: EventLogState = { last: 0, earliest: 1, recording: false };

function toState(row: Row): EventLogState {
  return {
    last: integerOf(row, 'sequence'),
    earliest: integerOf(row, 'earliest'),
    recording: integerOf(row, 'recording') === 1,
  };
}

function* readState(accountId: string): Operation<EventLogState> {
  const [row] = yield* rowsOf(`SELECT ${COUNTER} FROM messaging_event_counter a WHERE a.id = ?`, accountId);
  return row ? toState(row) : NONE;
}

/**
 * See `EventLog.switchOn`. The account and its counter stay locked until the commit. Without the lock on the account, two that
 * insert the counter at once would each keep the other from locking it on MariaDB.
 */
export function* switchOn(dialect: Dialect, accountId: string, at: number): Operation<EventLogState> {
  const accounts = dialect.lockByIds('messaging_account', 'a.id', 'wait', 'no key update');
  yield* rowsOf(accounts, JSON.stringify([accountId]));
  const sql = 'INSERT INTO messaging_event_counter (id, sequence, earliest, recording, used_at) VALUES (?, 0, 1, 0, ?)';
  yield* dialect.insertNew({ sql, params: [accountId, at] }, 'id');
  const [row] = yield* rowsOf(
    dialect.lockByIds('messaging_event_counter', COUNTER, 'wait', 'no key update'),
    JSON.stringify([accountId]),
  );
  const before = row ? toState(row) : NONE;
  // The number that is skipped stands for what was not recorded. A log that was never on has missed nothing that it promised.
  const skipped = before.recording || before.last === 0 ? 0 : 1;
  const after: EventLogState = {
    last: before.last + skipped,
    earliest: skipped === 1 ? before.last + 2 : before.earliest,
    recording: true,
  };
  yield* write(
    'UPDATE messaging_event_counter SET sequence = ?, earliest = ?, recording = 1, used_at = ? WHERE id = ?',
    after.last,
    after.earliest,
    at,
    accountId,
  );
  return after;
}

function switchOffUnused(_dialect: Dialect, before: number, limit: number): Operation<number> {
  return write(
    `UPDATE messaging_event_counter SET recording = 0 WHERE recording = 1 AND id IN (
      SELECT id FROM (SELECT c.id FROM messaging_event_counter c WHERE c.recording = 1 AND c.used_at < ?
        AND NOT EXISTS (SELECT 1 FROM messaging_endpoint e WHERE e.account_id = c.id) ORDER BY c.id LIMIT ?) unused)`,
    before,
    limit,
  );
}

function* readEvents(dialect: Dialect, query: EventQuery): Operation<EventPage> {
  const { accountId, after, types, limit } = query;
  const state = yield* readState(accountId);
  const upTo = Math.min(query.upTo ?? state.last, state.last);
  const columns = 'e.account_id, e.sequence, e.type, e.data, e.at';
  const range = 'e.account_id = ? AND e.sequence > ? AND e.sequence <= ?';
  const rows = types
    ? yield* rowsOf(
        `SELECT * FROM (${types.map(() => dialect.member(`SELECT ${columns} FROM messaging_event e WHERE ${range} AND e.type = ? ORDER BY e.sequence LIMIT ?`)).join(' UNION ALL ')}) e ORDER BY e.sequence LIMIT ?`,
        ...types.flatMap((type) => [accountId, after, upTo, type, limit]),
        limit,
      )
    : yield* rowsOf(
        `SELECT ${columns} FROM messaging_event e WHERE ${range} ORDER BY e.sequence LIMIT ?`,
        accountId,
        after,
        upTo,
        limit,
      );
  const events = rows.map(toEvent);
  const nextAfter = events.length < limit ? Math.max(after, upTo) : (events.at(-1)?.sequence ?? after);
  return { ...state, events, nextAfter };
}

function* findPrevious(
  dialect: Dialect,
  accountId: string,
  sequence: number,
  types: readonly EventType[] | undefined,
): Operation<number | undefined> {
  const before = 'SELECT max(e.sequence) AS sequence FROM messaging_event e WHERE e.account_id = ? AND e.sequence < ?';
  const rows = types
    ? yield* rowsOf(
        types.map(() => dialect.member(`${before} AND e.type = ?`)).join(' UNION ALL '),
        ...types.flatMap((type) => [accountId, sequence, type]),
      )
    : yield* rowsOf(before, accountId, sequence);
  const found = rows.flatMap((row) => optionalInteger(row, 'sequence') ?? []);
  return found.length === 0 ? undefined : Math.max(...found);
}

/** Locks the first marks, without those that another process is numbering, and deletes them. */
function* takeMarks(dialect: Dialect, limit: number): Operation<readonly Row[]> {
  const rows = yield* rowsOf(
    `SELECT a.id, a.account_id, a.type, a.data, a.at FROM messaging_event_mark a ORDER BY a.id LIMIT ?${dialect.lock('a', 'skip')}`,
    limit,
  );
  if (rows.length > 0) {
    yield dialect.deleteRows({
      table: 'messaging_event_mark',
      shape: { id: 'integer' },
      rows: rows.map((row) => [integerOf(row, 'id')]),
      on: 'messaging_event_mark.id = v.id',
    });
  }
  return rows;
}

/** How many accounts one purge looks at. */
const PURGED_ACCOUNTS = 20;

function* purgeEvents(dialect: Dialect, before: number, limit: number): Operation<number> {
  const old = yield* rowsOf(
    `SELECT c.id FROM messaging_event_counter c WHERE EXISTS (
      SELECT 1 FROM messaging_event e WHERE e.account_id = c.id AND e.sequence = c.earliest AND e.at < ?) ORDER BY c.id LIMIT ?`,
    before,
    PURGED_ACCOUNTS,
  );
  let removed = 0;
  for (const row of old) {
    if (removed >= limit) break;
    removed += yield* purgeAccount(dialect, textOf(row, 'id'), before, limit - removed);
  }
  return removed;
}

function* purgeAccount(dialect: Dialect, accountId: string, before: number, limit: number): Operation<number> {
  const [counter] = yield* rowsOf(
    dialect.lockByIds('messaging_event_counter', COUNTER, 'wait', 'no key update'),
    JSON.stringify([accountId]),
  );
  if (!counter) return 0;
  const { earliest } = toState(counter);
  const [kept] = yield* rowsOf(
    `SELECT min(r.sequence) AS sequence FROM messaging_endpoint_retry r
      JOIN messaging_endpoint p ON p.id = r.endpoint_id WHERE p.account_id = ?`,
    accountId,
  );
  const bound = Math.min(earliest + limit, (kept && optionalInteger(kept, 'sequence')) ?? Number.MAX_SAFE_INTEGER);
  const rows = yield* rowsOf(
    'SELECT e.sequence, e.at FROM messaging_event e WHERE e.account_id = ? AND e.sequence >= ? AND e.sequence < ? ORDER BY e.sequence',
    accountId,
    earliest,
    bound,
  );
  const young = rows.findIndex((row) => integerOf(row, 'at') >= before);
  const last = rows.at(young === -1 ? rows.length - 1 : young - 1);
  if (!last || young === 0) return 0;
  const end = integerOf(last, 'sequence');
  const removed = yield* write(
    'DELETE FROM messaging_event WHERE account_id = ? AND sequence >= ? AND sequence <= ?',
    accountId,
    earliest,
    end,
  );
  yield* write('UPDATE messaging_event_counter SET earliest = ? WHERE id = ?', end + 1, accountId);
  return removed;
}
