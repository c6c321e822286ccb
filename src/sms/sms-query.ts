import { MessagingError } from '../common/errors.js';
import { isId } from '../common/ids.js';
import { checkInput, checkLimit, checkNumber, checkString } from '../common/inputs.js';
import { momentOf, textOfCursor } from '../common/list-query.js';
import type { Metadata } from '../events/event-types.js';
import type { DeliveryStatus } from '../outbox/delivery-state.js';
import { metadataOf } from '../outbox/metadata.js';
import type { MessageQuery, RecipientQuery, StoredMessage } from '../outbox/outbox-store.js';

/** The states of a recipient of an SMS. */
export const SMS_STATUSES = ['queued', 'sending', 'sent', 'delivered', 'undelivered', 'failed', 'unknown'] as const;

/** The filter and page of a listing of recipients. */
export interface SmsRecipientsQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only recipients in this state. */
  readonly status?: string | undefined;
}

/** The filter and page of a listing of SMS. All conditions must hold, those on recipients for the same recipient. */
export interface SmsListQuery extends SmsRecipientsQuery {
  /** Only SMS to this number: E.164 digits without the plus sign. */
  readonly number?: string | undefined;
  /** Only SMS with a recipient in this state. */
  readonly status?: string | undefined;
  readonly signature?: string | undefined;
  /** Only SMS whose metadata has all of these. */
  readonly metadata?: Metadata | undefined;
  /** Only SMS accepted at or after this moment: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Only SMS accepted before this moment, in the format of `since`. */
  readonly until?: string | undefined;
}

/**
 * The query of the store.
 * @throws MessagingError `error.invalid_cursor`, and for an invalid filter `error.field_invalid`,
 *   `error.field_not_string`, `error.invalid_number`, and those of `metadataOf`
 */
export function messageQuery(query: SmsListQuery): Omit<MessageQuery, 'accountId' | 'channel' | 'kind'> {
  checkInput(query);
  const { limit = 50, cursor, number, status, signature, since, until } = query;
  checkLimit(limit);
  if (number !== undefined) checkNumber(number);
  if (signature !== undefined) checkString('signature', signature);
  return {
    limit,
    after: cursor === undefined ? undefined : textOfCursor(cursor, isPosition),
    number,
    sender: signature,
    metadata: metadataOf(query.metadata),
    status: statusOf(status),
    since: momentOf('since', since),
    until: momentOf('until', until),
  };
}

/**
 * The query of the store.
 * @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for an invalid filter
 */
export function recipientQuery(query: SmsRecipientsQuery, { recipients }: StoredMessage): RecipientQuery {
  checkInput(query);
  const { limit = 50, cursor, status } = query;
  checkLimit(limit);
  const from = cursor === undefined ? 0 : Number(textOfCursor(cursor, (text) => /^\d{1,7}$/.test(text)));
  // An empty page would mean that there are no further recipients.
  if (from >= recipients) throw new MessagingError('error.invalid_cursor');
  return { limit, from, status: statusOf(status) };
}

/** The id of a message, optionally with the position of a recipient. */
function isPosition(text: string): boolean {
  const [id, position = '0', ...more] = text.split(':');
  return isId(id) && /^\d{1,7}$/.test(position) && more.length === 0;
}

function statusOf(status: string | undefined): DeliveryStatus | undefined {
  if (status === undefined) return undefined;
  const known = SMS_STATUSES.find((each) => each === status);
  if (known === undefined) throw new MessagingError('error.field_invalid', { field: 'status' });
  return known;
}
