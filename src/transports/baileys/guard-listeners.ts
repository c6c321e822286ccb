import type { EventEmitter } from 'node:events';

/**
 * Catches what the listeners that an emitter has now throw or reject with. Many of Baileys' are async and nobody looks at
 * what becomes of them: one stanza at the wrong moment, or one frame that cannot be decrypted, would end the process.
 */
export function guardListeners(emitter: EventEmitter, failed: (event: string | symbol, error: unknown) => void): void {
  for (const event of emitter.eventNames()) {
    for (const listener of emitter.listeners(event)) {
      emitter.off(event, listener as (...args: unknown[]) => void);
      emitter.on(event, async (...args: unknown[]) => {
        try {
          await listener.apply(emitter, args);
        } catch (error) {
          failed(event, error);
        }
      });
    }
  }
}
