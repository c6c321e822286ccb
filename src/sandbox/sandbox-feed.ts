import { Injectable } from '@nestjs/common';
import { StorageUnavailableError } from '../common/errors.js';
import { FaultLog, faultCode, nameOf } from '../common/log.js';
import type { PhoneDelivery } from './phones/phone-store.js';

/** Called with each message that a sandbox phone of this process receives. It must return at once. */
export type PhoneListener = (message: PhoneDelivery) => void;

/**
 * Publishes the messages that sandbox phones of this process receive to the current listeners. It keeps no message. Earlier
 * messages are in the `PhoneStore`. A message that is delivered again after a crash may be published twice.
 */
@Injectable()
export class SandboxFeed {
  private readonly logger = new FaultLog(SandboxFeed.name);
  private readonly listeners = new Set<PhoneListener>();
  private readonly changes = new Set<() => void>();

  /**
   * Calls every listener with each message. If a listener throws, the error is logged, and the other listeners and the sender are
   * not affected.
   */
  publish(messages: readonly PhoneDelivery[]): void {
    if (this.listeners.size === 0) return;
    for (const message of messages) {
      for (const listener of this.listeners) this.notify(listener, message);
    }
  }

  /** Adds a listener and returns the function that removes it. */
  listen(listener: PhoneListener): () => void {
    const own: PhoneListener = (message) => listener(message);
    this.listeners.add(own);
    return () => {
      this.listeners.delete(own);
    };
  }

  /** Notifies listeners of any other change on the phones: a message did not arrive, or all messages were removed. */
  change(): void {
    for (const listener of this.changes) listener();
  }

  /** Calls `listener`, which must not throw, at each such change. Returns the function that removes the listener. */
  listenToChanges(listener: () => void): () => void {
    const own = () => listener();
    this.changes.add(own);
    return () => void this.changes.delete(own);
  }

  private notify(listener: PhoneListener, message: PhoneDelivery): void {
    try {
      listener(message);
    } catch (error) {
      // Log only the error's name: its message might quote the text.
      this.logger.error(`A listener of the sandbox failed: ${nameOf(error)}`, { code: faultCode(error) });
    }
  }
}

/**
 * Ignores an error of an unavailable storage if only the page needs the result, so that no delivery fails because of it. @throws
 * any other error
 */
export function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StorageUnavailableError)) throw error;
}
