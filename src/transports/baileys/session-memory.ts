import type { CacheStore, proto } from 'baileys';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../common/concurrency/at-most.js';
import { DAY_MS, HOUR_MS } from '../../common/time.js';

/**
 * The caches of a linked number's session. They are kept from one connection to the next, but not stored in the database, because
 * their content can be queried again.
 *
 * The sizes are per session. Full caches take some megabytes.
 */
export class SessionMemory {
  /**
   * The devices of recipients. They are cached, because each look-up makes Baileys start a new Signal session, which uses up a
   * one-time key of the recipient. Baileys' own cache lasts five minutes and one connection. The server announces changes.
   */
  readonly devices = new BoundedCache(5000, HOUR_MS);
  /** The number of requests by recipients to repeat a message. */
  readonly retries = new BoundedCache(1000, HOUR_MS);
  readonly sent = new SentMessages();
}

/** The size of the cache: 500 messages, or 2 MB in all. A large message counts as several. */
const MAX_MESSAGES = 500;
const MESSAGE_BYTES = 4096;

/**
 * The most recent messages of a session. A recipient who could not decrypt a message requests it again. Without the cache he
 * would never see it.
 */
class SentMessages {
  private readonly entries = new LRUCache<string, { readonly address: string; readonly message: proto.IMessage }>({
    ...atMost(MAX_MESSAGES),
    ttl: DAY_MS,
  });

  /** @param bytes the size of the encoded message */
  remember(reference: string, address: string, message: proto.IMessage, bytes: number): void {
    this.entries.set(reference, { address, message }, { size: Math.max(1, Math.ceil(bytes / MESSAGE_BYTES)) });
  }

  /** Returns the message with an id, for its own recipient only, because anybody who learns an id can request the message. */
  find(reference: string, address: string | undefined): proto.IMessage | undefined {
    const entry = this.entries.get(reference);
    return entry?.address === address ? entry?.message : undefined;
  }
}

/** A cache with Baileys' interface. When it is full, the least recently used entry is removed. It uses no timer. */
export class BoundedCache implements CacheStore {
  /** Values may be null for an entry that is known to be absent. */
  private readonly entries: LRUCache<string, { readonly value: unknown }>;

  /**
   * @param max the maximum number of entries
   * @param ttl the lifetime of an entry, in milliseconds
   */
  constructor(max: number, ttl: number) {
    this.entries = new LRUCache({ ...atMost(max), ttl });
  }

  get<T>(key: string): T | undefined {
    // Baileys has stored the value with the type that it reads.
    return this.entries.get(key)?.value as T | undefined;
  }

  set<T>(key: string, value: T): void {
    this.entries.set(key, { value });
  }

  del(key: string): void {
    this.entries.delete(key);
  }

  flushAll(): void {
    this.entries.clear();
  }
}
