import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AccountSettings } from '../../accounts/account-options.js';
import { AccountStore } from '../../accounts/account-store.js';
import { Clock } from '../../common/clock.js';
import { Batcher } from '../../common/concurrency/batcher.js';
import { IdGenerator } from '../../common/ids.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { DAY_MS, MINUTE_MS } from '../../common/time.js';
import { eventText } from '../../events/event-text.js';
import type { NewEvent } from '../../events/event-types.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import type { PurgeRule } from '../../outbox/purger.js';
import { EVERY_ACCOUNT } from '../opt-out/opt-out-store.js';
import { SmsSettings } from '../sms-options.js';
import type { InboundSms } from '../sms-transport.js';
import { type JoinedParts, ReceivedSmsStore, type ReceivedText } from './received-sms-store.js';

/** How long a repeat is recognised by the carrier's id, by a key of the transport, and by its content only. */
const BY_ID_MS = 30 * DAY_MS;
const BY_KEY_MS = 60 * MINUTE_MS;
const BY_CONTENT_MS = 10 * MINUTE_MS;

/** For how long an answer of a phone belongs to the account that wrote to it under a default signature. */
const CONVERSATION_MS = 30 * DAY_MS;

/** The maximum number of bytes of a text in an event, as JSON. An event has at most 8 KiB. */
const TEXT_BYTES = 7168;
/** The maximum number of characters of an address in an event. A carrier may send an address of any length. */
const ADDRESS_LENGTH = 64;

/** How many texts a transaction stores at most. */
const MAX_TEXTS = 200;

/**
 * Turns texts of phones into events of the accounts that they belong to, each text once. The destination of a text is a
 * signature, or maps to several (`sms.inboundSignatures`). A text belongs to every account for which such a signature is
 * verified, and under a default signature to the account that wrote last to this phone.
 */
@Injectable()
export class ReceivedSmsIntake {
  private readonly stores = new Batcher<ReceivedText, boolean>({
    perform: (texts) => this.store.receive(texts, this.clock.now()),
    maxWeight: MAX_TEXTS,
  });

  constructor(
    private readonly store: ReceivedSmsStore,
    private readonly accounts: AccountStore,
    private readonly defaults: AccountSettings,
    private readonly settings: SmsSettings,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Resolves when a text is stored. A text that belongs to no account is stored too, and only listeners in the host's process get
   * it.
   * @param joined the parts that the text was joined from. If they are gone or have changed, nothing is stored
   * @throws StorageUnavailableError the carrier should send the text again
   */
  async receive(sms: InboundSms, joined?: JoinedParts): Promise<void> {
    const at = this.clock.now();
    const id = this.ids.next();
    const { text, truncated } = eventText(sms.text, TEXT_BYTES);
    const received_at = new Date(at).toISOString();
    const [from, to] = [sms.from, sms.to].map((address) => eventText(address.slice(0, ADDRESS_LENGTH), 4096).text);
    const data = { id, from: from ?? '', to: to ?? '', text, truncated, received_at };
    const eventFor = (accountId: string): NewEvent<'sms.received'> => ({ type: 'sms.received', accountId, at, data });
    const events = (await this.accountsOf(sms, at)).map(eventFor);
    const isNew = await this.stores.add({ id, ...nameOf(sms, at), events, ...(joined && { joined }) });
    if (!isNew) return;
    for (const event of events.length > 0 ? events : [eventFor(EVERY_ACCOUNT)]) this.events.publish(event);
  }

  private async accountsOf({ from, to }: InboundSms, now: number): Promise<readonly string[]> {
    const signatures = this.settings.inboundDestinations.signaturesOf(to);
    const accounts = new Set<string>();
    for (const signature of signatures.filter((each) => !this.defaults.signatures.includes(each))) {
      for (const accountId of await this.accounts.accountsWith(signature)) accounts.add(accountId);
    }
    const shared = signatures.filter((each) => this.defaults.signatures.includes(each));
    if (shared.length === 0 || !isPhoneNumber(from)) return [...accounts];
    const since = now - CONVERSATION_MS;
    const writer = await this.store.lastWriter({ number: from, signatures: shared, since });
    return [...(writer === undefined ? accounts : accounts.add(writer))];
  }
}

/** Returns the name by which a repeat of a text is recognised, and until when. */
function nameOf({ route, from, to, text, id, key }: InboundSms, now: number): Pick<ReceivedText, 'name' | 'expiresAt'> {
  if (id !== undefined && id !== '') return { name: hashOf('id', route, id), expiresAt: now + BY_ID_MS };
  if (key !== undefined) return { name: hashOf('key', route, key), expiresAt: now + BY_KEY_MS };
  return { name: hashOf('text', route, from, to, text), expiresAt: now + BY_CONTENT_MS };
}

/** Returns the name of a text or a part. It is a hash, so that no number and no text is stored. */
export function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Returns the rule that purges the names of texts whose repeats are no longer expected. */
export function receivedSmsPurge(store: ReceivedSmsStore): PurgeRule {
  return { what: 'names of received texts', purge: (now, limit) => store.purge(now, limit) };
}
