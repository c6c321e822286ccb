import type { TransactionPublisher } from '../../events/event-recorder.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Dialect, IfLocked } from '../../storage/dialect.js';
import { RecordMovedError } from '../../storage/engine/faults.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, type RowShape, shapeOf, textOf } from '../../storage/engine/rows.js';
import type { RecordStep } from './record-step.js';
import type { PolicyRecord, RecordChanges, SeenRecord, SeenRecords } from './send-policy.js';

/** Locked records, with their versions for the write. */
export interface LockedRecords {
  readonly seen: SeenRecords;
  readonly versions: ReadonlyMap<string, number>;
  /**
   * The keys of records that another transaction has locked or is inserting. Empty if this transaction has waited for
   * the locks.
   */
  readonly held: ReadonlySet<string>;
}

/** A change of the records of some keys. */
export interface AnyStep {
  readonly keys: readonly string[];
  /** See `PolicyStore.change`. */
  readonly lock: 'always' | 'to-change';
  run(seen: SeenRecords): Omit<RecordStep<unknown>, 'result'>;
}

/** The result of a step: it ran, threw, or needs locked records. A step that threw or is busy has changed nothing. */
export type StepOutcome = { readonly done: true } | { readonly error: unknown } | { readonly busy: readonly string[] };

/**
 * Reads, locks, runs the steps and writes: see `PolicyStore.change`. Each step sees the changes of the steps before it. With
 * `skip`, a step on a record that another transaction has locked does not run: its outcome is `busy`.
 */
export function* changeRecords(
  dialect: Dialect,
  steps: readonly AnyStep[],
  ifLocked: IfLocked,
  { publish }: TransactionPublisher,
): Operation<readonly StepOutcome[]> {
  const settled = yield* runWithoutLock(dialect, steps);
  for (const event of [...settled.values()].flat()) publish(event);
  const others = steps.filter((step) => !settled.has(step));
  if (ifLocked === 'wait') for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  const { seen: read, versions, held } = yield* lockRecords(dialect, keysOf(others), ifLocked);
  const seen = new Map(read);
  const changed = new Map<string, PolicyRecord>();
  const outcomes = steps.map((step): StepOutcome => {
    if (settled.has(step)) return { done: true };
    const busy = step.keys.filter((key) => held.has(key));
    if (busy.length > 0) return { busy };
    try {
      const { changes, events = [] } = step.run(seen);
      for (const [key, record] of changes) {
        changed.set(key, record);
        seen.set(key, { ...record, lost: staysLost(seen.get(key), record) });
      }
      for (const event of events) publish(event);
      return { done: true };
    } catch (error) {
      return { error };
    }
  });
  yield* writeRecords(dialect, versions, changed, ifLocked);
  return outcomes;
}

/**
 * Runs steps that need a lock only if they change a record. They run without a lock, on committed records. Returns the
 * steps that changed nothing, which are done, with their events. One statement reads all records, and a second one the
 * states of their messages. Failures are final: if the second read shows that a record is not lost, it was not lost at
 * the first read either. But a lost record may have got another message in between, so its steps take the lock.
 */
function* runWithoutLock(
  dialect: Dialect,
  steps: readonly AnyStep[],
): Operation<ReadonlyMap<AnyStep, readonly NewEvent[]>> {
  const looking = dialect.lock('a', 'skip') === '' ? [] : steps.filter(({ lock }) => lock === 'to-change');
  if (looking.length === 0) return new Map();
  const sql = `SELECT a.id, a.state, a.messages FROM messaging_policy a WHERE a.id ${dialect.among()}`;
  const seen = yield* seenIn(dialect, yield* rowsOf(sql, JSON.stringify(keysOf(looking))));
  const settled = new Map<AnyStep, readonly NewEvent[]>();
  for (const step of looking) {
    if (step.keys.some((key) => seen.get(key)?.lost)) continue;
    try {
      const { changes, events = [] } = step.run(seen);
      if (changes.size === 0) settled.set(step, events);
    } catch {
      // A step that threw runs again with a lock.
    }
  }
  return settled;
}

function keysOf(steps: readonly { readonly keys: readonly string[] }[]): string[] {
  return [...new Set(steps.flatMap(({ keys }) => keys))];
}

/** Whether a changed record stays lost: it refers to no new message. */
function staysLost(before: SeenRecord | undefined, { messages }: PolicyRecord): boolean {
  return before?.lost === true && messages.every((id) => before.messages.includes(id));
}

/**
 * What happens to missing rows if the wanted rows are locked. `lock`: the locking read also names missing rows, so a
 * database with gap locks (`Dialect.locksGaps`) locks the gaps where they would be. `leave`: only rows that a plain
 * read has found are locked. If there is another row after all, the write throws `RecordMovedError`.
 */
export type Gaps = 'lock' | 'leave';

/** Reads the records of some keys and locks the existing ones, in the order that all transactions use. */
export function* lockRecords(
  dialect: Dialect,
  keys: readonly string[],
  ifLocked: IfLocked,
  gaps: Gaps = 'lock',
): Operation<LockedRecords> {
  if (keys.length === 0) return { seen: new Map(), versions: new Map(), held: new Set() };
  const wanted = [...new Set(keys)];
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_policy', 'a.id, a.version, a.state, a.messages', ifLocked),
    JSON.stringify(gaps === 'lock' ? wanted : yield* seenKeys(dialect, wanted)),
  );
  const versions = new Map(rows.map((row) => [textOf(row, 'id'), integerOf(row, 'version')]));
  const missing = wanted.filter((key) => !versions.has(key));
  const held = missing.length === 0 ? [] : yield* dialect.heldIds('messaging_policy', missing, ifLocked);
  return { seen: yield* seenIn(dialect, rows), versions, held: new Set(held) };
}

function* seenKeys(dialect: Dialect, keys: readonly string[]): Operation<readonly string[]> {
  const sql = `SELECT a.id FROM messaging_policy a WHERE a.id ${dialect.among()}`;
  return (yield* rowsOf(sql, JSON.stringify(keys))).map((row) => textOf(row, 'id'));
}

function* seenIn(dialect: Dialect, rows: readonly Row[]): Operation<SeenRecords> {
  const failed = yield* failedOf(dialect, rows.flatMap(messagesOf));
  return new Map(
    rows.map((row): [string, SeenRecord] => {
      const messages = messagesOf(row);
      const lost = messages.length > 0 && messages.every((id) => failed.has(id));
      return [textOf(row, 'id'), { state: JSON.parse(textOf(row, 'state')), messages, lost }];
    }),
  );
}

/**
 * Writes changed records. The condition on the version is always true for locked rows. But a row that did not exist may
 * have been inserted meanwhile.
 *
 * @throws RecordMovedError if another transaction has written one of the records
 */
export function* writeRecords(
  dialect: Dialect,
  versions: ReadonlyMap<string, number>,
  changes: RecordChanges,
  ifLocked: IfLocked,
): Operation<void> {
  const rows = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
  const added = rows.filter(([key]) => !versions.has(key));
  const changed = rows.filter(([key]) => versions.has(key));
  const toRow = ([key, { state, messages, expiresAt }]: (typeof rows)[number]) => {
    return [key, JSON.stringify(state), JSON.stringify(messages), versions.get(key) ?? 0, expiresAt];
  };
  let written = 0;
  if (added.length > 0) {
    const insert = dialect.insertRows({ table: 'messaging_policy', shape: SHAPE, rows: added.map(toRow) });
    written += yield* dialect.insertNew(insert, 'id', ifLocked);
  }
  if (changed.length > 0) {
    const update = dialect.updateRows({
      table: 'messaging_policy',
      set: {
        state: 'v.state',
        messages: 'v.messages',
        version: 'v.version + 1',
        expires_at: 'v.expires_at',
      },
      shape: SHAPE,
      rows: changed.map(toRow),
      on: 'messaging_policy.id = v.id AND messaging_policy.version = v.version',
    });
    written += (yield update).affected;
  }
  if (written !== rows.length) throw new RecordMovedError('Another transaction has written a record.');
}

/** Deletes expired records, the oldest first. */
export function purgeRecords(dialect: Dialect, now: number, limit: number): Operation<number> {
  return write(dialect.deleteFirst('messaging_policy', 'id', 'expires_at'), now, limit);
}

const SHAPE: RowShape = { id: 'id', ...shapeOf('state messages', 'version expires_at') };

function messagesOf(row: Row): readonly string[] {
  return JSON.parse(textOf(row, 'messages'));
}

/** Finds the messages that have failed for all recipients. */
function* failedOf(dialect: Dialect, messageIds: readonly string[]): Operation<ReadonlySet<string>> {
  if (messageIds.length === 0) return new Set();
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.status FROM messaging_recipient r WHERE r.message_id ${dialect.among()}`,
    JSON.stringify(messageIds),
  );
  const reached = new Set(rows.filter(({ status }) => status !== 'failed').map((row) => textOf(row, 'message_id')));
  return new Set(rows.map((row) => textOf(row, 'message_id')).filter((id) => !reached.has(id)));
}
