import { StorageUnavailableError } from '../common/errors.js';
import { WAITING_STATUSES, type WaitingStatus } from '../events/delivery-status.js';
import { PRIORITIES, type Priority } from '../outbox/queue/priority.api.js';
import { rankOf } from '../outbox/queue/priority.js';
import { END, groupsOfQueues, QUEUES_BETWEEN } from '../outbox/queue/queues.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, type Row, rowsOf, type Statement } from '../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, type RowShape, textOf } from '../storage/engine/rows.js';

/** The maximum number of deliveries of a channel that are counted. `MAX_COUNTED` is the most of anything else. */
export const MAX_DELIVERIES = 100_000;
export const MAX_COUNTED = 10_000;

/**
 * The measures of a storage for gauges. They are the same in every process. Counts stop at `MAX_DELIVERIES` and
 * `MAX_COUNTED`.
 */
export interface StorageMeasures {
  /** Deliveries that have not been handed over yet. */
  readonly open: readonly {
    readonly channel: string;
    readonly status: WaitingStatus;
    readonly count: number;
  }[];
  /** How many of the counted deliveries that are `queued` wait for a later time. */
  readonly scheduled: readonly { readonly channel: string; readonly count: number }[];
  /**
   * When the longest overdue delivery that is not claimed became due, in milliseconds since the epoch. A queue without
   * a due delivery is left out.
   */
  readonly due: readonly { readonly channel: string; readonly priority: Priority; readonly since: number }[];
  /** Accounts below their threshold. */
  readonly lowAccounts: number;
  /** Receipts that match no SMS yet. */
  readonly parkedReceipts: number;
  /** Sessions of messaging apps that are not over. */
  readonly sessions: readonly { readonly channel: string; readonly state: string; readonly count: number }[];
  readonly endpoints: readonly { readonly state: string; readonly count: number }[];
  /** Campaigns that a process looks after. */
  readonly campaigns: readonly { readonly state: string; readonly count: number }[];
  /** The time of the oldest event that was not sent to an enabled endpoint; undefined if there is none. */
  readonly uncalledSince: number | undefined;
  /** Rows that the database has not cleaned up yet; empty if the database does not report them. */
  readonly deadRows: readonly { readonly table: string; readonly rows: number }[];
  /** The age of the oldest open transaction in seconds; undefined if the database does not report it. */
  readonly oldestSnapshot: number | undefined;
}

/** The time and the channels of a measurement. */
export interface MeasureOrder {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The mounted channels. */
  readonly channels: readonly string[];
}

/**
 * The maximum number of accounts of a priority, and the most endpoints, among which the oldest delivery or event is
 * searched.
 */
const MAX_SEARCHED = 100;

/** The maximum number of events that are looked up for these endpoints. */
const MAX_EVENTS = 400;

/** Reads what gauges show: at most six statements, each of which reads a bounded part of an index. */
export class StorageMeter {
  /** True after the database has refused to show its statistics to this user. They are not read again. */
  private isBlind = false;

  constructor(private readonly database: Database) {}

  async measure({ now, channels }: MeasureOrder): Promise<StorageMeasures> {
    const { database } = this;
    const { dialect } = database;
    const [open, due] =
      channels.length > 0
        ? [
            await database.browse(() => openDeliveries(dialect, channels, now), undefined),
            await database.browse(() => dueSince(dialect, channels, now), undefined),
          ]
        : [[], []];
    const counts = await database.browse(() => counted(dialect, channels), undefined);
    const uncalledSince = await database.browse(() => oldestUncalled(dialect), undefined);
    const catalogue = this.isBlind ? [] : await this.catalogue();
    const of = (what: string) => counts.filter((row) => textOf(row, 'what') === what);
    const total = (what: string) => of(what).reduce((sum, row) => sum + integerOf(row, 'n'), 0);
    const oldest = catalogue.find((row) => textOf(row, 'what') === 'oldest');
    return {
      open: open.map(({ channel, status, count }) => ({ channel, status, count })),
      scheduled: open.flatMap(({ channel, status, later }) => (status === 'queued' ? [{ channel, count: later }] : [])),
      due,
      lowAccounts: total('low'),
      parkedReceipts: total('parked'),
      sessions: of('session').map((row) => ({
        channel: textOf(row, 'a'),
        state: textOf(row, 'b'),
        count: integerOf(row, 'n'),
      })),
      endpoints: of('endpoint').map((row) => ({ state: textOf(row, 'b'), count: integerOf(row, 'n') })),
      campaigns: of('campaign').map((row) => ({ state: textOf(row, 'b'), count: integerOf(row, 'n') })),
      uncalledSince,
      deadRows: catalogue
        .filter((row) => textOf(row, 'what') === 'dead')
        .map((row) => ({ table: textOf(row, 'name').replace('messaging_', ''), rows: integerOf(row, 'n') })),
      oldestSnapshot: oldest && integerOf(oldest, 'n'),
    };
  }

  private async catalogue(): Promise<readonly Row[]> {
    const sql = CATALOGUES[this.database.dialect.driver];
    if (sql === undefined) return [];
    try {
      return await this.database.browse(() => rowsOf(sql), undefined);
    } catch (error) {
      if (error instanceof StorageUnavailableError) throw error;
      this.isBlind = true;
      return [];
    }
  }
}

const OPEN: RowShape = { channel: 'id', status: 'id', n: 'integer', most: 'integer', now: 'integer' };

interface OpenDeliveries {
  readonly channel: string;
  readonly status: WaitingStatus;
  readonly count: number;
  /** How many of them have a later `due_at`. */
  readonly later: number;
}

function* openDeliveries(
  dialect: Dialect,
  channels: readonly string[],
  now: number,
): Operation<readonly OpenDeliveries[]> {
  const wanted = channels.flatMap((channel) => WAITING_STATUSES.map((status) => ({ channel, status })));
  const query = `SELECT v.n AS n, count(*) AS found, coalesce(sum(t.later), 0) AS later FROM (
    SELECT CASE WHEN r.due_at > v.now THEN 1 ELSE 0 END AS later FROM messaging_recipient r${dialect.by('messaging_recipient_queue')}
      WHERE r.channel = v.channel AND r.status = v.status AND r.due_at IS NOT NULL LIMIT v.most) t`;
  const rows = yield* rowsOfEach(
    dialect,
    query,
    OPEN,
    wanted.map(({ channel, status }, n) => [channel, status, n, MAX_DELIVERIES, now]),
  );
  return rows.flatMap((row) => {
    const place = wanted[integerOf(row, 'n')];
    return place ? [{ ...place, count: integerOf(row, 'found'), later: integerOf(row, 'later') }] : [];
  });
}

function* dueSince(dialect: Dialect, channels: readonly string[], now: number): Operation<StorageMeasures['due']> {
  const wanted = channels.flatMap((channel) => PRIORITIES.map((priority) => ({ channel, priority })));
  const rows = yield* rowsOfEach(
    dialect,
    groupsOfQueues(dialect),
    QUEUES_BETWEEN,
    wanted.map(({ channel, priority }, n) => [channel, 'queued', '', END, MAX_SEARCHED, n, rankOf(priority), now]),
  );
  const oldest = new Map<number, number>();
  for (const row of rows) {
    const [n, due] = [integerOf(row, 'n'), optionalInteger(row, 'due_at')];
    if (due !== undefined) oldest.set(n, Math.min(due, oldest.get(n) ?? due));
  }
  return [...oldest].flatMap(([n, since]) => {
    const place = wanted[n];
    return place ? [{ ...place, since }] : [];
  });
}

/** Counts small tables in one statement. Each row has `what` was counted, two names and the number. */
function* counted(dialect: Dialect, channels: readonly string[]): Operation<readonly Row[]> {
  const first = (what: string, columns: string, from: string) =>
    `SELECT '${what}' AS what, t.a AS a, t.b AS b, count(*) AS n FROM (SELECT ${columns} FROM ${from} LIMIT ${MAX_COUNTED}) t
      GROUP BY t.a, t.b`;
  const parts = [
    first('low', "'' AS a, '' AS b", 'messaging_account WHERE low IS NOT NULL'),
    first('parked', "'' AS a, '' AS b", 'messaging_sms_parked WHERE counts_for IS NOT NULL'),
    // The order makes PostgreSQL read the endpoints by their key. Without it, PostgreSQL would need a compiled plan,
    // because table scans are disabled there.
    first('endpoint', "'' AS a, status AS b", 'messaging_endpoint ORDER BY id'),
    first('campaign', "'' AS a, status AS b", 'messaging_campaign WHERE working = 1 ORDER BY working, lease_until'),
    first(
      'session',
      'channel AS a, status AS b',
      `messaging_session WHERE channel ${dialect.among()} AND lease_until IS NOT NULL`,
    ),
  ];
  return yield* rowsOf(parts.join(' UNION ALL '), JSON.stringify(channels));
}

const WINDOW: RowShape = { account: 'id', type: 'id', position: 'integer' };

/**
 * The time of the oldest event that was not sent to an enabled endpoint. Only the endpoint's types count, because its
 * cursor may not have passed events of other types yet.
 */
function* oldestUncalled(dialect: Dialect): Operation<number | undefined> {
  const endpoints = yield* rowsOf(
    `SELECT p.account_id, p.cursor_at, p.types FROM messaging_endpoint p
      JOIN messaging_event_counter c ON c.id = p.account_id AND c.sequence > p.cursor_at
      WHERE p.status = 'enabled' ORDER BY p.id LIMIT ${MAX_SEARCHED}`,
  );
  const all: unknown[][] = [];
  const some: unknown[][] = [];
  for (const row of endpoints) {
    const place = [textOf(row, 'account_id'), integerOf(row, 'cursor_at')] as const;
    const types = optionalText(row, 'types');
    if (types === undefined) all.push([place[0], '', place[1]]);
    else for (const type of JSON.parse(types)) some.push([place[0], type, place[1]]);
  }
  const next = (condition: string) =>
    `SELECT e.at AS at FROM messaging_event e WHERE e.account_id = v.account${condition} AND e.sequence > v.position
      ORDER BY e.sequence LIMIT 1`;
  const searches = [
    ...(all.length > 0 ? [dialect.ofEach(next(''), WINDOW, all)] : []),
    ...(some.length > 0 ? [dialect.ofEach(next(' AND e.type = v.type'), WINDOW, some.slice(0, MAX_EVENTS))] : []),
  ];
  if (searches.length === 0) return undefined;
  const rows = yield* rowsOf(
    searches.map(({ sql }) => sql).join(' UNION ALL '),
    ...searches.flatMap(({ params }) => params),
  );
  return rows.length > 0 ? Math.min(...rows.map((row) => integerOf(row, 'at'))) : undefined;
}

function* rowsOfEach(
  dialect: Dialect,
  query: string,
  shape: RowShape,
  rows: readonly (readonly unknown[])[],
): Operation<readonly Row[]> {
  const statement: Statement = dialect.ofEach(query, shape, rows);
  return (yield statement).rows;
}

/**
 * Queries for the statistics of databases. `what` is `dead`, with a table's `name` and its dead rows, or `oldest`, with
 * seconds.
 */
const CATALOGUES: Readonly<Record<string, string>> = {
  postgres: `SELECT 'dead' AS what, relname AS name, n_dead_tup AS n FROM pg_stat_user_tables
      WHERE schemaname = current_schema() AND relname LIKE 'messaging\\_%'
    UNION ALL SELECT 'oldest', '', coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint
      FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
        AND coalesce(datname, current_database()) = current_database() AND backend_type <> 'autovacuum worker'`,
  mysql: `SELECT 'oldest' AS what, '' AS name, coalesce(max(TIMESTAMPDIFF(SECOND, trx_started, NOW())), 0) AS n
      FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID()`,
};
