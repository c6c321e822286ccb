import { Batcher, EachTurn } from '../common/concurrency/batcher.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { randomMark } from '../common/ids.js';
import { withinPage } from '../common/listing/page.js';
import { HOUR_MS } from '../common/time.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, optionalText, textOf } from '../storage/engine/rows.js';
import { EventPurge } from './event-purge.js';
import { EventRecorder } from './event-recorder.js';
import { withMaskedNumbers, withoutNumber, withoutTexts } from './event-redaction.js';
import { EventRedaction, eraseEvents } from './event-redactions.js';
import { insertCounter, markRecorded, OFF_AGAIN, ON, recordEvents, toMark } from './event-rows.js';
import { EVENT_COLUMNS, numbersOf, RUN, storedEvents } from './event-runs.js';
import type { EventType, NewEvent } from './event-types.js';
import {
  AddedEvents,
  EventEpoch,
  EventLogState,
  EventPage,
  EventQuery,
  type LoggedEvent,
  RESTORE_GAP,
  StoredEvent,
} from './stored-event.js';

/**
 * The event logs, one for each account. An event is stored in the transaction that changes the state. Its number comes
 * from its account's counter row, which is locked last. So the order of numbers is the order of commits, and no number
 * is missing. Every method is one transaction and throws `StorageUnavailableError` if the database does not answer.
 */
export class EventLog {
  private readonly walk: EventPurge;
  private readonly redactions: Readonly<Record<'texts' | 'numbers', EventRedaction>>;
  /** Events of one turn of the event loop share a transaction. */
  private readonly appended = new Batcher<NewEvent, undefined>({
    perform: async (events) => {
      this.recorder.added(await this.database.writeLazily(() => markRecorded(this.database.dialect, events)));
      return events.map(() => undefined);
    },
    maxItems: MAX_APPENDED,
    gathering: new EachTurn(),
  });

  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
    this.walk = new EventPurge(database);
    this.redactions = {
      texts: new EventRedaction(database, withoutTexts),
      numbers: new EventRedaction(database, withMaskedNumbers),
    };
  }

  /**
   * Records the account's changes from now on. The events of all transactions that are committed after this resolves
   * are in the log. If the log was switched off before, one number is skipped and `earliest` is moved behind it, so
   * that the time without recording does not look gap-free. For a log that is on, this only counts as a use.
   *
   * @param at stored as the last use of the log, in milliseconds since the epoch
   * @returns the state of the log afterwards
   * @throws MessagingError `error.account_not_found`; nothing is stored
   */
  async switchOn(accountId: string, at: number): Promise<EventLogState> {
    const used = await this.database.read(() => readUsed(accountId, at));
    return used ?? this.database.write(() => switchOn(this.database.dialect, accountId, at));
  }

  /**
   * Begins a new epoch of each log and skips {@link RESTORE_GAP} numbers. Call it after a restore, or if a database has
   * lost the end of its log. Readers have seen numbers that this database no longer knows. Because of the skip, none of
   * them is used again. Each call handles some accounts, in the order of their ids.
   *
   * @param after the last account of the previous call; '' for the first call
   * @returns the accounts whose logs were moved; none at the end
   */
  moveOn(after: string, limit: number): Promise<readonly string[]> {
    return this.database.write(() => moveOn(this.database.dialect, after, limit));
  }

  /**
   * Switches off logs whose last use is before a given time and that have no endpoint.
   * @returns the number of logs that were switched off
   */
  switchOffUnused(before: number, limit: number): Promise<number> {
    return this.database.write(() => switchOffUnused(this.database.dialect, before, limit));
  }

  state(accountId: string): Promise<EventLogState> {
    return this.database.read(() => readState(accountId));
  }

  /** Reads events. A page may have fewer than `limit` events, even none, and a `nextAfter` below `last`. */
  async read(query: EventQuery): Promise<EventPage> {
    const { events, ...page } = await this.readStored(query);
    // The cast is safe, because a stored event has the data of its type.
    const logged = events.map(
      (event) => ({ ...event, accountId: query.accountId, data: JSON.parse(event.data) }) as LoggedEvent,
    );
    return { ...page, events: logged };
  }

  /** As `read`, without parsing the data. Readers of many events pass it on as it is. */
  readStored(query: EventQuery): Promise<EventPage<StoredEvent>> {
    return this.database.browse(() => readEvents(this.database.dialect, query), query.accountId);
  }

  /**
   * The highest number below `sequence` that is kept and belongs to an event of these types; undefined if there is
   * none.
   */
  previous(accountId: string, sequence: number, types: readonly EventType[] | undefined): Promise<number | undefined> {
    return this.database.read(() => findPrevious(this.database.dialect, accountId, sequence, types));
  }

  /**
   * Stores events without a change of the state, as marks. Events of accounts that do not record at the time of the
   * call are dropped. This does not wait for the disk and is not part of a host's transaction.
   */
  async append(events: readonly NewEvent[]): Promise<void> {
    if (events.length > 0) await Promise.all(events.map((event) => this.appended.add(event)));
  }

  /** Runs `task` after the commit of the host's open transaction. After a rollback it is not run. */
  whenCommitted(host: HostTransaction, task: () => void): void {
    this.database.whenCommitted(host, task);
  }

  /**
   * Gives numbers to marks. Marks are events of transactions that must not lock a counter, such as an accept or a
   * host's transaction.
   * @returns the number of marks that were numbered
   */
  async numberMarks(limit: number): Promise<number> {
    const { dialect } = this.database;
    const [first] = await this.database.read(() => rowsOf('SELECT a.id FROM messaging_event_mark a LIMIT 1'));
    if (!first) return 0;
    let added: AddedEvents | undefined;
    const taken = await this.database.write(function* () {
      const rows = yield* takeMarks(dialect, limit);
      added = yield* recordEvents(dialect, rows.map(toMark));
      return rows.length;
    });
    if (added) this.recorder.added(added);
    return taken;
  }

  /**
   * Removes events from before a given time, the oldest of each account first, and moves `earliest`. Events that an
   * enabled endpoint has still to try are kept. A call reads the logs of some accounts. The next call continues with
   * the following ones.
   *
   * @returns the number of removed events. If it is `limit` or more, there may be others
   */
  purge(before: number, limit: number): Promise<number> {
    return this.walk.purge(before, limit);
  }

  /**
   * Removes a phone number from the logs of these accounts, together with texts and metadata of its events. The
   * sequence numbers and types of the events stay.
   * @returns the number of changed events
   */
  erase(number: string, accountIds: readonly string[]): Promise<number> {
    return eraseEvents(this.database, number, accountIds, withoutNumber(number));
  }

  /**
   * Removes texts from, or masks phone numbers in, events from before a given time. A call reads the logs of some
   * accounts. The next call continues with the following ones.
   *
   * @returns the number of events that it read. If it is `limit` or more, there may be others
   */
  redact(what: 'texts' | 'numbers', before: number, limit: number): Promise<number> {
    return this.redactions[what].step(before, limit);
  }

  /**
   * Calls `listener` after each commit of this process that has added events or marks, with their accounts. It must not
   * throw.
   * @returns a function that removes the listener
   */
  listen(listener: (added: AddedEvents) => void): () => void {
    return this.recorder.listen(listener);
  }
}

/** The maximum number of events that one transaction appends. */
const MAX_APPENDED = 256;

const COUNTER = 'a.id, a.sequence, a.earliest, a.recording, a.used_at, a.epochs';
const NONE: EventLogState = { last: 0, earliest: 1, recording: false, epochs: [] };

function toState(row: Row): EventLogState {
  return {
    last: integerOf(row, 'sequence'),
    earliest: integerOf(row, 'earliest'),
    recording: integerOf(row, 'recording') === ON,
    // Only this file writes the column, from values of this type.
    epochs: JSON.parse(optionalText(row, 'epochs') ?? '[]') as readonly EventEpoch[],
  };
}

/** Returns the epochs of a log with a new one that begins at `from`, without epochs whose events are no longer kept. */
function withEpoch({ epochs, earliest }: EventLogState, from: number): readonly EventEpoch[] {
  const all = [...epochs, { from, mark: randomMark() }];
  return all.filter((_, index) => (all[index + 1]?.from ?? Number.POSITIVE_INFINITY) > earliest);
}

function* readCounter(accountId: string): Operation<Row | undefined> {
  const [row] = yield* rowsOf(`SELECT ${COUNTER} FROM messaging_event_counter a WHERE a.id = ?`, accountId);
  return row;
}

function* readState(accountId: string): Operation<EventLogState> {
  const row = yield* readCounter(accountId);
  return row ? toState(row) : NONE;
}

/** The least time between two writes of a log's last use, in milliseconds. Otherwise readers would delay writers. */
const USED_MS = HOUR_MS;

/**
 * The state of a log that is on and whose last use was written less than `USED_MS` ago; undefined for any other log.
 */
function* readUsed(accountId: string, at: number): Operation<EventLogState | undefined> {
  const row = yield* readCounter(accountId);
  return row && integerOf(row, 'recording') === ON && integerOf(row, 'used_at') > at - USED_MS
    ? toState(row)
    : undefined;
}

/**
 * See `EventLog.switchOn`. The account and its counter stay locked until the commit. Without the lock on the account,
 * two transactions that insert the counter at the same time would deadlock on MariaDB.
 */
export function* switchOn(dialect: Dialect, accountId: string, at: number): Operation<EventLogState> {
  const accounts = dialect.lockByIds('messaging_account', 'a.id', 'wait', 'no key update');
  const [account] = yield* rowsOf(accounts, JSON.stringify([accountId]));
  if (!account) throw new MessagingError('error.account_not_found');
  yield* insertCounter(dialect, accountId);
  const [row] = yield* lockCounter(dialect, accountId);
  const before = row ? toState(row) : NONE;
  // One number is skipped, so that readers see that changes were not recorded.
  const isAgain = row !== undefined && integerOf(row, 'recording') === OFF_AGAIN;
  const last = before.last + (isAgain ? 1 : 0);
  const earliest = isAgain ? last + 1 : before.earliest;
  const epochs = before.recording ? before.epochs : withEpoch({ ...before, earliest }, last + 1);
  const after: EventLogState = { last, earliest, recording: true, epochs };
  yield* write(
    `UPDATE messaging_event_counter SET sequence = ?, earliest = ?, began = CASE WHEN recording = ${ON} THEN began ELSE ? END,
      used_at = CASE WHEN used_at > ? THEN used_at ELSE ? END, recording = ${ON}, epochs = ? WHERE id = ?`,
    last,
    earliest,
    last + 1,
    at,
    at,
    JSON.stringify(epochs),
    accountId,
  );
  return after;
}

function lockCounter(dialect: Dialect, ...accountIds: readonly string[]): Operation<readonly Row[]> {
  const sql = dialect.lockByIds('messaging_event_counter', COUNTER, 'wait', 'no key update');
  return rowsOf(sql, JSON.stringify(accountIds));
}

/** See `EventLog.moveOn`. */
function* moveOn(dialect: Dialect, after: string, limit: number): Operation<readonly string[]> {
  const sql = 'SELECT c.id FROM messaging_event_counter c WHERE c.id > ? ORDER BY c.id LIMIT ?';
  const ids = (yield* rowsOf(sql, after, limit)).map((row) => textOf(row, 'id'));
  for (const row of yield* lockCounter(dialect, ...ids)) {
    const state = toState(row);
    const last = state.last + RESTORE_GAP;
    yield* write(
      'UPDATE messaging_event_counter SET sequence = ?, epochs = ? WHERE id = ?',
      last,
      JSON.stringify(withEpoch(state, last + 1)),
      textOf(row, 'id'),
    );
  }
  return ids;
}

function* switchOffUnused(dialect: Dialect, before: number, limit: number): Operation<number> {
  const unused = yield* rowsOf(
    `SELECT c.id FROM messaging_event_counter c WHERE c.recording = ${ON} AND c.used_at < ?
      AND NOT EXISTS (SELECT 1 FROM messaging_endpoint e WHERE ${dialect.lookUp('e.account_id = c.id')}) ORDER BY c.id LIMIT ?`,
    before,
    limit,
  );
  if (unused.length === 0) return 0;
  const locked = yield* lockCounter(dialect, ...unused.map((row) => textOf(row, 'id')));
  // A log may have been used meanwhile, because a new endpoint switches its log on.
  const ids = locked.filter((row) => integerOf(row, 'used_at') < before).map((row) => textOf(row, 'id'));
  return yield* write(
    `UPDATE messaging_event_counter SET recording = ${OFF_AGAIN} WHERE recording = ${ON} AND id ${dialect.among()}`,
    JSON.stringify(ids),
  );
}

/** The approximate size of an event without its data, in bytes. */
const ENVELOPE_BYTES = 200;

function* readEvents(dialect: Dialect, query: EventQuery): Operation<EventPage<StoredEvent>> {
  const { accountId, after, limit } = query;
  const state = yield* readState(accountId);
  const upTo = Math.min(query.upTo ?? state.last, state.last);
  // If no number is missing, the page needs only the next `limit` numbers.
  const near = Math.min(upTo, after + limit);
  let found = yield* eventsUpTo(dialect, query, query.types ? upTo : near);
  if (!query.types && near < upTo && found.length < limit) found = yield* eventsUpTo(dialect, query, upTo);
  const events = withinPage(found, ({ data }) => ENVELOPE_BYTES + Buffer.byteLength(data));
  const isAll = found.length < limit && events.length === found.length;
  const nextAfter = isAll ? Math.max(after, upTo) : (events.at(-1)?.sequence ?? after);
  // A purge moves `earliest` before it removes events. So if it has removed events between the two queries, this
  // `earliest` shows it.
  const { earliest } = yield* readState(accountId);
  return { ...state, earliest, events, nextAfter };
}

function* eventsUpTo(
  dialect: Dialect,
  { accountId, after, types, limit }: EventQuery,
  upTo: number,
): Operation<readonly StoredEvent[]> {
  // A row has the number of its last event. So the row that contains the event `upTo` may have a higher number.
  const range = 'e.account_id = ? AND e.sequence > ? AND e.sequence < ?';
  const bounds = [accountId, after, upTo + RUN] as const;
  const rows = types
    ? yield* rowsOf(
        `SELECT * FROM (${types.map(() => dialect.member(`SELECT ${EVENT_COLUMNS} FROM messaging_event e${dialect.by('messaging_event_type')} WHERE ${range} AND e.type = ? ORDER BY e.sequence LIMIT ?`)).join(' UNION ALL ')}) e ORDER BY e.sequence LIMIT ?`,
        ...types.flatMap((type) => [...bounds, type, limit]),
        limit,
      )
    : yield* rowsOf(
        `SELECT ${EVENT_COLUMNS} FROM messaging_event e WHERE ${range} ORDER BY e.sequence LIMIT ?`,
        ...bounds,
        limit,
      );
  const events: StoredEvent[] = [];
  for (const row of rows) {
    if (events.length >= limit) break;
    events.push(...storedEvents(row).filter(({ sequence }) => sequence > after && sequence <= upTo));
  }
  return events.slice(0, limit);
}

function* findPrevious(
  dialect: Dialect,
  accountId: string,
  sequence: number,
  types: readonly EventType[] | undefined,
): Operation<number | undefined> {
  const columns = 'e.sequence, e.earlier, e.type';
  const holding = `SELECT ${columns} FROM messaging_event e${dialect.by('primary key')} WHERE e.account_id = ? AND e.sequence >= ? ORDER BY e.sequence LIMIT 1`;
  // This does not use max(), because without statistics PostgreSQL may read all events of a type for it.
  const before = (where: string, by = '') =>
    `SELECT ${columns} FROM messaging_event e${by} WHERE e.account_id = ? AND e.sequence < ?${where} ORDER BY e.sequence DESC LIMIT 1`;
  const ofTypes = types?.map(() => before(' AND e.type = ?', dialect.by('messaging_event_type')));
  const rows = yield* rowsOf(
    [holding, ...(ofTypes ?? [before('')])].map((query) => dialect.member(query)).join(' UNION ALL '),
    accountId,
    sequence,
    ...(types ? types.flatMap((type) => [accountId, sequence, type]) : [accountId, sequence]),
  );
  const found = rows.flatMap((row) => {
    const last = integerOf(row, 'sequence');
    if (last < sequence) return last;
    // The row that contains the event may also contain the one before it.
    const isAsked = !types || types.some((type) => type === textOf(row, 'type'));
    return isAsked && numbersOf(row).first < sequence ? sequence - 1 : [];
  });
  return found.length === 0 ? undefined : Math.max(...found);
}

/** Locks the first marks and deletes them. Marks that another process is numbering are skipped. */
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
