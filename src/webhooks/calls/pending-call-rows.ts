import { recordAudit } from '../../accounts/audit/audit.js';
import { type AuditFields, type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { MessagingError } from '../../common/errors.js';
import { EVENT_COLUMNS, RUN, storedEvents } from '../../events/event-runs.js';
import type { EventType } from '../../events/event-types.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { MAX_REPLAYS, type PendingCall, type Replay, type ReplayOrder } from './call-records.js';

/** See `CallStore.pending`. */
export function* findPending(
  endpointId: string,
  by: 'time' | 'number',
  limit: number,
): Operation<readonly PendingCall[]> {
  const order = by === 'time' ? 'r.due_at, r.batch, r.sequence' : 'r.sequence';
  const rows = yield* rowsOf(
    `SELECT r.sequence, r.tries, r.due_at, r.batch FROM messaging_endpoint_retry r
      WHERE r.endpoint_id = ? AND r.due_at IS NOT NULL ORDER BY ${order} LIMIT ?`,
    endpointId,
    limit,
  );
  return rows.map((row) => ({
    sequence: integerOf(row, 'sequence'),
    tries: integerOf(row, 'tries'),
    dueAt: integerOf(row, 'due_at'),
    batch: optionalText(row, 'batch'),
  }));
}

/** See `CallStore.replay`. */
export function* findReplay(endpointId: string): Operation<Replay | undefined> {
  const [row] = yield* rowsOf(
    'SELECT y.id, y.position, y.up_to, y.types FROM messaging_endpoint_replay y WHERE y.endpoint_id = ? ORDER BY y.id LIMIT 1',
    endpointId,
  );
  return row && toReplay(row);
}

/** Reads a replay. The cast is safe, because only this package writes the column `types`. */
function toReplay(row: Row): Replay {
  const types = optionalText(row, 'types');
  return {
    id: textOf(row, 'id'),
    position: integerOf(row, 'position'),
    upTo: integerOf(row, 'up_to'),
    types: types === undefined ? undefined : (JSON.parse(types) as readonly EventType[]),
  };
}

/** See `CallStore.callAgain`. */
export function* callAgain(
  dialect: Dialect,
  endpoint: Endpoint,
  sequence: number,
  now: number,
  by?: Author,
): Operation<boolean> {
  const { id, accountId, types } = endpoint;
  const [event] = yield* rowsOf(
    `SELECT e.type, CASE WHEN p.cursor_at >= ? OR EXISTS (
        SELECT 1 FROM messaging_endpoint_retry r WHERE r.endpoint_id = p.id AND r.sequence = ?) THEN 1 ELSE 0 END AS called
      FROM messaging_event e JOIN messaging_endpoint p ON p.id = ? WHERE e.account_id = ? AND ${holds('?', '?')}`,
    sequence,
    sequence,
    id,
    accountId,
    sequence,
    sequence + RUN,
    sequence,
  );
  if (!event || (types && !types.includes(textOf(event, 'type') as EventType))) return false;
  // If the first call of the event is still to come, nothing needs to be done.
  if (integerOf(event, 'called') === 0) return true;
  yield* noteAsk(id, now);
  yield dialect.insertRows({
    table: 'messaging_endpoint_retry',
    shape: { endpoint_id: 'id', ...shapeOf('batch', 'sequence tries due_at') },
    rows: [[id, null, sequence, 0, now]],
    onDuplicate: ['endpoint_id, sequence', ['tries', 'due_at', 'batch']],
  });
  yield* recordReplay({ endpoint, at: now, by }, { events: 1, sequence });
  return true;
}

/**
 * Notes on the endpoint that its owner has asked for calls. The process that calls the endpoint sees this when it renews its
 * lease, even if a notice does not reach it. This comes before the change of the calls, because `CallStore.commit` takes its
 * locks in the same order.
 */
function* noteAsk(endpointId: string, at: number): Operation<void> {
  yield* write(
    'UPDATE messaging_endpoint SET updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END WHERE id = ?',
    at,
    at,
    endpointId,
  );
}

/** See `CallStore.addReplay`. */
export function* addReplay(dialect: Dialect, order: ReplayOrder): Operation<number> {
  const { id, endpoint, types, at } = order;
  // This is checked twice: here, before events are counted, and below, under the lock that `noteAsk` takes.
  yield* checkReplays(endpoint.id);
  const { after, upTo } = yield* windowOf(dialect, order);
  if (after >= upTo) return 0;
  const events = yield* countEvents(endpoint.accountId, after, upTo, typesOf(order));
  if (events === 0) return 0;
  yield* noteAsk(endpoint.id, at);
  yield* checkReplays(endpoint.id);
  yield* write(
    'INSERT INTO messaging_endpoint_replay (id, endpoint_id, position, up_to, types) VALUES (?, ?, ?, ?, ?)',
    id,
    endpoint.id,
    after,
    upTo,
    types ? JSON.stringify(types) : null,
  );
  yield* recordReplay(order, { events, after, up_to: upTo });
  return events;
}

/** @throws MessagingError `error.too_many_replays` */
function* checkReplays(endpointId: string): Operation<void> {
  const rows = yield* rowsOf(
    'SELECT y.id FROM messaging_endpoint_replay y WHERE y.endpoint_id = ? ORDER BY y.id LIMIT ?',
    endpointId,
    MAX_REPLAYS,
  );
  if (rows.length >= MAX_REPLAYS) throw new MessagingError('error.too_many_replays', { max: MAX_REPLAYS });
}

/** See `CallStore.retryFailed`. */
export function* retryFailed(dialect: Dialect, order: ReplayOrder): Operation<number> {
  const { endpoint, at } = order;
  const { after, upTo } = yield* windowOf(dialect, order);
  const types = typesOf(order);
  if (types?.length === 0) return 0;
  const ofTypes = types
    ? ` AND EXISTS (SELECT 1 FROM messaging_event e WHERE e.account_id = ?
        AND ${holds('messaging_endpoint_retry.sequence', `messaging_endpoint_retry.sequence + ${RUN}`)}
        AND e.type IN (${types.map(() => '?').join(', ')}))`
    : '';
  const failed = `endpoint_id = ? AND due_at IS NULL AND sequence > ? AND sequence <= ?${ofTypes}`;
  const params = [endpoint.id, after, upTo, ...(types ? [endpoint.accountId, ...types] : [])];
  const [any] = yield* rowsOf(`SELECT sequence FROM messaging_endpoint_retry WHERE ${failed} LIMIT 1`, ...params);
  if (!any) return 0;
  yield* noteAsk(endpoint.id, at);
  const events = yield* write(
    `UPDATE messaging_endpoint_retry SET tries = 0, due_at = ?, batch = NULL WHERE ${failed}`,
    at,
    ...params,
  );
  if (events > 0) yield* recordReplay(order, { events, after, up_to: upTo, only_failed: true });
  return events;
}

function* recordReplay(
  { endpoint, at, by = HOST }: Pick<ReplayOrder, 'endpoint' | 'at' | 'by'>,
  after: AuditFields,
): Operation<void> {
  const { id: target, accountId } = endpoint;
  yield* recordAudit({ accountId, at, by, action: 'webhook.replayed', target, after });
}

/** See `CallStore.purgeFailed`. */
export function* purgeFailed(dialect: Dialect, limit: number): Operation<number> {
  const rows = yield* rowsOf(
    `SELECT r.endpoint_id, r.sequence FROM messaging_endpoint_retry r JOIN messaging_endpoint p ON ${dialect.lookUp('p.id = r.endpoint_id')}
      JOIN messaging_event_counter c ON ${dialect.lookUp('c.id = p.account_id')} WHERE r.due_at IS NULL AND r.sequence < c.earliest
      ORDER BY r.endpoint_id, r.sequence LIMIT ?`,
    limit,
  );
  if (rows.length === 0) return 0;
  yield dialect.deleteRows({
    table: 'messaging_endpoint_retry',
    shape: { endpoint_id: 'id', sequence: 'integer' } as const,
    rows: rows.map((row) => [textOf(row, 'endpoint_id'), integerOf(row, 'sequence')]),
    on: 'messaging_endpoint_retry.endpoint_id = v.endpoint_id AND messaging_endpoint_retry.sequence = v.sequence AND messaging_endpoint_retry.due_at IS NULL',
  });
  return rows.length;
}

/** Returns the requested types that the endpoint receives. Undefined: all types. */
function typesOf({ endpoint, types }: ReplayOrder): readonly EventType[] | undefined {
  if (!types) return endpoint.types ?? undefined;
  return endpoint.types ? types.filter((type) => endpoint.types?.includes(type)) : types;
}

/**
 * Returns a window as a range of sequence numbers that are kept. The range ends at the endpoint's cursor, because later events
 * are called anyway.
 */
function* windowOf(
  dialect: Dialect,
  { endpoint, after, since, until }: ReplayOrder,
): Operation<{ after: number; upTo: number }> {
  const [row] = yield* rowsOf(
    `SELECT c.earliest, p.cursor_at FROM messaging_endpoint p JOIN messaging_event_counter c ON ${dialect.lookUp('c.id = p.account_id')} WHERE p.id = ?`,
    endpoint.id,
  );
  if (!row) return { after: 0, upTo: 0 };
  const low = Math.max(after, integerOf(row, 'earliest') - 1);
  const high = integerOf(row, 'cursor_at');
  return {
    after: since === undefined ? low : (yield* firstFrom(endpoint.accountId, low, high, since)) - 1,
    upTo: until === undefined ? high : (yield* firstFrom(endpoint.accountId, low, high, until)) - 1,
  };
}

/**
 * Finds the sequence number of the first event from a time on, between two numbers. It halves the range again and again, because
 * there is no index on times.
 */
function* firstFrom(accountId: string, low: number, high: number, time: number): Operation<number> {
  let [before, from] = [low, high + 1];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    const [row] = yield* rowsOf(
      `SELECT ${EVENT_COLUMNS} FROM messaging_event e WHERE e.account_id = ? AND e.sequence >= ? ORDER BY e.sequence LIMIT 1`,
      accountId,
      middle,
    );
    const event = row && storedEvents(row).find(({ sequence }) => sequence >= middle);
    if (!event || event.at >= time) from = middle;
    else before = Math.max(middle, event.sequence);
  }
  return from;
}

function* countEvents(
  accountId: string,
  after: number,
  upTo: number,
  types: readonly EventType[] | undefined,
): Operation<number> {
  const ofTypes = types ? ` AND e.type IN (${types.map(() => '?').join(', ') || 'NULL'})` : '';
  const [row] = yield* rowsOf(
    `SELECT sum(CASE WHEN e.sequence < ? THEN e.sequence ELSE ? END
        - CASE WHEN e.sequence - e.earlier > ? THEN e.sequence - e.earlier - 1 ELSE ? END) AS events
      FROM messaging_event e WHERE e.account_id = ? AND e.sequence > ? AND e.sequence < ? AND e.sequence - e.earlier <= ?${ofTypes}`,
    upTo,
    upTo,
    after,
    after,
    accountId,
    after,
    upTo + RUN,
    upTo,
    ...(types ?? []),
  );
  return row ? integerOf(row, 'events') : 0;
}

/** Returns a condition for the row of the log that contains an event. `end` is the event's number plus the length of a run. */
function holds(sequence: string, end: string): string {
  return `e.sequence >= ${sequence} AND e.sequence < ${end} AND e.sequence - e.earlier <= ${sequence}`;
}
