import { MessagingError } from '../../common/errors.js';
import { type Page, withinPage } from '../../common/listing/page.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import { and } from '../../storage/read-page.js';
import type { EndpointAttempt } from '../endpoints/endpoint.js';
import type { AttemptQuery } from '../endpoints/endpoint-records.js';
import type { CallRecord, RecordedCall } from './call-records.js';
import { callIdOf, RUN_MS, runIdOf } from './call-runs.js';

/** The columns of a row, which has one call or a run of calls. */
export const ATTEMPT_ROW = {
  id: 'id',
  endpoint_id: 'id',
  ...shapeOf('sequences error reply calls', 'first last at ms ok status'),
} as const;

/**
 * What a run stores for each of its calls: how many milliseconds before the last call it began, how many it took, and how many
 * events it had.
 */
type StoredCall = readonly [before: number, ms: number, events: number];

/** Makes the row of one call, or of a run. */
export function attemptRow(
  endpointId: string,
  { id, ok, status, error, reply, calls }: CallRecord,
): readonly unknown[] {
  const ordered = calls.length > 1 ? [...calls].sort((a, b) => a.at - b.at) : calls;
  const { at, ms } = ordered.at(-1) ?? NO_CALL;
  const sequences = ordered.length > 1 ? ordered.flatMap((call) => call.sequences) : (ordered[0]?.sequences ?? []);
  const stored = ordered.map((call): StoredCall => [at - call.at, call.ms, call.sequences.length]);
  return [
    calls.length > 1 ? runIdOf(id) : id,
    endpointId,
    JSON.stringify(sequences),
    error ?? null,
    reply ?? null,
    calls.length > 1 ? JSON.stringify(stored) : null,
    sequences[0] ?? 0,
    sequences.at(-1) ?? 0,
    at,
    ms,
    ok ? 1 : 0,
    status ?? null,
  ];
}

const NO_CALL: RecordedCall = { sequences: [], at: 0, ms: 0 };

const COLUMNS = 'id, sequences, at, ms, ok, status, error, reply, calls';

/** Returns the calls of a row, the newest first. The casts are safe, because only this package writes the columns. */
function attemptsOf(row: Row): readonly EndpointAttempt[] {
  const [id, at] = [textOf(row, 'id'), integerOf(row, 'at')];
  const sequences = JSON.parse(textOf(row, 'sequences')) as readonly number[];
  const answer = {
    ok: integerOf(row, 'ok') === 1,
    status: optionalInteger(row, 'status'),
    error: optionalText(row, 'error'),
    reply: optionalText(row, 'reply'),
  };
  const stored = optionalText(row, 'calls');
  if (stored === undefined) return [{ id, sequences, at, ms: integerOf(row, 'ms'), ...answer }];
  const calls = JSON.parse(stored) as readonly StoredCall[];
  let taken = 0;
  const attempts = calls.map(([before, ms, events], place) => {
    const own = sequences.slice(taken, taken + events);
    taken += events;
    return { id: callIdOf(id, place), sequences: own, at: at - before, ms, ...answer };
  });
  return attempts.reverse();
}

/** How many rows are read at a time. A run has many calls in one row, but single calls need a row each. */
const ROWS = 32;

/**
 * Reads a page of calls, the newest first. Runs may overlap, so a call is returned only if no row that is still unread can have a
 * newer call.
 *
 * @throws MessagingError `error.invalid_cursor` if `after` is not a call of the endpoint
 */
export function* readAttempts(
  dialect: Dialect,
  { endpointId, ok, limit, after }: AttemptQuery,
): Operation<Page<EndpointAttempt>> {
  const shown: Statement[] = [{ sql: 'endpoint_id = ?', params: [endpointId] }];
  if (ok !== undefined) shown.push({ sql: 'ok = ?', params: [ok ? 1 : 0] });
  const cursor = after === undefined ? undefined : yield* findAttempt(endpointId, after);
  if (cursor) {
    const behind = dialect.behind('at', cursor.at, cursor.id);
    // A run that began before the cursor's call may end after it.
    const sql = `at <= ? AND (calls IS NOT NULL OR ${behind.sql})`;
    shown.push({ sql, params: [cursor.at + RUN_MS, ...behind.params] });
  }
  const found: EndpointAttempt[] = [];
  let last: Place | undefined;
  for (;;) {
    const where = and(last ? [...shown, dialect.behind('at', last.at, last.id)] : shown);
    const sql = `SELECT ${COLUMNS} FROM messaging_endpoint_attempt WHERE ${where.sql} ORDER BY at DESC, id DESC LIMIT ?`;
    const rows = yield* rowsOf(sql, ...where.params, ROWS);
    const read = rows.flatMap(attemptsOf);
    found.push(...(cursor ? read.filter((attempt) => isNewer(cursor, attempt)) : read));
    found.sort((a, b) => (isNewer(a, b) ? -1 : 1));
    const end = rows.at(-1);
    const isEnd = end === undefined || rows.length < ROWS;
    if (!isEnd) last = { id: textOf(end, 'id'), at: integerOf(end, 'at') };
    const ready = isEnd || !last ? found.length : countReady(found, last);
    const items = withinPage(found.slice(0, Math.min(limit, ready)), bytesOf);
    if (!isEnd && items.length === ready) continue;
    return { items, next: ready > items.length ? items.at(-1)?.id : undefined };
  }
}

/** Returns about how many bytes a listed call has, without its events. */
function bytesOf({ sequences, error = '', reply = '' }: EndpointAttempt): number {
  return 200 + 10 * sequences.length + Buffer.byteLength(error) + Buffer.byteLength(reply);
}

/** Counts the first calls for which no row after `last` has a newer call. */
function countReady(found: readonly Place[], last: Place): number {
  const first = found.findIndex((attempt) => isNewer(last, attempt));
  return first < 0 ? found.length : first;
}

type Place = Pick<EndpointAttempt, 'id' | 'at'>;

function isNewer(one: Place, other: Place): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id);
}

function* findAttempt(endpointId: string, id: string): Operation<EndpointAttempt> {
  const rows = yield* rowsOf(
    `SELECT ${COLUMNS} FROM messaging_endpoint_attempt WHERE id IN (?, ?) AND endpoint_id = ?`,
    id,
    runIdOf(id),
    endpointId,
  );
  const attempt = rows.flatMap(attemptsOf).find((each) => each.id === id);
  if (!attempt) throw new MessagingError('error.invalid_cursor');
  return attempt;
}
