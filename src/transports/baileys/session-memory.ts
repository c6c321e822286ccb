import { LRUCache } from 'lru-cache';
import { BoundedCache } from './bounded-cache.js';
import { SentMessages } from './sent-messages.js';
import { upTo } from './up-to.js';

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
  readonly addresses = new LRUCache<string, string>(upTo(5000, 24 * HOUR_MS));
}
