import { isContactId } from '../common/contact-id.js';
import { checkNumber } from '../common/inputs.js';
import { DELIVERY_STATUSES } from '../events/delivery-status.js';
import { listingQuery, type MessageListQuery } from '../outbox/listing/message-listing.js';
import type { MessageQuery } from '../outbox/outbox-records.js';

/** The filter and page of a listing of messages. */
export interface MsgappListQuery extends MessageListQuery {
  /** Only messages to this number, E.164 digits without the plus sign, or to this contact. */
  readonly to?: string | undefined;
  /** Only messages from this linked number. */
  readonly from?: string | undefined;
}

/**
 * Returns the query of the store. One-time codes are not listed.
 * @throws MessagingError the errors of `listingQuery`, and `error.invalid_number`
 */
export function messageQuery(query: MsgappListQuery, now: number): Omit<MessageQuery, 'accountId' | 'channel'> {
  const listing = listingQuery(query, DELIVERY_STATUSES, now);
  const { to, from } = query;
  if (to !== undefined && !isContactId(to)) checkNumber(to);
  if (from !== undefined) checkNumber(from);
  return { ...listing, kinds: ['text', 'media'], number: to, sender: from };
}
