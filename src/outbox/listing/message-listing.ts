import { MessagingError } from '../../common/errors.js';
import { isId } from '../../common/ids.js';
import { checkInput, checkLimit } from '../../common/inputs.js';
import { momentOf, textOfCursor } from '../../common/listing/list-query.js';
import type { Metadata } from '../../events/events.api.js';
import type { DeliveryStatus } from '../delivery-state.js';
import { metadataOf } from '../metadata.js';
import type { MessageQuery } from '../outbox-records.js';

/**
 * The filter and page of a listing of messages. A message must meet all conditions, and one and the same recipient must
 * meet all conditions on recipients.
 */
export interface MessageListQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only messages with a recipient in this state. */
  readonly status?: string | undefined;
  /** Only messages whose metadata has all these keys with these values. */
  readonly metadata?: Metadata | undefined;
  /** Only messages accepted at this time or later: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Only messages accepted before this time, in the format of `since`. */
  readonly until?: string | undefined;
  /**
   * True: only messages that wait for their `send_at`, the next one first. Besides it only `limit` and `cursor` may be given.
   */
  readonly scheduled?: boolean | undefined;
}

/**
 * Makes the part of the store's query that all listings have in common.
 * @param statuses the states of recipients on the channel
 * @param now milliseconds since the epoch
 * @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for another invalid filter, and those of `metadataOf`
 */
export function listingQuery(
  query: MessageListQuery,
  statuses: readonly DeliveryStatus[],
  now: number,
): Pick<MessageQuery, 'limit' | 'after' | 'status' | 'metadata' | 'since' | 'until' | 'dueAfter'> {
  checkInput(query);
  const { limit = 50, cursor, status, metadata, since, until } = query;
  checkLimit(limit);
  return {
    dueAfter: isScheduled(query) ? now : undefined,
    limit,
    after: cursor === undefined ? undefined : textOfCursor(cursor, isPosition),
    status: statusOf(status, statuses),
    metadata: metadataOf(metadata),
    since: momentOf('since', since),
    until: momentOf('until', until),
  };
}

/** @throws MessagingError `error.field_invalid` for anything but a boolean, and for true together with another filter */
function isScheduled(query: MessageListQuery): boolean {
  const scheduled: unknown = query.scheduled;
  if (scheduled === undefined || scheduled === false) return false;
  const others = Object.entries(query).filter(([name]) => !['scheduled', 'limit', 'cursor'].includes(name));
  if (scheduled === true && others.every(([, value]) => value === undefined)) return true;
  throw new MessagingError('error.field_invalid', { field: 'scheduled' });
}

/** @throws MessagingError `error.field_invalid` for anything but one of the states */
export function statusOf(status: unknown, statuses: readonly DeliveryStatus[]): DeliveryStatus | undefined {
  if (status === undefined) return undefined;
  const known = statuses.find((each) => each === status);
  if (known === undefined) throw new MessagingError('error.field_invalid', { field: 'status' });
  return known;
}

/** The id of a message, optionally with the position of a recipient. */
function isPosition(text: string): boolean {
  const [id, position = '0', ...more] = text.split(':');
  return isId(id) && /^\d{1,7}$/.test(position) && more.length === 0;
}
