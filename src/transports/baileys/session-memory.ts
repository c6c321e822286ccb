import type { CacheStore, proto } from 'baileys';
import { LRUCache } from 'lru-cache';

const HOUR_MS = 3_600_000;

/**
 * What is worth knowing of a session from one connection to the next. Not in the database: it can be asked for again.
 *
 * Sizes are for one session; all of it full is some megabytes.
 */
export class SessionMemory {
  /**
   * Which devices people have. Every time Baileys looks that up it starts a new Signal session, which costs the recipient
   * a one-time key; its own cache lasts five minutes and one connection. Changes are announced by the server.
   */
  readonly devices = new BoundedCache(5000, HOUR_MS);
  /** How often recipients have asked for a message again. */
  readonly retries = new BoundedCache(1000, HOUR_MS);
  readonly sent = new SentMessages();
  /** The address that the server has for a number; not always the number's own digits (mobiles of Brazil or Mexico). */
  readonly addresses = new LRUCache<string, string>(boundedBy(5000, 24 * HOUR_MS));
}

/** Messages, of which a larger one counts as several: 2 MB in all. */
const MESSAGES = 500;
const MESSAGE_BYTES = 4096;
const DAY_MS = 24 * 3_600_000;

/**
 * The messages that a session sent last. A recipient who could not decrypt one asks for it again, and waits for ever when
 * nobody has it.
 */
class SentMessages {
  private readonly entries = new LRUCache<string, { readonly address: string; readonly message: proto.IMessage }>(
    boundedBy(MESSAGES, DAY_MS),
  );

  /** @param bytes how many the message has when it is encoded */
  remember(reference: string, address: string, message: proto.IMessage, bytes: number): void {
    this.entries.set(reference, { address, message }, { size: Math.max(1, Math.ceil(bytes / MESSAGE_BYTES)) });
  }

  /** The message of an id, for the recipient it went to and for nobody else: whoever learns an id can ask for it. */
  find(reference: string, address: string | undefined): proto.IMessage | undefined {
    const entry = this.entries.get(reference);
    return entry?.address === address ? entry?.message : undefined;
  }
}

/** A cache in the shape that Baileys takes. The least used goes first when it is full; it has no timer. */
export class BoundedCache implements CacheStore {
  /** Values may be null, which says that something is known not to be there. */
  private readonly entries: LRUCache<string, { readonly value: unknown }>;

  /**
   * @param max how many entries
   * @param ttl how long one is good for, in milliseconds
   */
  constructor(max: number, ttl: number) {
    this.entries = new LRUCache(boundedBy(max, ttl));
  }

  get<T>(key: string): T | undefined {
    // What is under a key is what Baileys put there.
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

/**
 * Options of an `LRUCache` that holds so many entries, each for `ttl` milliseconds, and takes memory for those it has. With
 * its option `max` it takes all of it at once: some 200 kB for 5000, in each session.
 */
function boundedBy(entries: number, ttl: number) {
  return { maxSize: entries, sizeCalculation: () => 1, ttl };
}
