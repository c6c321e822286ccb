import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MessagingStorage } from '../storage/messaging-storage.js';

/** The storage after `start()`; whoever needs a store asks through this one, so that none is used before. */
export abstract class StartedStorage extends MessagingStorage {}

/** Closes the storage when nothing uses it any more: workers stop and the server closes before. */
@Injectable()
export class StorageLifecycle implements OnApplicationShutdown {
  constructor(private readonly storage: StartedStorage) {}

  onApplicationShutdown(): Promise<void> {
    return this.storage.stop();
  }
}
