import { recordAudit } from '../../accounts/audit/audit.js';
import { type Author } from '../../accounts/audit/audit-entry.js';
import { type AccountRole, isOperatorRole, type OperatorRole } from '../../accounts/keys/permissions.js';
import { keepReply } from '../../accounts/replies.js';
import { MessagingError } from '../../common/errors.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import type { Acceptance } from '../../outbox/outbox.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, type Statement, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import { and } from '../../storage/read-page.js';

/** The user of a link or a session. */
export interface UserIdentity {
  readonly subject: string;
  /** Undefined for the roles of the operator. */
  readonly accountId: string | undefined;
  readonly role: AccountRole | OperatorRole;
}

/** A one-time link. */
export interface UserLink extends UserIdentity {
  readonly id: string;
  /** The SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The beginning of a session. Times are in milliseconds since the epoch. */
export interface UserSessionStart {
  readonly id: string;
  /** SHA-256 of the first refresh token, hexadecimal. */
  readonly hash: string;
  readonly at: number;
  /** When the session ends unless it is refreshed. */
  readonly expiresAt: number;
  /** When it ends in any case. */
  readonly endsAt: number;
  /** The client's address. */
  readonly address: string | undefined;
}

/** An open session. */
export interface UserSession extends UserIdentity {
  readonly id: string;
  /** When it ends in any case, in milliseconds since the epoch. */
  readonly endsAt: number;
}

/** The use of a refresh token. */
export interface UserSessionRefresh {
  readonly id: string;
  /** The SHA-256 of the token, and of the token that replaces it, hexadecimal. */
  readonly hash: string;
  readonly nextHash: string;
  readonly at: number;
  /** When the session ends unless it is refreshed again. */
  readonly expiresAt: number;
  /** For how long the last replaced token stays valid, and its successor is not replaced, in milliseconds. */
  readonly graceMs: number;
  readonly address: string | undefined;
}

/**
 * The result of a refresh. `refreshed`: the token was valid, or was replaced a moment ago. `replayed`: the token was replaced
 * longer ago, so the session is ended. `ended`: the session had ended, or its account is closed.
 */
export type RefreshOutcome =
  | {
      readonly kind: 'refreshed';
      readonly session: UserSession;
      /** The SHA-256 of the token that is valid from now on, hexadecimal. */
      readonly hash: string;
      /** When the session ends unless it is refreshed, in milliseconds since the epoch. */
      readonly expiresAt: number;
    }
  | { readonly kind: 'replayed' | 'ended' };

/** A user, and the account if only the sessions for this account are meant. */
export interface UserSessionFilter {
  readonly subject: string;
  readonly accountId: string | undefined;
}

/** Why a session is ended. */
export type UserSessionEndReason = 'requested' | 'replayed';

/**
 * Persists one-time links and the sessions of users. It stores only hashes of their secrets. The transaction of a change also
 * writes the entry of the audit log. Every method throws `StorageUnavailableError` if the database does not answer.
 */
export class UserSessionStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores a link, and records `link.created`.
   *
   * @param once the Idempotency-Key under which the reply is kept. If there is already a reply, nothing is stored
   * @throws MessagingError `error.account_not_found`, also for a closed account, and `error.idempotency_mismatch`
   */
  addLink(link: UserLink, by: Author, reply: object, once?: IdempotencyKey): Promise<Acceptance> {
    return this.database.write(() => addLink(this.database.dialect, link, by, reply, once));
  }

  /** A wrong guess writes nothing, because on SQLite, which has one writer, it must not delay sends. */
  /**
   * Begins a session by a link, uses the link up, and records `session.started`.
   * @returns undefined if there is no such link, if it was used, if it is too late, or if its account is closed
   */
  async startByLink(hash: string, start: UserSessionStart): Promise<UserSession | undefined> {
    const [link] = await this.database.read(() => rowsOf(USABLE_LINK, hash, start.at));
    if (!link) return undefined;
    return this.database.write(() => startByLink(hash, start));
  }

  /**
   * Begins a session of a user whom the host has authenticated, and records `session.started`.
   * @returns undefined if the account does not exist or is closed
   */
  start(user: UserIdentity, start: UserSessionStart): Promise<UserSession | undefined> {
    return this.database.write(() => startSession(user, start));
  }

  /**
   * Replaces a refresh token. If several requests have the same token at the same time, one of them replaces it. A token that has
   * replaced another token less than `graceMs` ago stays as it is.
   */
  refresh(refresh: UserSessionRefresh): Promise<RefreshOutcome> {
    return this.database.write(() => refreshSession(this.database.dialect, refresh));
  }

  /** Ends a session, and records `session.ended` unless it had ended. */
  end(id: string, at: number, address: string | undefined): Promise<void> {
    const { dialect } = this.database;
    return this.database.write(function* (): Operation<void> {
      const session = yield* findSession(dialect, id);
      if (session) yield* endSession(session, at, 'requested', authorOf(session, address));
    });
  }

  /**
   * Ends at most `limit` sessions of a user, for one account or for all, and records `session.ended` for each. His unused links,
   * for that account or all, become invalid, and each is recorded as `link.revoked`.
   * @returns their ids. Fewer than `limit` ids mean that there are no others
   */
  endOf(owner: UserSessionFilter, at: number, by: Author, limit: number): Promise<readonly string[]> {
    return this.database.write(() => endSessionsOf(this.database.dialect, owner, at, by, limit));
  }

  /** Returns a session. Undefined if it was ended, or if its account is closed. It does not check limits of time. */
  async find(id: string): Promise<UserSession | undefined> {
    const session = await this.database.read(() => findSession(this.database.dialect, id));
    return session?.isOpen ? toUserSession(session) : undefined;
  }

  /**
   * Removes at most `limit` links and at most `limit` sessions that ended before a moment. Returns the higher of the two numbers.
   */
  async purge(before: number, limit: number): Promise<number> {
    const { dialect } = this.database;
    const remove = (table: string, key: string) =>
      this.database.write(() => write(dialect.deleteFirst(table, key, 'expires_at'), before, limit));
    const links = await remove('messaging_user_link', 'hash');
    return Math.max(links, await remove('messaging_user_session', 'id'));
  }
}

/** A session with the values that decide about its refresh tokens. */
interface UserSessionRow extends UserSession {
  readonly hash: string;
  readonly previousHash: string | undefined;
  readonly replacedAt: number;
  readonly expiresAt: number;
  /** Whether neither the session was ended nor its account closed. */
  readonly isOpen: boolean;
}

/** The reply is kept first. So if two requests have the same key, the second one waits and stores no link. */
function* addLink(
  dialect: Dialect,
  link: UserLink,
  by: Author,
  reply: object,
  once: IdempotencyKey | undefined,
): Operation<Acceptance> {
  const { id, hash, subject, accountId, role, createdAt: at, expiresAt } = link;
  if (accountId !== undefined && !(yield* isOpenAccount(accountId)))
    throw new MessagingError('error.account_not_found');
  const earlier = once && (yield* keepReply(dialect, once, reply, at));
  if (earlier) {
    if (earlier.fingerprint !== once.fingerprint) throw new MessagingError('error.idempotency_mismatch');
    return { reply: earlier.reply, replayed: true };
  }
  yield* write(
    `INSERT INTO messaging_user_link (hash, id, subject, account_id, role, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    hash,
    id,
    subject,
    accountId ?? null,
    role,
    at,
    expiresAt,
  );
  const after = { subject, role, expires_at: isoOf(expiresAt) };
  yield* recordAudit({ accountId, at, by, action: 'link.created', target: id, after });
  return { reply, replayed: false };
}

function* isOpenAccount(id: string): Operation<boolean> {
  const [row] = yield* rowsOf("SELECT id FROM messaging_account WHERE id = ? AND state <> 'closed'", id);
  return row !== undefined;
}

const USABLE_LINK = 'SELECT hash FROM messaging_user_link WHERE hash = ? AND used_at IS NULL AND expires_at > ?';

/** If several requests come at the same time, only one update finds the link unused. */
function* startByLink(hash: string, start: UserSessionStart): Operation<UserSession | undefined> {
  const { at } = start;
  const used = yield* write(
    'UPDATE messaging_user_link SET used_at = ? WHERE hash = ? AND used_at IS NULL AND expires_at > ?',
    at,
    hash,
    at,
  );
  if (used === 0) return undefined;
  const [row] = yield* rowsOf('SELECT subject, account_id, role FROM messaging_user_link WHERE hash = ?', hash);
  return row && (yield* startSession(toUser(row), start));
}

function* startSession(user: UserIdentity, start: UserSessionStart): Operation<UserSession | undefined> {
  const { subject, accountId, role } = user;
  const { id, hash, at, expiresAt, endsAt, address } = start;
  if (accountId !== undefined && !(yield* isOpenAccount(accountId))) return undefined;
  yield* write(
    `INSERT INTO messaging_user_session (id, subject, account_id, role, hash, started_at, used_at, expires_at, ends_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    subject,
    accountId ?? null,
    role,
    hash,
    at,
    at,
    expiresAt,
    endsAt,
  );
  const by = authorOf(user, address);
  yield* recordAudit({ accountId, at, by, action: 'session.started', target: id, after: { role } });
  return { ...user, id, endsAt };
}

/**
 * See `UserSessionStore.refresh`. If several requests come at the same time, only one update finds the token in its place. A
 * token that is younger than the grace stays, because after a second replacement the old token of a third tab would count as a
 * replay.
 */
function* refreshSession(dialect: Dialect, refresh: UserSessionRefresh): Operation<RefreshOutcome> {
  const { id, hash, nextHash, at, expiresAt, graceMs, address } = refresh;
  const replaced = yield* write(
    `UPDATE messaging_user_session SET previous_hash = hash, hash = ?, replaced_at = ?, used_at = ?,
      expires_at = CASE WHEN ends_at < ? THEN ends_at ELSE ? END
      WHERE id = ? AND hash = ? AND ended_at IS NULL AND expires_at > ? AND (replaced_at IS NULL OR replaced_at <= ?)`,
    nextHash,
    at,
    at,
    expiresAt,
    expiresAt,
    id,
    hash,
    at,
    at - graceMs,
  );
  const session = yield* findSession(dialect, id);
  if (!session?.isOpen || session.expiresAt <= at) return { kind: 'ended' };
  const wasReplaced = session.previousHash === hash && at < session.replacedAt + graceMs;
  if (replaced > 0 || wasReplaced || session.hash === hash) {
    return { kind: 'refreshed', session: toUserSession(session), hash: session.hash, expiresAt: session.expiresAt };
  }
  yield* endSession(session, at, 'replayed', authorOf(session, address));
  return { kind: 'replayed' };
}

function* findSession(dialect: Dialect, id: string): Operation<UserSessionRow | undefined> {
  const [row] = yield* rowsOf(
    `SELECT s.id, s.subject, s.account_id, s.role, s.hash, s.previous_hash, s.replaced_at, s.expires_at, s.ends_at, s.ended_at,
      a.state FROM messaging_user_session s LEFT JOIN messaging_account a ON ${dialect.lookUp('a.id = s.account_id')} WHERE s.id = ?`,
    id,
  );
  if (!row) return undefined;
  const user = toUser(row);
  const isClosed = user.accountId !== undefined && (optionalText(row, 'state') ?? 'closed') === 'closed';
  return {
    ...user,
    id: textOf(row, 'id'),
    endsAt: integerOf(row, 'ends_at'),
    hash: textOf(row, 'hash'),
    previousHash: optionalText(row, 'previous_hash'),
    replacedAt: optionalInteger(row, 'replaced_at') ?? 0,
    expiresAt: integerOf(row, 'expires_at'),
    isOpen: optionalInteger(row, 'ended_at') === undefined && !isClosed,
  };
}

/**
 * The links are locked first. A running exchange has its link locked, so its session can be found afterwards. The locks are taken
 * in the order of the ids, so that two transactions cannot deadlock.
 */
function* endSessionsOf(
  dialect: Dialect,
  { subject, accountId }: UserSessionFilter,
  at: number,
  by: Author,
  limit: number,
): Operation<readonly string[]> {
  const ofAccount = accountId === undefined ? [] : [{ sql: 'account_id = ?', params: [accountId] }];
  yield* revokeLinks(
    dialect,
    and([{ sql: 'subject = ? AND used_at IS NULL', params: [subject] }, ...ofAccount]),
    at,
    by,
  );
  const where = and([{ sql: 'subject = ? AND ended_at IS NULL', params: [subject] }, ...ofAccount]);
  const sql = `SELECT id, account_id FROM messaging_user_session WHERE ${where.sql} ORDER BY id LIMIT ?`;
  const rows = yield* rowsOf(sql, ...where.params, limit);
  for (const row of rows) {
    const session = { id: textOf(row, 'id'), accountId: optionalText(row, 'account_id') };
    yield* endSession(session, at, 'requested', by);
  }
  return rows.map((row) => textOf(row, 'id'));
}

/**
 * The links are locked before they are read, so that no link is recorded that an exchange has used meanwhile. Expired links are
 * left out.
 */
function* revokeLinks(dialect: Dialect, unused: Statement, at: number, by: Author): Operation<void> {
  const rows = yield* rowsOf(
    `SELECT l.id, l.hash, l.account_id FROM messaging_user_link l WHERE ${unused.sql} AND l.expires_at > ?
      ORDER BY l.hash${dialect.lock('l', 'wait')}`,
    ...unused.params,
    at,
  );
  for (const row of rows) {
    yield* write('UPDATE messaging_user_link SET used_at = ? WHERE hash = ?', at, textOf(row, 'hash'));
    const entry = { accountId: optionalText(row, 'account_id'), at, by, action: 'link.revoked' } as const;
    yield* recordAudit({ ...entry, target: textOf(row, 'id') });
  }
}

function* endSession(
  { id, accountId }: Pick<UserSession, 'id' | 'accountId'>,
  at: number,
  reason: UserSessionEndReason,
  by: Author,
): Operation<void> {
  const sql = 'UPDATE messaging_user_session SET ended_at = ?, expires_at = ? WHERE id = ? AND ended_at IS NULL';
  const ended = yield* write(sql, at, at, id);
  if (ended > 0) yield* recordAudit({ accountId, at, by, action: 'session.ended', target: id, after: { reason } });
}

/** Returns a user as the author of changes of his own session. */
function authorOf({ subject: id, role }: UserIdentity, address: string | undefined): Author {
  return { kind: isOperatorRole(role) ? 'operator' : 'user', id, address };
}

function toUserSession({ id, subject, accountId, role, endsAt }: UserSession): UserSession {
  return { id, subject, accountId, role, endsAt };
}

function toUser(row: Row): UserIdentity {
  return {
    subject: textOf(row, 'subject'),
    accountId: optionalText(row, 'account_id'),
    // The cast is safe, because only this class writes the column.
    role: textOf(row, 'role') as UserIdentity['role'],
  };
}
