import { Injectable } from '@nestjs/common';
import type { Author } from '../../accounts/audit/audit-entry.js';
import { Clock } from '../../common/clock.js';
import { isContactId } from '../../common/contact-id.js';
import { MessagingError } from '../../common/errors.js';
import { checkNumber } from '../../common/inputs.js';
import { spellingsOf } from '../../common/phone-numbers/phone-spellings.js';
import { Outbox } from '../outbox.js';
import { OutboxStore } from '../outbox-store.js';
import type { CanceledMessage } from './schedule.api.js';

/** What is canceled, and by whom. */
export interface CancelOptions {
  /** Only the recipient with this number: E.164 digits without the plus sign. */
  readonly number?: string | undefined;
  /** The caller, for the audit log. Undefined: the audit log gets no entry. */
  readonly by?: Author | undefined;
}

/** Cancels messages of any channel. */
@Injectable()
export class Cancellation {
  constructor(
    private readonly outbox: Outbox,
    private readonly store: OutboxStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Cancels every recipient of a message that no worker has claimed. A large message is canceled in slices, each in a
   * transaction that also refunds its units. After a crash, a repeat cancels the rest.
   *
   * @param message a message that belongs to the account
   * @throws MessagingError `error.message_not_found` if the message has no recipient with this number,
   * `error.invalid_number`
   */
  async cancel(
    message: { readonly id: string; readonly accountId: string },
    { number, by }: CancelOptions = {},
  ): Promise<CanceledMessage> {
    const { id: messageId, accountId } = message;
    if (number !== undefined && !isContactId(number)) checkNumber(number);
    const numbers = number === undefined ? undefined : spellingsOf(number);
    const order = { accountId, messageId, numbers, by, at: this.clock.now() };
    let canceled = 0;
    let refunded = 0;
    for (let from: number | undefined = 0; from !== undefined; ) {
      const { transitions, next } = await this.outbox.cancel({ ...order, from });
      canceled += transitions.length;
      for (const { refund } of transitions) refunded += refund;
      from = next;
    }
    const count = await this.store.countCanceled(messageId, numbers, accountId);
    if (count.recipients === 0) throw new MessagingError('error.message_not_found');
    return { canceled, too_late: count.recipients - count.canceled, refunded_units: refunded };
  }
}
