import { hash } from 'node:crypto';
import { recordAudit } from '../../accounts/audit/audit.js';
import { type AuditFields } from '../../accounts/audit/audit-entry.js';
import type { Page } from '../../common/listing/page.js';
import { maskNumber } from '../../common/phone-numbers/phone-number.js';
import { sessionEvents } from '../../events/account-events.js';
import type { TransactionPublisher } from '../../events/event-recorder.js';
import { isFinal } from '../../events/session-status.js';
import { lockRecords, writeRecords } from '../../outbox/policy/policy-records.js';
import { PARKED } from '../../outbox/queue/parked.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import { clearCredentials } from './credential-rows.js';
import { checkSessionLimits, type SessionLimits } from './session-limits.js';
import {
  CREATED,
  type NewSession,
  type SessionLease,
  type SessionMove,
  type SessionTransition,
  STEPS_KEPT,
  type StoredSession,
  steppedSession,
} from './session-records.js';
import { isHeld, lockHeld, SESSION, toSession } from './session-rows.js';

/** See `SessionStore.create`. */
export function* createSession(
  dialect: Dialect,
  { id, accountId, channel, createdAt, address, owner, leaseUntil, by }: NewSession,
  limits: SessionLimits | undefined,
): Operation<SessionLease> {
  if (limits) yield* checkLimits(dialect, { accountId, channel, createdAt }, limits);
  yield* write(
    `INSERT INTO messaging_session (id, account_id, channel, address, status, created_at, updated_at, steps, owner, lease_until, epoch)
      VALUES (?, ?, ?, ?, 'created', ?, ?, 1, ?, ?, 1)`,
    id,
    accountId,
    channel,
    address ?? null,
    createdAt,
    createdAt,
    owner,
    leaseUntil,
  );
  yield* insertStep(id, 0, { from: undefined, to: 'created', reason: CREATED, at: createdAt });
  if (by) yield* recordAudit({ accountId, at: createdAt, by, action: 'number.connect_requested', target: id });
  return { sessionId: id, epoch: 1 };
}

/** Locks a record of the account, which serialises the creation of its sessions, and then counts the sessions. */
function* checkLimits(
  dialect: Dialect,
  { accountId, channel, createdAt }: Pick<NewSession, 'accountId' | 'channel' | 'createdAt'>,
  limits: SessionLimits,
): Operation<void> {
  const key = `sessions-${hash('sha256', JSON.stringify([channel, accountId]), 'base64url')}`;
  const { versions } = yield* lockRecords(dialect, [key], 'wait');
  const rows = yield* rowsOf(
    `SELECT ${SESSION} FROM messaging_session a${dialect.by('messaging_session_account')}
      WHERE a.account_id = ? AND a.channel = ? ORDER BY a.created_at DESC, a.id DESC LIMIT ?`,
    accountId,
    channel,
    limits.made,
  );
  checkSessionLimits(rows.map(toSession), limits, createdAt);
  const expiresAt = createdAt + limits.windowMs;
  yield* writeRecords(dialect, versions, new Map([[key, { state: {}, messages: [], expiresAt }]]), 'wait');
}

/** See `SessionStore.lease`. The database checks the condition again when it has locked the row. */
export function* leaseSession(
  id: string,
  owner: string,
  now: number,
  until: number,
): Operation<SessionLease | undefined> {
  const taken = yield* write(
    `UPDATE messaging_session SET owner = ?, lease_until = ?, epoch = epoch + 1
      WHERE id = ? AND lease_until IS NOT NULL AND (lease_until <= ? OR owner = ?)`,
    owner,
    until,
    id,
    now,
    owner,
  );
  return taken > 0 ? yield* latestLease(id) : undefined;
}

/** See `SessionStore.seize`. */
export function* seizeSession(id: string, owner: string, until: number): Operation<SessionLease | undefined> {
  const taken = yield* write(
    `UPDATE messaging_session SET owner = ?, lease_until = ?, epoch = epoch + 1 WHERE id = ? AND lease_until IS NOT NULL`,
    owner,
    until,
    id,
  );
  return taken > 0 ? yield* latestLease(id) : undefined;
}

function* latestLease(id: string): Operation<SessionLease | undefined> {
  const [row] = yield* rowsOf('SELECT epoch FROM messaging_session WHERE id = ?', id);
  return row && { sessionId: id, epoch: integerOf(row, 'epoch') };
}

/** See `SessionStore.renew`. */
export function* renewLeases(
  dialect: Dialect,
  leases: readonly SessionLease[],
  until: number,
): Operation<readonly SessionLease[]> {
  const ids = JSON.stringify([...new Set(leases.map(({ sessionId }) => sessionId))]);
  const rows = yield* rowsOf(dialect.lockByIds('messaging_session', 'a.id, a.owner, a.epoch', 'wait'), ids);
  const epochs = new Map(rows.filter(isHeld).map((row) => [textOf(row, 'id'), integerOf(row, 'epoch')]));
  const ours = leases.filter(({ sessionId, epoch }) => epochs.get(sessionId) === epoch);
  if (ours.length > 0) {
    const sql = `UPDATE messaging_session SET lease_until = ? WHERE id ${dialect.among()}`;
    yield* write(sql, until, JSON.stringify(ours.map(({ sessionId }) => sessionId)));
  }
  return ours;
}

/** See `SessionStore.release`. */
export function* releaseLease({ sessionId, epoch }: SessionLease): Operation<void> {
  const sql =
    'UPDATE messaging_session SET owner = NULL, lease_until = 0 WHERE id = ? AND epoch = ? AND owner IS NOT NULL';
  yield* write(sql, sessionId, epoch);
}

/** See `SessionStore.move`. */
export function* moveSession(
  dialect: Dialect,
  lease: SessionLease,
  move: SessionMove,
  { publish }: TransactionPublisher,
): Operation<boolean> {
  const row = yield* lockHeld(dialect, lease);
  const before = row && toSession(row);
  const after = before && steppedSession(before, move);
  if (!after) return false;
  yield* write(
    `UPDATE messaging_session SET status = ?, number = ?, reason = ?, connected_at = ?, updated_at = ?, steps = steps + 1
      WHERE id = ?`,
    after.status,
    after.number ?? null,
    after.reason ?? null,
    after.connectedAt ?? null,
    after.updatedAt,
    after.id,
  );
  const place = integerOf(row, 'steps');
  yield* insertStep(after.id, place, { ...move, from: before.status });
  if (place >= STEPS_KEPT) {
    const sql = 'DELETE FROM messaging_session_step WHERE session_id = ? AND place <= ?';
    yield* write(sql, after.id, place - STEPS_KEPT);
  }
  if (isFinal(after.status)) {
    yield* write('UPDATE messaging_session SET owner = NULL, lease_until = NULL WHERE id = ?', after.id);
    yield* clearCredentials(after.id);
  }
  const { by, at } = move;
  if (by) {
    const fields = { before: fieldsOf(before), after: { status: after.status } };
    yield* recordAudit({ accountId: after.accountId, at, by, action: 'number.unlinked', target: after.id, ...fields });
  }
  for (const event of sessionEvents(after, move.reason, at)) publish(event);
  return true;
}

/** Returns the fields of a linked number that the audit log shows. */
function fieldsOf({ status, number }: StoredSession): AuditFields {
  return { status, number: number === undefined ? null : maskNumber(number) };
}

/**
 * See `SessionStore.stranded`. It finds sessions by the lanes of waiting deliveries, because the index of lanes contains only
 * these.
 */
export function* findStranded(
  dialect: Dialect,
  channel: string,
  after: string,
  limit: number,
): Operation<Page<StoredSession>> {
  const turn = dialect.by('messaging_recipient_turn');
  const waiting = yield* rowsOf(
    `SELECT r.lane FROM messaging_recipient r${turn} WHERE r.channel = ? AND r.lane > ? AND r.lane < ? ORDER BY r.lane LIMIT ?`,
    channel,
    after,
    PARKED,
    limit,
  );
  const lanes = [...new Set(waiting.map((row) => textOf(row, 'lane')))];
  // Do not use EXISTS here, because the planner may turn it into a read of all lanes. Do not add a condition for which the
  // planner would choose another index.
  const queued = `(SELECT r.status FROM messaging_recipient r${turn}
    WHERE r.channel = a.channel AND r.lane = a.id AND r.status = 'queued' LIMIT 1)`;
  const rows = yield* rowsOf(
    `SELECT ${SESSION}, ${queued} AS queued FROM messaging_session a${dialect.by('primary key')}
      WHERE a.id ${dialect.among()} ORDER BY a.id`,
    JSON.stringify(lanes),
  );
  const items = rows
    .filter((row) => row.queued !== null)
    .map(toSession)
    .filter((session) => session.channel === channel && isFinal(session.status));
  return { items, next: waiting.length === limit ? lanes.at(-1) : undefined };
}

/** See `SessionStore.purge`. */
export function* purgeSessions(dialect: Dialect, before: number, limit: number): Operation<number> {
  const old = yield* rowsOf(
    `SELECT a.id FROM messaging_session a WHERE a.updated_at < ? AND a.lease_until IS NULL AND NOT EXISTS (
      SELECT 1 FROM messaging_recipient r WHERE ${dialect.lookUp('r.channel = a.channel AND r.lane = a.id')})
      AND NOT EXISTS (
        SELECT 1 FROM messaging_recipient r WHERE ${dialect.lookUp(`r.channel = a.channel AND r.lane = concat('${PARKED}', a.id)`)})
      ORDER BY a.updated_at LIMIT ?`,
    before,
    limit,
  );
  if (old.length === 0) return 0;
  const found = JSON.stringify(old.map((row) => textOf(row, 'id')));
  const locked = yield* rowsOf(dialect.lockByIds('messaging_session', 'a.id', 'skip'), found);
  const ids = JSON.stringify(locked.map((row) => textOf(row, 'id')));
  yield* write(`DELETE FROM messaging_session_step WHERE session_id ${dialect.among()}`, ids);
  yield* write(`DELETE FROM messaging_session WHERE id ${dialect.among()}`, ids);
  return locked.length;
}

function* insertStep(id: string, place: number, { from, to, reason, number, at }: SessionTransition): Operation<void> {
  yield* write(
    `INSERT INTO messaging_session_step (session_id, place, from_status, to_status, reason, number, moved_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    id,
    place,
    from ?? null,
    to,
    reason,
    number ?? null,
    at,
  );
}
