import { type FactoryProvider, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Clock } from '../common/clock.js';
import { MessagingStorage, StartedStorage } from '../storage/messaging-storage.js';
import { mountedCapabilities } from './capability.js';
import { DatabaseClock } from './database-clock.js';

/**
 * Starts the storage with the stores of all mounted capabilities, and sets the clock by the database before anything is
 * stored.
 */
export const STARTED_STORAGE: FactoryProvider<MessagingStorage> = {
  provide: StartedStorage,
  useFactory: async (storage: MessagingStorage, modules: ModulesContainer, clock: Clock) => {
    await storage.start(mountedCapabilities(modules).flatMap(({ tables }) => tables));
    if (!(clock instanceof DatabaseClock)) return storage;
    try {
      await clock.follow(storage);
      return storage;
    } catch (error) {
      // The storage is stopped, because open connections would keep the process alive.
      await storage.stop().catch(() => undefined);
      throw error;
    }
  },
  inject: [MessagingStorage, ModulesContainer, Clock],
};

/** Closes the storage last. Workers and the server stop in earlier hooks. */
@Injectable()
export class StorageLifecycle implements OnApplicationShutdown {
  constructor(
    private readonly storage: StartedStorage,
    private readonly clock: Clock,
  ) {}

  onApplicationShutdown(): Promise<void> {
    if (this.clock instanceof DatabaseClock) this.clock.stop();
    return this.storage.stop();
  }
}
