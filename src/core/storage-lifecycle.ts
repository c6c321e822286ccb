import { type FactoryProvider, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { mountedCapabilities } from './capability.js';
import { MessagingStorage, StartedStorage } from './messaging-storage.js';

/** Starts the storage with the stores of all mounted capabilities. */
export const STARTED_STORAGE: FactoryProvider<MessagingStorage> = {
  provide: StartedStorage,
  useFactory: async (storage: MessagingStorage, modules: ModulesContainer) => {
    await storage.start(mountedCapabilities(modules).flatMap(({ stores = [] }) => stores));
    return storage;
  },
  inject: [MessagingStorage, ModulesContainer],
};

/** Closes the storage last: workers and the server stop in earlier hooks. */
@Injectable()
export class StorageLifecycle implements OnApplicationShutdown {
  constructor(private readonly storage: StartedStorage) {}

  onApplicationShutdown(): Promise<void> {
    return this.storage.stop();
  }
}
