import type { proto } from 'baileys';
import { LRUCache } from 'lru-cache';
import { upTo } from './up-to.js';

/** Messages, of which a larger one counts as several: 2 MB in all. */
const MESSAGES = 500;
const MESSAGE_BYTES = 4096;
const DAY_MS = 24 * 3_600_000;

/**
 * The messages that a session sent last. A recipient who could not decrypt one asks for it again, and waits for ever when
 * nobody has it.
 */
export class SentMessages {
  private readonly entries = new LRUCache<string, { readonly address: string; readonly message: proto.IMessage }>(
    upTo(MESSAGES, DAY_MS),
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
