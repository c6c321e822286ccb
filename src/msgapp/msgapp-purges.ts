import { Notifier, publishNotice } from '../common/notifier.js';
import { DAY_MS } from '../common/time.js';
import { MediaStore } from '../media/media-store.js';
import { type PurgeRule, providePurge } from '../outbox/purger.js';
import { type ErasureRule, provideErasure } from '../outbox/retention/erasure-service.js';
import { AddressStore } from './address-store.js';
import { ReceivedMessageStore } from './received/received-message-store.js';
import { THERE_MS } from './sending/recipient-check.js';
import { SessionStore } from './sessions/session-store.js';

/**
 * Files that no waiting message needs. The end of a message removes its file; this rule removes what a crash left, whose
 * message was not stored, or whose end was missed.
 */
export function mediaPurge(store: MediaStore): PurgeRule {
  return { what: 'media', keepMs: 7 * DAY_MS, purge: (before, limit) => store.purge(before, limit) };
}

/** Ended sessions, kept for a quarter so that a bill can be explained. A batch of 100 removes up to 200 steps of each. */
export function sessionPurge(store: SessionStore): PurgeRule {
  return {
    what: 'sessions',
    keepMs: 90 * DAY_MS,
    batchSize: 100,
    purge: (before, limit) => store.purge(before, limit),
  };
}

/** Messages that came in: a month later no app repeats them, or has their files. */
function receivedPurge(store: ReceivedMessageStore): PurgeRule {
  return { what: 'received messages', keepMs: 30 * DAY_MS, purge: (before, limit) => store.purge(before, limit) };
}

/** Addresses that the app's server gave for numbers: older ones are asked for again. */
function addressPurge(store: AddressStore): PurgeRule {
  return { what: 'addresses', keepMs: THERE_MS, purge: (before, limit) => store.purge(before, limit) };
}

const ERASED_AT_ONCE = 500;

/** Messages that the number wrote: its digits, and what their files are fetched by. */
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

/** The app's addresses of the number, in the database and in the memory of all processes. */
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

/** What is erased of a number in the tables of the messaging-app channels. */
export const MSGAPP_ERASURES = [
  provideErasure(receivedErasure, [ReceivedMessageStore]),
  provideErasure(addressErasure, [AddressStore, Notifier]),
];

/** What the messaging-app channels have removed; stores are shared by all channels, so the rules are too. */
export const MSGAPP_PURGES = [
  providePurge(MediaStore, mediaPurge),
  providePurge(SessionStore, sessionPurge),
  providePurge(ReceivedMessageStore, receivedPurge),
  providePurge(AddressStore, addressPurge),
  ...MSGAPP_ERASURES,
];
