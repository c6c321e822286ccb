import { MessagingError } from '../../common/errors.js';
import { PRIORITIES, type Priority, RANKS, SEND_PRIORITIES, type SendPriority } from './priority.api.js';

/** With more recipients than this, a send is `bulk` unless its caller names a priority. */
const MAX_NORMAL = 1000;

/**
 * The priority of a caller's send with a number of recipients.
 * @param given the priority that the caller gives; undefined or null: `normal`, or `bulk` above 1000 recipients
 * @throws MessagingError `error.field_invalid` for any other value
 */
export function sendPriority(given: unknown, recipients: number): SendPriority {
  const asked = given ?? (recipients > MAX_NORMAL ? 'bulk' : 'normal');
  const known = SEND_PRIORITIES.find((priority) => priority === asked);
  if (known === undefined) throw new MessagingError('error.field_invalid', { field: 'priority' });
  return known;
}

/** The stored form of a priority. */
export function rankOf(priority: Priority): number {
  return RANKS[priority];
}

/** The priority of a stored rank; `normal` for a rank that no priority has. */
export function priorityOf(rank: number): Priority {
  return PRIORITIES.find((priority) => RANKS[priority] === rank) ?? 'normal';
}
