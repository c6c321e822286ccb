import { Injectable } from '@nestjs/common';
import { isContactId } from '../../common/contact-id.js';
import { MessagingError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { checkNumber } from '../../common/inputs.js';
import { ContactStore } from '../contacts/contact-store.js';
import { MsgappSettings } from '../msgapp-options.js';

/** Whom a send is for, and the number that must send it. */
export interface Addressee {
  /** The number, or the id of the contact if the number is not known. The outbox stores it as the recipient's number. */
  readonly recipient: string;
  /** E.164 digits without the plus sign. Undefined: any linked number. */
  readonly from: string | undefined;
}

/** The fields of a send that say whom it is for. */
interface AddressInput {
  readonly to: string;
  readonly from?: string | undefined;
}

/** Finds out whom a send is for. Only a send to a contact asks the database. */
@Injectable()
export class Addressees {
  constructor(
    private readonly contacts: ContactStore,
    private readonly settings: MsgappSettings,
  ) {}

  /** @throws MessagingError `error.invalid_number` */
  check({ to, from }: AddressInput): void {
    if (!isContactId(to)) this.settings.recipients.check(to);
    if (from != null) checkNumber(from);
  }

  /**
   * Finds the addressee of a send that was checked. With `host`, the host's open transaction reads the contact.
   * @throws MessagingError `error.contact_not_found`. `error.contact_other_session` if the contact wrote to another number than
   * `from`, or on another channel
   */
  find(accountId: string, { to, from }: AddressInput, host?: HostTransaction): Addressee | Promise<Addressee> {
    const asked = from ?? undefined;
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
    const { linked, channel } = contact;
    if (channel !== this.settings.channel || (from !== undefined && from !== linked)) {
      throw new MessagingError('error.contact_other_session', { linked });
    }
    return { recipient: contact.number ?? contact.id, from: linked };
  }
}
