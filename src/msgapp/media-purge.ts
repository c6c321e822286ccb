import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MediaStore } from '../media/media-store.js';
import { Purge } from '../outbox/purge.js';

/**
 * How long a file is kept that is still waiting for its message, in milliseconds. Files of finished messages are deleted
 * earlier.
 */
const KEEP_MS = 7 * 86_400_000;

/** Deletes orphaned files: a crash left them, their message was not stored, or its end was missed. */
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
