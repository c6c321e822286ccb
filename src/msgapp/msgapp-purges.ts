import { isContactId } from '../common/contact-id.js';
import { Notifier, publishNotice } from '../common/notifier.js';
import { DAY_MS, HOUR_MS } from '../common/time.js';
import { MediaStore } from '../media/media-store.js';
import { type PurgeRule, Purger, providePurge } from '../outbox/purger.js';
import { type ErasureRule, provideErasure } from '../outbox/retention/erasure-service.js';
import { RetentionSettings } from '../outbox/retention/retention-options.js';
import { AddressStore } from './address-store.js';
import { ContactStore } from './contacts/contact-store.js';
import { ActStore } from './received/act-store.js';
import { type QuotePlace, ReceivedMessageStore } from './received/received-message-store.js';
import { THERE_MS } from './sending/recipient-check.js';
import { SessionStore } from './sessions/session-store.js';

/**
 * Removes files that no waiting message needs. Usually the end of a message removes its file. This rule removes files that a
 * crash has left, files whose message was never stored, and files whose message ended unnoticed.
 */
export function mediaPurge(store: MediaStore): PurgeRule {
  return { what: 'media', keepMs: 7 * DAY_MS, purge: (before, limit) => store.purge(before, limit) };
}

/**
 * Removes ended sessions. They are kept for a quarter, so that a bill can be explained. A batch of 100 sessions removes up to 200
 * steps of each.
 */
export function sessionPurge(store: SessionStore): PurgeRule {
  return {
    what: 'sessions',
    keepMs: 90 * DAY_MS,
    batchSize: 100,
    purge: (before, limit) => store.purge(before, limit),
  };
}

/** Removes received messages after a month. By then no app repeats them or still has their files. */
function receivedPurge(store: ReceivedMessageStore): PurgeRule {
  return { what: 'received messages', keepMs: 30 * DAY_MS, purge: (before, limit) => store.purge(before, limit) };
}

/** Removes addresses that the app's server gave for numbers. An older address is asked for again. */
function addressPurge(store: AddressStore): PurgeRule {
  return { what: 'addresses', keepMs: THERE_MS, purge: (before, limit) => store.purge(before, limit) };
}

/** Removes the acts that no process could perform within an hour. */
function actPurge(store: ActStore): PurgeRule {
  return { what: 'acts', keepMs: HOUR_MS, purge: (before, limit) => store.purge(before, limit) };
}

const ERASED_AT_ONCE = 500;

/** How many contacts of a number are erased in one call: one for each linked number that the person wrote to. */
const MAX_ALIASES = 10_000;

/** Erases the digits of a number from the messages that it wrote, and the keys by which their files can be fetched. */
function receivedErasure(store: ReceivedMessageStore): ErasureRule {
  return {
    what: 'received',
    everywhere: async (number) => {
      let received = 0;
      for (let erased = ERASED_AT_ONCE; erased === ERASED_AT_ONCE; received += erased) {
        erased = await store.erase(number, ERASED_AT_ONCE);
      }
      return { received };
    },
  };
}

/** Erases a contact, or the contacts that have a number, with what is stored of their messages. */
function contactErasure(contacts: ContactStore, received: ReceivedMessageStore): ErasureRule {
  return {
    what: 'contacts',
    aliases: (name) => (isContactId(name) ? contacts.namesOfPerson(name) : contacts.ofNumber(name, MAX_ALIASES)),
    everywhere: async (name) => {
      const counts = { contacts: 0, received: 0 };
      for (;;) {
        const found = isContactId(name) ? [name] : await contacts.ofNumber(name, ERASED_AT_ONCE);
        for (const id of found) {
          // The messages are erased first. If this is interrupted, the contact still leads to the others.
          for (const each of await contacts.namesOf(id)) counts.received += await received.eraseContact(each);
          counts.contacts += await contacts.erase(id);
        }
        if (found.length < ERASED_AT_ONCE) return counts;
      }
    },
  };
}

/**
 * Adds a rule that removes the texts of received messages, which answers quote, after `retention.texts`. The rule remembers in
 * memory only how far it has come, so a new process reads all received messages once more.
 */
function addQuotePurge(purger: Purger, { texts }: RetentionSettings, store: ReceivedMessageStore): void {
  if (texts === undefined) return;
  let place: QuotePlace | undefined;
  const purge = async (before: number, limit: number) => {
    const { read, next } = await store.purgeQuotes(before, limit, place);
    place = next;
    return read;
  };
  purger.add({ what: 'quotes of received messages', keepMs: texts, purge });
}

/** Adds a rule that purges contacts when recipients are purged (`retention.messages`). */
function addContactPurge(purger: Purger, { messages }: RetentionSettings, store: ContactStore): void {
  if (messages === undefined) return;
  purger.add({ what: 'contacts', keepMs: messages, purge: (before, limit) => store.purge(before, limit) });
}

/** Erases the app's addresses of a number, in the database and in the memory of all processes. */
function addressErasure(store: AddressStore, notifier: Notifier): ErasureRule {
  return {
    what: 'addresses',
    everywhere: async (number) => {
      const addresses = await store.erase(number);
      publishNotice(notifier, 'address', '*');
      return { addresses };
    },
  };
}

/** The rules that erase a number from the tables of the messaging-app channels. */
export const MSGAPP_ERASURES = [
  provideErasure(receivedErasure, [ReceivedMessageStore]),
  provideErasure(contactErasure, [ContactStore, ReceivedMessageStore]),
  provideErasure(addressErasure, [AddressStore, Notifier]),
];

/** The rules by which the messaging-app channels remove old rows. All channels share the stores, so they share the rules too. */
export const MSGAPP_PURGES = [
  providePurge(MediaStore, mediaPurge),
  providePurge(SessionStore, sessionPurge),
  providePurge(ReceivedMessageStore, receivedPurge),
  providePurge(AddressStore, addressPurge),
  providePurge(ActStore, actPurge),
  {
    provide: Symbol('contactPurge'),
    useFactory: addContactPurge,
    inject: [Purger, RetentionSettings, ContactStore],
  },
  {
    provide: Symbol('quotePurge'),
    useFactory: addQuotePurge,
    inject: [Purger, RetentionSettings, ReceivedMessageStore],
  },
  ...MSGAPP_ERASURES,
];
