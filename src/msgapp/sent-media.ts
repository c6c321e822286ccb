import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { nameOf } from '../common/name-of.js';
import type { MediaStore } from '../media/media-store.js';
import type { Movement } from '../outbox/outbox-store.js';

/** How many messages are remembered: of those that are tried again the next attempt may be another process's. */
const CAPACITY = 20_000;

/** Forgets the file of a message when its fate is stored; what is missed here, a purge finds later. */
export class SentMedia {
  private readonly handedOver = new LRUCache<string, true>({ max: CAPACITY });

  constructor(private readonly media: MediaStore) {}

  /** A message with a file is being handed over. */
  add(messageId: string): void {
    this.handedOver.set(messageId, true);
  }

  /** A delivery's new state is stored. */
  stored({ messageId, status }: Movement): void {
    if (status === 'queued' || !this.handedOver.delete(messageId)) return;
    this.media.remove([messageId]).catch((error) => {
      const name = nameOf(error);
      new Logger('Msgapp').warn(`Media of message ${messageId} could not be removed: ${name}.`);
    });
  }
}
