import { Injectable, Logger } from '@nestjs/common';
import type { PhoneMessage } from './phone-store.js';

/** Told of one message that a sandbox phone of this process received. Must return at once. */
export type PhoneListener = (message: PhoneMessage) => void;

/**
 * Tells whoever listens at this moment what the sandbox's phones receive, in this process. It keeps nothing: who listens
 * late or looks away reads the `PhoneStore`. A message that is handed over again after a crash may be told twice.
 */
@Injectable()
export class SandboxFeed {
  private readonly logger = new Logger(SandboxFeed.name);
  private readonly listeners = new Set<PhoneListener>();

  /** Tells every listener of each message. One that throws is logged and does not disturb the others or the sender. */
  publish(messages: readonly PhoneMessage[]): void {
    if (this.listeners.size === 0) return;
    for (const message of messages) {
      for (const listener of this.listeners) this.tell(listener, message);
    }
  }

  /** Listens from now on; the answer stops it. */
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
      // Only the kind of fault: its text might quote the message.
      this.logger.error(`A listener of the sandbox failed: ${error instanceof Error ? error.name : typeof error}`);
    }
  }
}
