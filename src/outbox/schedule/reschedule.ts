import { isDeepStrictEqual } from 'node:util';
import { recordAudit } from '../../accounts/audit/audit.js';
import type { AuditFields, Author } from '../../accounts/audit/audit-entry.js';
import { MessagingError } from '../../common/errors.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, write, writeAll } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import { startWithin, TOGETHER } from '../accept/due-times.js';
import type { StoredMessage } from '../outbox-records.js';
import { openingOf } from '../windows/first-openings.js';
import type { DeliveryWindow } from '../windows/window.api.js';
import { SCHEDULE_COLUMNS, type Schedule, scheduleValues, storedSchedule } from './schedule.js';
import { scheduleView } from './schedule-view.js';
import { moveValidity } from './validity.js';

/** The maximum number of recipients that one statement locks or writes. */
export const RESCHEDULE_SLICE = 2000;

/** A change of a schedule. A field that is undefined stays as it is. */
export interface ScheduleChange {
  /** Milliseconds since the epoch. The validity keeps its length. */
  readonly sendAt?: number | undefined;
  /** The length of the validity in milliseconds, from `sendAt` or else the acceptance on. */
  readonly validFor?: number | undefined;
  /** Null: no window. */
  readonly window?: DeliveryWindow | null | undefined;
}

/** A message of a channel without lanes, and its change. */
export interface RescheduleOrder {
  readonly message: Pick<StoredMessage, 'id' | 'accountId' | 'channel' | 'recipients' | 'acceptedAt'>;
  readonly change: ScheduleChange;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** For the audit log. */
  readonly by?: Author | undefined;
}

/**
 * Changes the schedule of a message that no worker has claimed: see `OutboxStore.reschedule`. It locks the recipients in
 * the order of all transactions. A claim skips locked recipients, and this waits for those that a claim has locked. So
 * either all recipients get their new time, or one was claimed and nothing is changed.
 *
 * @returns when the first recipient is due; undefined if the schedule is as it was
 */
export function* reschedule(
  dialect: Dialect,
  { message, change, at, by }: RescheduleOrder,
): Operation<number | undefined> {
  const { id, accountId, recipients, acceptedAt } = message;
  // Most refusals are found here, without a lock for which a claim would skip the recipients that still wait.
  if (yield* isClaimed(dialect, id)) throw new MessagingError('error.already_sending');
  let schedules: { readonly before: Schedule; readonly after: Schedule } | undefined;
  let isChanged = false;
  let first = Number.POSITIVE_INFINITY;
  for (let from = 0; from < recipients; from += RESCHEDULE_SLICE) {
    const waiting = yield* lockWaiting(dialect, id, from);
    // It is read under the lock of the first recipients, because another request may have changed it until then.
    schedules ??= yield* readSchedules(id, change, acceptedAt);
    const { before, after } = schedules;
    isChanged = !isDeepStrictEqual(scheduleValues(before), scheduleValues(after));
    const due = waiting.map((row) => dueOf(row, after, at));
    for (const time of due) first = Math.min(first, time);
    if (!isChanged || waiting.length === 0) continue;
    const update = dialect.updateRows({
      table: 'messaging_recipient',
      set: { due_at: 'v.due', updated_at: '?' },
      params: [at],
      shape: { message_id: 'id', position: 'integer', due: 'integer' },
      rows: waiting.map((row, index) => [id, integerOf(row, 'position'), due[index]]),
      on: 'messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position',
    });
    yield* writeAll([update], false);
  }
  if (schedules === undefined || first === Number.POSITIVE_INFINITY) throw new MessagingError('error.already_sending');
  if (!isChanged) return undefined;
  const { before, after } = schedules;
  if (by) {
    const fields = { before: auditFields(before), after: auditFields(after) };
    yield* recordAudit({ accountId, at, by, action: 'message.rescheduled', target: id, ...fields });
  }
  yield* write(
    `UPDATE messaging_message SET ${SCHEDULE_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
    ...scheduleValues(after),
    id,
  );
  yield* moveValidity(dialect, id, before, after);
  return first;
}

function* isClaimed(dialect: Dialect, messageId: string): Operation<boolean> {
  const rows = yield* rowsOf(
    `SELECT r.position FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id = ? AND r.attempt > 0 ORDER BY r.position LIMIT 1`,
    messageId,
  );
  return rows.length > 0;
}

/**
 * Locks a slice of recipients, and returns those that wait.
 * @throws MessagingError `error.already_sending` if one was claimed
 */
function* lockWaiting(dialect: Dialect, messageId: string, from: number): Operation<readonly Row[]> {
  const rows = yield* rowsOf(
    `SELECT r.position, r.number, r.status, r.attempt FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id = ? AND r.position >= ? AND r.position < ? ORDER BY r.position${dialect.lock('r', 'wait')}`,
    messageId,
    from,
    from + RESCHEDULE_SLICE,
  );
  if (rows.some((row) => integerOf(row, 'attempt') > 0)) throw new MessagingError('error.already_sending');
  return rows.filter((row) => textOf(row, 'status') === 'queued');
}

function* readSchedules(
  messageId: string,
  change: ScheduleChange,
  acceptedAt: number,
): Operation<{ readonly before: Schedule; readonly after: Schedule }> {
  const [row] = yield* rowsOf(`SELECT ${SCHEDULE_COLUMNS.join(', ')} FROM messaging_message WHERE id = ?`, messageId);
  const before = (row && storedSchedule(row)) ?? {};
  return { before, after: changedSchedule(before, change, acceptedAt) };
}

function changedSchedule(before: Schedule, { sendAt, validFor, window }: ScheduleChange, acceptedAt: number): Schedule {
  const start = sendAt ?? before.sendAt;
  const length =
    validFor ?? (before.validUntil === undefined ? undefined : before.validUntil - (before.sendAt ?? acceptedAt));
  return {
    sendAt: start,
    validUntil: length === undefined ? undefined : (start ?? acceptedAt) + length,
    window: window === undefined ? before.window : (window ?? undefined),
  };
}

/** When a recipient is due. See `firstDueOf` for the groups. */
function dueOf(row: Row, schedule: Schedule, at: number): number {
  const { sendAt = at, window } = schedule;
  const start = Math.max(at, sendAt);
  const due = window === undefined ? start : openingOf(window, textOf(row, 'number'), start);
  return startWithin(schedule, at, due) + Math.floor(integerOf(row, 'position') / TOGETHER);
}

function auditFields(schedule: Schedule): AuditFields {
  const { window, ...times } = scheduleView(schedule);
  return { ...times, window: window === null ? null : JSON.stringify(window) };
}
