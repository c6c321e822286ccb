import { COMPLETE_STATUSES, sqlListOf } from '../../events/delivery-status.js';
import type { CompletedSend } from '../../events/delivery-transition.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../../storage/engine/rows.js';

/** A send of several recipients, some of which a transaction completes. */
export interface Completing {
  readonly messageId: string;
  readonly recipients: number;
  readonly units: number;
  /** The first number of the account's recording. A count of an earlier recording has missed some. */
  readonly recordedSince: number;
  /** The number of recipients that the transaction completes. */
  readonly added: number;
}

/** The stored count of each send's complete recipients; undefined if the count belongs to an earlier recording. */
type Counts = ReadonlyMap<string, number | undefined>;

/** Locks messages in the order of their ids, and reads their counts. */
export function* lockMessages(
  dialect: Dialect,
  ids: readonly string[],
  completing: ReadonlyMap<string, Completing>,
): Operation<Counts> {
  if (ids.length === 0) return new Map();
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_message', 'a.id, a.settled, a.settled_since', 'wait', 'no key update'),
    JSON.stringify([...new Set(ids)].sort()),
  );
  return new Map(
    rows.map((row) => {
      const since = optionalInteger(row, 'settled_since');
      const isCurrent = since !== undefined && since === completing.get(textOf(row, 'id'))?.recordedSince;
      return [textOf(row, 'id'), isCurrent ? optionalInteger(row, 'settled') : undefined];
    }),
  );
}

/**
 * The statement that writes refunded units and known counts; none if there is nothing to write. It is one statement for
 * both, because PostgreSQL drops a second update of the same row within a statement.
 */
export function updateMessages(
  dialect: Dialect,
  refunded: ReadonlyMap<string, number>,
  completing: ReadonlyMap<string, Completing>,
  counts: Counts,
): readonly Statement[] {
  const ids = [...new Set([...refunded.keys(), ...completing.keys()])].sort();
  const rows = ids.flatMap((id) => {
    const units = refunded.get(id) ?? 0;
    const [count, added] = [counts.get(id), completing.get(id)?.added];
    const settled = count === undefined || added === undefined ? null : count + added;
    return units === 0 && settled === null ? [] : [[id, units, settled]];
  });
  if (rows.length === 0) return [];
  const update = dialect.updateRows({
    table: 'messaging_message',
    set: {
      refunded_units: 'refunded_units + v.units',
      settled: 'coalesce(v.settled, messaging_message.settled)',
    },
    shape: { id: 'id', units: 'integer', settled: 'integer' },
    rows,
    on: 'messaging_message.id = v.id',
  });
  return [update];
}

/** Writes counts that were counted again. */
function setCounts(dialect: Dialect, rows: readonly (readonly unknown[])[]): Statement {
  return dialect.updateRows({
    table: 'messaging_message',
    set: { settled: 'v.settled', settled_since: 'v.since' },
    shape: { id: 'id', settled: 'integer', since: 'integer' },
    rows,
    on: 'messaging_message.id = v.id',
  });
}

/**
 * Returns the sends that are complete now. Their messages must be locked and their recipients written. Unknown counts
 * are counted again. That is safe, because every transaction that completes a recipient while the account records
 * events locks the message.
 */
export function* completeSends(
  dialect: Dialect,
  completing: ReadonlyMap<string, Completing>,
  counts: Counts,
): Operation<ReadonlyMap<string, CompletedSend>> {
  const total = new Map<string, number>();
  const unknown = [...completing.keys()].filter((id) => counts.get(id) === undefined);
  for (const [id, count] of yield* countRecipients(dialect, unknown)) total.set(id, count);
  if (total.size > 0) {
    yield setCounts(
      dialect,
      [...total].map(([id, count]) => [id, count, completing.get(id)?.recordedSince]),
    );
  }
  for (const [id, { added }] of completing) {
    const before = counts.get(id);
    if (before !== undefined) total.set(id, before + added);
  }
  const complete = [...completing.values()].filter(({ messageId, recipients }) => total.get(messageId) === recipients);
  return yield* summaries(dialect, complete);
}

const IS_COMPLETE = `r.status IN (${sqlListOf(COMPLETE_STATUSES)})`;

function* countRecipients(dialect: Dialect, ids: readonly string[]): Operation<readonly (readonly [string, number])[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT r.message_id, count(*) AS complete FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id ${dialect.among()} AND ${IS_COMPLETE} GROUP BY r.message_id`,
    JSON.stringify(ids),
  );
  return rows.map((row) => [textOf(row, 'message_id'), integerOf(row, 'complete')]);
}

function* summaries(dialect: Dialect, sends: readonly Completing[]): Operation<ReadonlyMap<string, CompletedSend>> {
  if (sends.length === 0) return new Map();
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.status, count(*) AS recipients, sum(r.refunded_units) AS refunded
      FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id ${dialect.among()} GROUP BY r.message_id, r.status ORDER BY r.message_id, r.status`,
    JSON.stringify(sends.map(({ messageId }) => messageId)),
  );
  return new Map(
    sends.map(({ messageId, recipients, units }) => {
      const own = rows.filter((row) => textOf(row, 'message_id') === messageId);
      const statuses = Object.fromEntries(own.map((row) => [textOf(row, 'status'), integerOf(row, 'recipients')]));
      const refundedUnits = own.reduce((sum, row) => sum + integerOf(row, 'refunded'), 0);
      return [messageId, { recipients, statuses, units, refundedUnits }];
    }),
  );
}
