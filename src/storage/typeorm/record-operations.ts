import type { GuardRecord, RecordChanges, SeenRecord, SeenRecords } from '../../outbox/guard.js';
import type { Dialect } from './dialect.js';
import { type Operation, type Row, rowsOf, write } from './operation.js';
import { type RowShape, shapeOf } from './rows.js';
import { integerOf, textOf } from './values.js';

/** Records under lock, with what is needed to write them. */
export interface LockedRecords {
  readonly seen: SeenRecords;
  readonly versions: ReadonlyMap<string, number>;
}

/** Somebody else wrote a record first. Its code asks the executor to repeat the transaction, as the database's own would. */
export class RecordMovedError extends Error {
  override readonly name = 'RecordMovedError';
  readonly code = '40001';
}

/** One caller's step on the records of its keys. */
export interface AnyStep {
  readonly keys: readonly string[];
  run(seen: SeenRecords): RecordChanges;
}

/** Whether a step ran or threw; one that threw has changed nothing. */
export type StepOutcome = { readonly done: true } | { readonly error: unknown };

/** Lock, read, step after step, write: see `GuardStore.change`. Each step sees what those before it have changed. */
export function* changeRecords(dialect: Dialect, steps: readonly AnyStep[]): Operation<readonly StepOutcome[]> {
  const { seen: read, versions } = yield* lockRecords(
    dialect,
    steps.flatMap(({ keys }) => keys),
  );
  const seen = new Map(read);
  const changed = new Map<string, GuardRecord>();
  const outcomes = steps.map((step): StepOutcome => {
    try {
      for (const [key, record] of step.run(seen)) {
        changed.set(key, record);
        seen.set(key, { ...record, lost: isSameFate(seen.get(key), record) });
      }
      return { done: true };
    } catch (error) {
      return { error };
    }
  });
  yield* writeRecords(dialect, versions, changed);
  return outcomes;
}

/** A record stays lost while it stands for the same messages. */
function isSameFate(before: SeenRecord | undefined, { messages }: GuardRecord): boolean {
  return before?.lost === true && messages.every((id) => before.messages.includes(id));
}

/** The records of some keys; those that exist are locked, in one order by everybody. */
export function* lockRecords(dialect: Dialect, keys: readonly string[]): Operation<LockedRecords> {
  if (keys.length === 0) return { seen: new Map(), versions: new Map() };
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_guard', 'a.id, a.version, a.state, a.messages', 'wait'),
    JSON.stringify([...new Set(keys)]),
  );
  const failed = yield* failedOf(dialect, rows.flatMap(messagesOf));
  const seen = rows.map((row): [string, SeenRecord] => {
    const messages = messagesOf(row);
    const lost = messages.length > 0 && messages.every((id) => failed.has(id));
    return [textOf(row, 'id'), { state: JSON.parse(textOf(row, 'state')), messages, lost }];
  });
  return { seen: new Map(seen), versions: new Map(rows.map((row) => [textOf(row, 'id'), integerOf(row, 'version')])) };
}

/**
 * Writes what has changed. The condition on the version holds wherever the row was locked; a row that was not there to be
 * locked may have come since.
 */
export function* writeRecords(
  dialect: Dialect,
  versions: ReadonlyMap<string, number>,
  changes: RecordChanges,
): Operation<void> {
  const rows = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
  const added = rows.filter(([key]) => !versions.has(key));
  const changed = rows.filter(([key]) => versions.has(key));
  const toRow = ([key, { state, messages, expiresAt }]: (typeof rows)[number]) => [
    ...[key, JSON.stringify(state), JSON.stringify(messages), versions.get(key) ?? 0, expiresAt],
  ];
  let written = 0;
  if (added.length > 0) {
    const insert = dialect.insertRows({ table: 'messaging_guard', shape: SHAPE, rows: added.map(toRow) });
    written += yield* dialect.insertNew(insert, 'id');
  }
  if (changed.length > 0) {
    const update = dialect.updateRows({
      table: 'messaging_guard',
      set: {
        state: 'v.state',
        messages: 'v.messages',
        version: 'v.version + 1',
        expires_at: 'v.expires_at',
      },
      shape: SHAPE,
      rows: changed.map(toRow),
      on: 'messaging_guard.id = v.id AND messaging_guard.version = v.version',
    });
    written += (yield update).affected;
  }
  if (written !== rows.length) throw new RecordMovedError('A record was written by somebody else.');
}

/** Forgets expired records, the oldest first. */
export function* purgeRecords(dialect: Dialect, now: number, limit: number): Operation<number> {
  return yield* write(dialect.deleteFirst('messaging_guard', 'id', 'expires_at'), ...[now, limit]);
}

const SHAPE: RowShape = { id: 'id', ...shapeOf('state messages', 'version expires_at') };

function messagesOf(row: Row): readonly string[] {
  return JSON.parse(textOf(row, 'messages'));
}

/** Which of these messages no recipient got: all of them failed for good. */
function* failedOf(dialect: Dialect, messageIds: readonly string[]): Operation<ReadonlySet<string>> {
  if (messageIds.length === 0) return new Set();
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.status FROM messaging_recipient r WHERE r.message_id IN ${dialect.strings()}`,
    JSON.stringify(messageIds),
  );
  const reached = new Set(rows.filter(({ status }) => status !== 'failed').map((row) => textOf(row, 'message_id')));
  return new Set(rows.map((row) => textOf(row, 'message_id')).filter((id) => !reached.has(id)));
}
