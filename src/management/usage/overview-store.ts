import type { AccountState } from '../../accounts/account.api.js';
import { DAY_MS } from '../../common/time.js';
import { WAITING_STATUSES } from '../../events/delivery-status.js';
import { FINAL_SESSION_STATUSES } from '../../events/session-status.js';
import { PRIORITIES } from '../../outbox/queue/priority.api.js';
import { rankOf } from '../../outbox/queue/priority.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../../storage/engine/rows.js';

/** The state and balance of an account. */
export interface AccountStanding {
  readonly name: string;
  /** `active`, `suspended` or `closed`. */
  readonly state: AccountState;
  readonly balance: number;
  /** Below this number of units the balance is low. Undefined: never. */
  readonly lowBelow: number | undefined;
}

/** The recipients to count. Times are in milliseconds since the epoch. */
export interface StatusQuery {
  readonly accountId: string;
  readonly channels: readonly string[];
  readonly since: number;
  readonly until: number;
  /** How many messages, and how many recipients, are read on each channel. The newest are read. */
  readonly most: number;
}

/** How many recipients are in each state. */
export interface StatusCounts {
  readonly counts: Readonly<Record<string, number>>;
  /** False: only the newest recipients were counted. */
  readonly isComplete: boolean;
}

/** A fact that needs somebody's attention. */
export interface AttentionFact {
  readonly kind: 'signature_rejected' | 'endpoint_disabled' | 'number_lost' | 'key_expiring';
  /** A name, the id of an endpoint or of a key, or a number. */
  readonly target: string;
  /** When it happened or will happen, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Reads the overview of an account. It is read often, so every query is limited, no matter how much the account has sent. Every
 * method throws `StorageUnavailableError` if the database does not answer.
 */
export class OverviewStore {
  constructor(private readonly database: Database) {}

  /** Returns the state and balance of an account. Undefined: there is no such account. */
  async standing(accountId: string): Promise<AccountStanding | undefined> {
    const sql = 'SELECT name, state, balance, low_below FROM messaging_account WHERE id = ?';
    const [row] = await this.database.read(() => rowsOf(sql, accountId));
    return (
      row && {
        name: textOf(row, 'name'),
        state: textOf(row, 'state') as AccountState,
        balance: integerOf(row, 'balance'),
        lowBelow: optionalInteger(row, 'low_below'),
      }
    );
  }

  /** Counts the recipients of messages that were accepted in a range. */
  async statuses({ channels, ...query }: StatusQuery): Promise<StatusCounts> {
    const counts: Record<string, number> = {};
    let isComplete = true;
    const { dialect } = this.database;
    for (const channel of channels) {
      for (const kind of KINDS) {
        // The queries run one at a time, so that none blocks the event loop for long on SQLite.
        const rows = await this.database.browse(
          () => countStatuses(dialect, { ...query, channel, kind }),
          query.accountId,
        );
        let counted = 0;
        for (const row of rows) {
          const count = integerOf(row, 'count');
          counts[textOf(row, 'status')] = (counts[textOf(row, 'status')] ?? 0) + count;
          counted += count;
        }
        isComplete &&= counted < query.most;
      }
    }
    return { counts, isComplete };
  }

  /**
   * Returns when the oldest waiting message was accepted, or was to be sent by its `send_at`. A message that waits for
   * its own time does not count. It compares the message that is due the longest on each channel,
   * priority and linked number. Undefined: no message waits.
   */
  oldestWaiting(accountId: string, channels: readonly string[], now: number): Promise<number | undefined> {
    return this.database.browse(() => findOldestWaiting(this.database.dialect, accountId, channels, now), accountId);
  }

  /** Returns the ids of endpoints whose calls have all failed since that time, or that were disabled for it. At most 20. */
  failingEndpoints(accountId: string, since: number): Promise<readonly string[]> {
    const sql = `SELECT id FROM messaging_endpoint WHERE account_id = ?
      AND (status = 'enabled' AND failing_since <= ? OR status = 'disabled' AND reason <> 'requested')
      ORDER BY created_at, id LIMIT ${MAX_NOTICES}`;
    return this.database.read(function* () {
      return (yield* rowsOf(sql, accountId, since)).map((row) => textOf(row, 'id'));
    });
  }

  /**
   * Returns facts that need attention: names that were rejected in the last 30 days, endpoints that were disabled because of
   * failures, numbers that were lost in the last 7 days and are not linked again, and keys that expire within 14 days. At most 20
   * of each, the newest first.
   */
  attention(accountId: string, channels: readonly string[], now: number): Promise<readonly AttentionFact[]> {
    return this.database.browse(() => findAttention(accountId, channels, now), accountId);
  }
}

/** The kinds of messages that are sent. */
const KINDS = ['text', 'media', 'otp', 'login'] as const;

function countStatuses(
  dialect: Dialect,
  {
    accountId,
    channel,
    kind,
    since,
    until,
    most,
  }: Omit<StatusQuery, 'channels'> & { readonly channel: string; readonly kind: string },
): Operation<readonly Row[]> {
  return rowsOf(
    `SELECT s.status, count(*) AS count FROM (
        SELECT r.status FROM (
          SELECT m.id FROM messaging_message m
            WHERE m.account_id = ? AND m.channel = ? AND m.kind = ? AND m.accepted_at >= ? AND m.accepted_at < ?
            ORDER BY m.accepted_at DESC, m.id DESC LIMIT ?) f
          JOIN messaging_recipient r ON ${dialect.lookUp('r.message_id = f.id')} LIMIT ?) s
      GROUP BY s.status`,
    accountId,
    channel,
    kind,
    since,
    until,
    most,
    most,
  );
}

/** How many linked numbers of a channel are searched for waiting messages. */
const MAX_LANES = 20;

function* findOldestWaiting(
  dialect: Dialect,
  accountId: string,
  channels: readonly string[],
  now: number,
): Operation<number | undefined> {
  let oldest: number | undefined;
  const keep = ([row]: readonly Row[]): void => {
    // A delivery that waits for its own time is not late.
    if (!row || (integerOf(row, 'attempt') === 0 && (optionalInteger(row, 'due_at') ?? now) > now)) return;
    const at = Math.max(integerOf(row, 'accepted_at'), optionalInteger(row, 'send_at') ?? 0);
    if (oldest === undefined || at < oldest) oldest = at;
  };
  for (const channel of channels) {
    for (const priority of PRIORITIES) {
      for (const status of WAITING_STATUSES) {
        keep(
          yield* rowsOf(
            `SELECT m.accepted_at, m.send_at, f.due_at, f.attempt FROM (SELECT r.message_id, r.due_at, r.attempt FROM messaging_recipient r
                WHERE r.channel = ? AND r.status = ? AND r.priority = ? AND r.queue = ? AND r.due_at IS NOT NULL
                ORDER BY r.due_at LIMIT 1) f JOIN messaging_message m ON ${dialect.lookUp('m.id = f.message_id')}`,
            channel,
            status,
            rankOf(priority),
            accountId,
          ),
        );
      }
    }
    const lanes = yield* rowsOf(
      `SELECT s.id FROM messaging_session s WHERE s.account_id = ? AND s.channel = ? AND s.lease_until IS NOT NULL LIMIT ?`,
      accountId,
      channel,
      MAX_LANES,
    );
    for (const lane of lanes) {
      keep(
        yield* rowsOf(
          `SELECT m.accepted_at, m.send_at, f.due_at, f.attempt
              FROM (SELECT r.message_id, r.due_at, r.attempt FROM messaging_recipient r WHERE r.channel = ? AND r.lane = ?
              ORDER BY r.lane_turn, r.message_id LIMIT 1) f JOIN messaging_message m ON ${dialect.lookUp('m.id = f.message_id')}`,
          channel,
          textOf(lane, 'id'),
        ),
      );
    }
  }
  return oldest;
}

/** How many facts of each kind are returned, and how many of a channel's newest sessions are read. */
const MAX_NOTICES = 20;
const SESSIONS = 200;

function* findAttention(
  accountId: string,
  channels: readonly string[],
  now: number,
): Operation<readonly AttentionFact[]> {
  const facts: AttentionFact[] = [];
  const add = (kind: AttentionFact['kind'], rows: readonly Row[]): void => {
    for (const row of rows) facts.push({ kind, target: textOf(row, 'target'), at: integerOf(row, 'at') });
  };
  add(
    'signature_rejected',
    yield* rowsOf(
      `SELECT name AS target, decided_at AS at FROM messaging_signature
        WHERE account_id = ? AND status = 'rejected' AND decided_at >= ? ORDER BY decided_at DESC, name LIMIT ${MAX_NOTICES}`,
      accountId,
      now - 30 * DAY_MS,
    ),
  );
  add(
    'endpoint_disabled',
    yield* rowsOf(
      `SELECT id AS target, updated_at AS at FROM messaging_endpoint
        WHERE account_id = ? AND status = 'disabled' AND reason <> 'requested' ORDER BY updated_at DESC, id LIMIT ${MAX_NOTICES}`,
      accountId,
    ),
  );
  for (const channel of channels) add('number_lost', yield* lostNumbers(accountId, channel, now));
  add(
    'key_expiring',
    yield* rowsOf(
      `SELECT id AS target, expires_at AS at FROM messaging_api_key
        WHERE account_id = ? AND revoked_at IS NULL AND expires_at > ? AND expires_at <= ? ORDER BY expires_at, id LIMIT ${MAX_NOTICES}`,
      accountId,
      now,
      now + 14 * DAY_MS,
    ),
  );
  return facts;
}

const FINAL: readonly string[] = FINAL_SESSION_STATUSES;

/** The reason of a session whose account has unlinked the number. */
const UNLINKED = 'logout';

/** Finds numbers whose last session has ended although the account has not unlinked them. */
function* lostNumbers(accountId: string, channel: string, now: number): Operation<readonly Row[]> {
  const sessions = yield* rowsOf(
    `SELECT s.number AS target, s.updated_at AS at, s.status, s.reason, s.connected_at FROM messaging_session s
      WHERE s.account_id = ? AND s.channel = ? ORDER BY s.created_at DESC, s.id DESC LIMIT ${SESSIONS}`,
    accountId,
    channel,
  );
  const known = new Set<string>();
  return sessions
    .filter((row) => {
      if (optionalInteger(row, 'connected_at') === undefined || known.has(textOf(row, 'target'))) return false;
      known.add(textOf(row, 'target'));
      const isLost = FINAL.includes(textOf(row, 'status'));
      return isLost && textOf(row, 'reason') !== UNLINKED && integerOf(row, 'at') >= now - 7 * DAY_MS;
    })
    .slice(0, MAX_NOTICES);
}
