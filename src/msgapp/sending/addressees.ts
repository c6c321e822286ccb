import { Injectable } from '@nestjs/common';
import { isContactId } from '../../common/contact-id.js';
import { MessagingError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { checkNumber, checkString } from '../../common/inputs.js';
import { ContactStore } from '../contacts/contact-store.js';
import { MsgappSettings } from '../msgapp-options.js';
import { ReceivedOrigins } from '../received/received-origins.js';
import { SessionStore } from '../sessions/session-store.js';

/** Whom a send is for, and the number that must send it. */
export interface Addressee {
  /** The number, or the id of the contact if the number is not known. The outbox stores it as the recipient's number. */
  readonly recipient: string;
  /** E.164 digits without the plus sign. Undefined: any linked number. */
  readonly from: string | undefined;
  /** The id of the received message that the send answers. */
  readonly replyTo?: string;
}

/** The fields of a send that say whom it is for. */
export interface AddressInput {
  /** E.164 digits without the plus sign, or a contact (`ct_…`), whose linked number then sends. Not needed with `reply_to`. */
  readonly to?: string | undefined;
  /** The received message that this one answers and quotes: the `data.id` of `msgapp.received`. */
  readonly reply_to?: string | undefined;
  /** The sending number. Default: of the numbers connected now, the one that was first connected earliest. */
  readonly from?: string | undefined;
}

/** Finds out whom a send is for. Only a send to a contact and an answer ask the database. */
@Injectable()
export class Addressees {
  constructor(
    private readonly contacts: ContactStore,
    private readonly origins: ReceivedOrigins,
    private readonly sessions: SessionStore,
    private readonly settings: MsgappSettings,
  ) {}

  /** @throws MessagingError `error.invalid_number`, `error.field_missing`, `error.field_not_string` */
  check({ to, reply_to: replyTo, from }: AddressInput): void {
    if (replyTo != null) checkString('reply_to', replyTo);
    if (to == null && replyTo == null) throw new MessagingError('error.field_missing', { field: 'to' });
    if (to != null && !isContactId(to)) this.settings.recipients.check(to);
    if (from != null) checkNumber(from);
  }

  /**
   * Finds the addressee of a send that was checked. With `host`, the host's open transaction reads everything.
   *
   * @throws MessagingError `error.contact_not_found`, `error.message_not_found` for an answer to a message that was removed or is
   * none of the account. `error.contact_other_session` if the person wrote to another number than `from`, or on another channel.
   * `error.field_invalid` if `to` is not the person who wrote the answered message
   */
  find(
    accountId: string,
    { to, reply_to, from }: AddressInput,
    host?: HostTransaction,
  ): Addressee | Promise<Addressee> {
    const asked = from ?? undefined;
    if (reply_to != null) return this.writer(accountId, reply_to, to ?? undefined, asked, host);
    if (to == null) throw new MessagingError('error.field_missing', { field: 'to' });
    return isContactId(to) ? this.contact(accountId, to, asked, host) : { recipient: to, from: asked };
  }

  private async contact(
    accountId: string,
    id: string,
    from: string | undefined,
    host: HostTransaction | undefined,
  ): Promise<Addressee> {
    const contact = await this.contacts.find(accountId, id, host);
    if (!contact) throw new MessagingError('error.contact_not_found');
    this.checkLinked(contact.channel, contact.linked, from);
    return { recipient: contact.number ?? contact.id, from: contact.linked };
  }

  /** The person who wrote a message. */
  private async writer(
    accountId: string,
    replyTo: string,
    to: string | undefined,
    from: string | undefined,
    host: HostTransaction | undefined,
  ): Promise<Addressee> {
    const message = await this.origins.find(replyTo, host);
    const session = message && (await this.sessions.find(message.sessionId, host));
    const contact = message?.contactId && (await this.contacts.find(accountId, message.contactId, host));
    const recipient = contact ? (contact.number ?? contact.id) : message?.number;
    if (message?.accountId !== accountId || session?.number === undefined || recipient === undefined) {
      throw new MessagingError('error.message_not_found');
    }
    this.checkLinked(session.channel, session.number, from);
    // An app cannot quote what somebody else wrote.
    const named = isContactId(to) ? (await this.contacts.find(accountId, to, host))?.id : to;
    const names = [contact ? contact.id : undefined, contact ? contact.number : message.number];
    if (to !== undefined && !names.includes(named))
      throw new MessagingError('error.field_invalid', { field: 'reply_to' });
    return { recipient, from: session.number, replyTo };
  }

  private checkLinked(channel: string, linked: string, from: string | undefined): void {
    if (channel === this.settings.channel && (from === undefined || from === linked)) return;
    throw new MessagingError('error.contact_other_session', { linked });
  }
}
