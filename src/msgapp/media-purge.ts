import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MediaStore } from '../media/media-store.js';
import { Purge } from '../outbox/purge.js';

/** How long a file is kept that no message has yet to be sent with; what ends a message forgets it earlier. */
const KEEP_MS = 7 * 86_400_000;

/**
 * Forgets files that nobody came back for: a crash left them, their message was not stored after all, or it ended while
 * nobody looked.
 */
@Injectable()
export class MediaPurge extends Purge {
  constructor(
    private readonly store: MediaStore,
    clock: Clock,
  ) {
    super('media', clock);
  }

  protected override forget(now: number, limit: number): Promise<number> {
    return this.store.purge(now - KEEP_MS, limit);
  }
}
