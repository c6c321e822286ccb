import { eventText } from '../../events/event-text.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Statement, write, writeAll } from '../../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../../storage/engine/rows.js';
import { ATTEMPT_ROW, attemptRow } from './attempt-runs.js';
import { lockOurs } from './call-leases.js';
import type { CallProgress } from './call-records.js';

const PROGRESS = { id: 'id', cursor_at: 'integer', failing_since: 'integer', rests_until: 'integer' } as const;
const RETRY = { endpoint_id: 'id', ...shapeOf('batch', 'sequence tries due_at') } as const;
const DONE = { endpoint_id: 'id', sequence: 'integer' } as const;
const REPLAY = { id: 'id', position: 'integer' } as const;

/** The maximum number of bytes of a URL in an event. The whole event has at most 2 KiB. */
const URL_BYTES = 1024;

/** See `CallStore.commit`. */
export function* commitCalls(
  dialect: Dialect,
  owner: string,
  progress: readonly CallProgress[],
  record: (event: NewEvent) => void,
): Operation<ReadonlySet<string>> {
  const rows = yield* lockOurs(
    dialect,
    owner,
    progress.map(({ lease }) => lease),
  );
  // This compares leases, not endpoints, because one commit may have the progress of an earlier and of a later lease of this
  // process.
  const ours = progress.filter(({ lease }) => {
    const row = rows.get(lease.endpointId);
    return row !== undefined && integerOf(row, 'epoch') === lease.epoch;
  });
  yield* writeAll(dialect.together(statementsOf(dialect, ours)), false);
  for (const { lease, disabled } of ours) {
    const row = rows.get(lease.endpointId);
    if (!disabled || !row || textOf(row, 'status') !== 'enabled') continue;
    yield* write(
      "UPDATE messaging_endpoint SET status = 'disabled', reason = ?, updated_at = ? WHERE id = ?",
      disabled.reason,
      disabled.at,
      lease.endpointId,
    );
    const data = { id: lease.endpointId, url: eventText(textOf(row, 'url'), URL_BYTES).text, reason: disabled.reason };
    record({ type: 'endpoint.disabled', accountId: textOf(row, 'account_id'), at: disabled.at, data });
  }
  return new Set(ours.map(({ lease }) => lease.endpointId));
}

function statementsOf(dialect: Dialect, progress: readonly CallProgress[]): Statement[] {
  const each = <T>(rowsOf: (one: CallProgress, endpointId: string) => readonly T[]) =>
    progress.flatMap((one) => rowsOf(one, one.lease.endpointId));
  const statements = [
    dialect.updateRows({
      table: 'messaging_endpoint',
      set: { cursor_at: 'v.cursor_at', failing_since: 'v.failing_since', rests_until: 'v.rests_until' },
      shape: PROGRESS,
      rows: each(({ cursor, failingSince, restsUntil }, id) => [
        [id, cursor, failingSince ?? null, restsUntil ?? null],
      ]),
      on: 'messaging_endpoint.id = v.id',
    }),
  ];
  const add = (rows: readonly (readonly unknown[])[], make: (rows: readonly (readonly unknown[])[]) => Statement) => {
    if (rows.length > 0) statements.push(make(rows));
  };
  add(
    each(({ done }, id) => done.map((sequence) => [id, sequence])),
    (rows) =>
      dialect.deleteRows({
        table: 'messaging_endpoint_retry',
        shape: DONE,
        rows,
        on: 'messaging_endpoint_retry.endpoint_id = v.endpoint_id AND messaging_endpoint_retry.sequence = v.sequence',
      }),
  );
  add(
    each(({ failed }, id) => failed.map((one) => [id, one.batch ?? null, one.sequence, one.tries, one.dueAt ?? null])),
    (rows) =>
      dialect.insertRows({
        table: 'messaging_endpoint_retry',
        shape: RETRY,
        rows,
        onDuplicate: ['endpoint_id, sequence', ['tries', 'due_at', 'batch']],
      }),
  );
  add(
    each(({ records }, id) => records.map((record) => attemptRow(id, record))),
    // Duplicates are ignored, because a commit is repeated if its answer was lost.
    (rows) =>
      dialect.insertRows({ table: 'messaging_endpoint_attempt', shape: ATTEMPT_ROW, rows, onDuplicate: ['id'] }),
  );
  const replays = each(({ replays }) => replays);
  add(
    replays.filter(({ position, upTo }) => position < upTo).map(({ id, position }) => [id, position]),
    (rows) =>
      dialect.updateRows({
        table: 'messaging_endpoint_replay',
        set: { position: 'v.position' },
        shape: REPLAY,
        rows,
        on: 'messaging_endpoint_replay.id = v.id',
      }),
  );
  add(
    replays.filter(({ position, upTo }) => position >= upTo).map(({ id }) => [id]),
    (rows) =>
      dialect.deleteRows({
        table: 'messaging_endpoint_replay',
        shape: { id: 'id' },
        rows,
        on: 'messaging_endpoint_replay.id = v.id',
      }),
  );
  return statements;
}
