import { Injectable, Logger } from '@nestjs/common';
import type { Movement } from '../outbox/outbox-store.js';

/** Every event and what comes with it. */
export interface MessagingEventMap {
  /** A recipient's delivery changed its state; emitted after that is stored, by the process that stored it. */
  'delivery.moved': Movement;
}

/** Tells the host what happens, in this process. Listeners are for reacting quickly; the database is the truth. */
@Injectable()
export class MessagingEvents {
  private readonly listeners = new Map<string, Set<(payload: never) => void>>();

  /** Calls `listener` at every event of a kind; the answer ends that. A listener that throws disturbs nobody else. */
  on<K extends keyof MessagingEventMap>(event: K, listener: (payload: MessagingEventMap[K]) => void): () => void {
    const listeners = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Used by the module itself. */
  emit<K extends keyof MessagingEventMap>(event: K, payload: MessagingEventMap[K]): void {
    for (const listener of this.listeners.get(event) ?? []) {
      try {
        (listener as (payload: MessagingEventMap[K]) => void)(payload);
      } catch (error) {
        // Only its name: a listener's message may quote what it was given.
        new Logger('MessagingEvents').error(
          `A listener of ${event} threw ${error instanceof Error ? error.name : 'something'}.`,
        );
      }
    }
  }
}
