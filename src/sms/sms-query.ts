import { MessagingError } from '../common/errors.js';
import { checkInput, checkLimit, checkNumber, checkString } from '../common/inputs.js';
import { textOfCursor } from '../common/listing/list-query.js';
import { SMS_STATUSES } from '../events/delivery-status.js';
import { listingQuery, type MessageListQuery, statusOf } from '../outbox/listing/message-listing.js';
import type { MessageQuery, RecipientQuery, StoredMessage } from '../outbox/outbox-records.js';

/** The filter and page of a listing of recipients. */
export interface SmsRecipientsQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only recipients in this state. */
  readonly status?: string | undefined;
}

/** The filter and page of a listing of SMS. */
export interface SmsListQuery extends MessageListQuery {
  /** Only SMS to this number: E.164 digits without the plus sign. */
  readonly number?: string | undefined;
  readonly signature?: string | undefined;
}

/**
 * The query of the store.
 * @throws MessagingError the errors of `listingQuery`, and `error.invalid_number`, `error.field_not_string`
 */
export function messageQuery(query: SmsListQuery, now: number): Omit<MessageQuery, 'accountId' | 'channel' | 'kinds'> {
  const listing = listingQuery(query, SMS_STATUSES, now);
  const { number, signature } = query;
  if (number !== undefined) checkNumber(number);
  if (signature !== undefined) checkString('signature', signature);
  return { ...listing, number, sender: signature };
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
  return { limit, from, status: statusOf(status, SMS_STATUSES) };
}
