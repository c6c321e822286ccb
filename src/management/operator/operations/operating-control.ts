import { recordAudit } from '../../../accounts/audit/audit.js';
import { type Author } from '../../../accounts/audit/audit-entry.js';
import { OperatingStore } from '../../../outbox/operating-state.js';
import { PRIORITIES, type Priority } from '../../../outbox/queue/priority.api.js';
import { rankOf } from '../../../outbox/queue/priority.js';
import { after, END, findQueues } from '../../../outbox/queue/queues.js';
import type { Dialect } from '../../../storage/dialect.js';
import { type Operation, rowsOf, write } from '../../../storage/engine/operation.js';
import { integerOf } from '../../../storage/engine/rows.js';
import { MAX_COUNTED } from './queues.api.js';

/** The queues of a channel, of an account, or of an account on a channel. */
export interface QueueScope {
  /** Undefined: all channels. */
  readonly channel: string | undefined;
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
}

/** Who switches something, and when. */
export interface SwitchCall {
  readonly by: Author;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The waiting deliveries of a channel with one priority. */
export interface QueueDepth {
  readonly channel: string;
  readonly priority: Priority;
  /** How many deliveries wait for an attempt, due or not. `MAX_COUNTED` means this number or more. */
  readonly depth: number;
  /** The earliest time at which a delivery is due, in milliseconds since the epoch. Undefined if no delivery waits. */
  readonly oldestDue: number | undefined;
}

/**
 * Switches queues and routes off and on. The transaction of each change also writes an entry of the audit log. A switch that is
 * already in that position is no change. Every method throws `StorageUnavailableError` if the database does not answer.
 */
export class OperatingControl extends OperatingStore {
  /** Pauses these queues: no delivery is claimed any more. */
  pause({ channel = '', accountId = '' }: QueueScope, call: SwitchCall): Promise<void> {
    const { dialect } = this.database;
    return this.database.write(function* () {
      const sql = 'INSERT INTO messaging_pause (channel, account_id, paused_at) VALUES (?, ?, ?)';
      const insert = { sql, params: [channel, accountId, call.at] };
      if ((yield* dialect.insertNew(insert, 'channel, account_id')) === 0) return;
      yield* auditPause('queue.paused', channel, accountId, call);
    });
  }

  /** Ends the pause of exactly this scope. */
  resume({ channel = '', accountId = '' }: QueueScope, call: SwitchCall): Promise<void> {
    return this.database.write(function* () {
      const sql = 'DELETE FROM messaging_pause WHERE channel = ? AND account_id = ?';
      if ((yield* write(sql, channel, accountId)) > 0) yield* auditPause('queue.resumed', channel, accountId, call);
    });
  }

  /** Rests a route: it takes no new attempts. */
  rest(route: string, { at, by }: SwitchCall): Promise<void> {
    const { dialect } = this.database;
    return this.database.write(function* () {
      const insert = { sql: 'INSERT INTO messaging_rested_route (id, rested_at) VALUES (?, ?)', params: [route, at] };
      if ((yield* dialect.insertNew(insert, 'id')) === 0) return;
      yield* recordAudit({ accountId: undefined, at, by, action: 'route.rested', target: route });
    });
  }

  /** Ends the rest of a route. */
  resumeRoute(route: string, { at, by }: SwitchCall): Promise<void> {
    return this.database.write(function* () {
      if ((yield* write('DELETE FROM messaging_rested_route WHERE id = ?', route)) === 0) return;
      yield* recordAudit({ accountId: undefined, at, by, action: 'route.resumed', target: route });
    });
  }

  /**
   * Counts the waiting deliveries of these channels, by priority. It reads an index, at most `MAX_COUNTED` entries for each
   * count.
   */
  async depths(channels: readonly string[]): Promise<readonly QueueDepth[]> {
    const { dialect } = this.database;
    const depths: QueueDepth[] = [];
    for (const channel of channels) {
      for (const priority of PRIORITIES) {
        // Each count is a separate query, so that other work runs in between.
        depths.push(await this.database.browse(() => depthOf(dialect, channel, priority), undefined));
      }
    }
    return depths;
  }
}

function auditPause(
  action: 'queue.paused' | 'queue.resumed',
  channel: string,
  accountId: string,
  { at, by }: SwitchCall,
): Operation<void> {
  const target = channel === '' ? accountId : channel;
  const after = { channel: channel || null, account: accountId || null };
  return recordAudit({ accountId: accountId || undefined, at, by, action, target, after });
}

/** How many accounts one statement reads for the earliest due time, and how many statements there are at most. */
const ACCOUNTS = 1000;
const STATEMENTS = 10;

function* depthOf(dialect: Dialect, channel: string, priority: Priority): Operation<QueueDepth> {
  const rank = rankOf(priority);
  const [row] = yield* rowsOf(
    `SELECT count(*) AS depth FROM (SELECT 1 AS one FROM messaging_recipient r${dialect.by('messaging_recipient_queue')}
      WHERE r.channel = ? AND r.status = 'queued' AND r.priority = ? AND r.due_at IS NOT NULL LIMIT ${MAX_COUNTED}) c`,
    channel,
    rank,
  );
  const depth = row ? integerOf(row, 'depth') : 0;
  let oldestDue: number | undefined;
  let from = '';
  for (let n = 0; depth > 0 && n < STATEMENTS; n++) {
    const place = { status: 'queued', priority: rank, from, below: END } as const;
    const [found = []] = yield* findQueues(dialect, channel, [place], Number.MAX_SAFE_INTEGER, ACCOUNTS);
    for (const { due } of found) if (due !== undefined && due < (oldestDue ?? Number.MAX_SAFE_INTEGER)) oldestDue = due;
    const last = found.at(-1);
    if (!last || found.length < ACCOUNTS) break;
    from = after(last.name);
  }
  return { channel, priority, depth, oldestDue };
}
