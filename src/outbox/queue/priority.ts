import { MessagingError } from '../../common/errors.js';

/**
 * How soon a delivery is handed over, compared with others of its channel: `code` before everything, then `high`, `normal` and
 * `bulk`, which share 8 : 4 : 2, so that none of them starves. Only one-time passcodes are `code`.
 */
export type Priority = keyof typeof RANKS;

/** As `messaging_recipient.priority` stores them: smallest first, 0 where nothing is said. */
const RANKS = { code: -2, high: -1, normal: 0, bulk: 1 } as const;

/** All priorities, the first to be handed over first. */
export const PRIORITIES = Object.keys(RANKS) as readonly Priority[];

/** The priorities that a caller may ask for. */
export const SEND_PRIORITIES = ['high', 'normal', 'bulk'] as const satisfies readonly Priority[];

/** A priority that a caller may ask for. */
export type SendPriority = (typeof SEND_PRIORITIES)[number];

/** With more recipients than this, a send is `bulk` unless its caller names a priority. */
const MAX_NORMAL = 1000;

/**
 * The priority of a caller's send to so many numbers.
 * @param given what the caller asks for; nothing or null: `normal`, or `bulk` above 1000 recipients
 * @throws MessagingError `error.field_invalid` for anything else than a `SendPriority`
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
