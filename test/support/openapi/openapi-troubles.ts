import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { EventLog } from '../../../src/events/event-log.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { ReceivedSmsStore } from '../../../src/sms/inbound/received-sms-store.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { EndpointStore } from '../../../src/webhooks/endpoints/endpoint-store.js';

/** The calls that a request makes to a storage. The workers' own calls are not affected. */
const ASKED_BY_REQUESTS = [
  'findKey',
  'balance',
  'commit',
  'replay',
  'find',
  'recipients',
  'recipientPage',
  'list',
  'numbers',
  'messages',
  'latest',
  'file',
  'clear',
  'read',
  'switchOn',
  'rotate',
  'withUrl',
  'create',
  'writeCredentials',
  'receive',
];

/** A memory storage that a test can make unavailable, break, or keep from answering. */
export class TroubledStorage extends MemoryStorage {
  #before: (asked: string) => Promise<void> = async () => {};
  #noteHeld: () => void = () => {};
  #release: () => void = () => {};

  override async start(): Promise<void> {
    await super.start();
    for (const store of [
      this.store(AccountStore),
      this.store(LedgerStore),
      this.store(OutboxStore),
      this.store(PhoneStore),
      this.store(PolicyStore),
      this.store(SessionStore),
      this.store(EventLog),
      this.store(EndpointStore),
      this.store(ReceivedSmsStore),
    ]) {
      for (const name of ASKED_BY_REQUESTS) this.#wrap(store, name);
    }
  }

  recover(): void {
    this.#before = async () => {};
    this.#release();
  }

  beUnavailable(): void {
    this.#before = () => Promise.reject(new StorageUnavailableError('no connection'));
  }

  breakDown(): void {
    this.#before = () => Promise.reject(new Error('a fault in the storage'));
  }

  /**
   * Leaves all calls, or the calls of this name, unanswered until it recovers. Resolves when this many requests wait.
   */
  hold(name?: string, count = 1): Promise<void> {
    let held = 0;
    const released = new Promise<void>((resolve) => {
      this.#release = resolve;
    });
    return new Promise((resolve) => {
      this.#noteHeld = resolve;
      this.#before = async (asked) => {
        if (name !== undefined && asked !== name) return;
        if (++held === count) this.#noteHeld();
        await released;
      };
    });
  }

  #wrap(store: object, name: string): void {
    const method: unknown = Reflect.get(store, name);
    if (typeof method !== 'function') return;
    const troubled = async (...given: unknown[]): Promise<unknown> => {
      await this.#before(name);
      return method.apply(store, given);
    };
    Object.defineProperty(store, name, { value: troubled });
  }
}
