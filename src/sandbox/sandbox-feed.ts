import { Injectable, Logger } from '@nestjs/common';
import type { PhoneMessage } from './phone-store.js';

/** Called with each message that a sandbox phone of this process receives. Must return at once. */
export type PhoneListener = (message: PhoneMessage) => void;

/**
 * Publishes the messages that sandbox phones of this process receive to the listeners of that moment. Nothing is kept: earlier
 * messages are in the `PhoneStore`. A message that is delivered again after a crash may be published twice.
 */
@Injectable()
export class SandboxFeed {
  private readonly logger = new Logger(SandboxFeed.name);
  private readonly listeners = new Set<PhoneListener>();

  /**
   * Calls every listener with each message. A listener that throws is logged; the other listeners and the sender are not
   * affected.
   */
  publish(messages: readonly PhoneMessage[]): void {
    if (this.listeners.size === 0) return;
    for (const message of messages) {
      for (const listener of this.listeners) this.tell(listener, message);
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

  private tell(listener: PhoneListener, message: PhoneMessage): void {
    try {
      listener(message);
    } catch (error) {
      // Log only the error's name: its message might quote the text.
      this.logger.error(`A listener of the sandbox failed: ${error instanceof Error ? error.name : typeof error}`);
    }
  }
}
