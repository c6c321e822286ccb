import type { StoredRecipient } from '../outbox-records.js';
import type { ScheduleView } from './schedule.api.js';
import type { Schedule } from './schedule.js';

/** A schedule as look-ups show it. */
export function scheduleView({ sendAt, validUntil, window }: Schedule = {}): ScheduleView {
  return { send_at: textOf(sendAt), valid_until: textOf(validUntil), window: window ?? null };
}

/** When a recipient is due, as look-ups show it. */
export function dueView({ status, dueAt, updatedAt }: Pick<StoredRecipient, 'status' | 'dueAt' | 'updatedAt'>) {
  return status === 'queued' ? textOf(dueAt ?? updatedAt) : null;
}

function textOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
