import { setTimeout } from 'node:timers/promises';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { StoreClass } from '../../../src/storage/engine/database.js';
import { StaleDatabase } from '../databases/naive-storage.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { inPlaceOf } from '../databases/store-in-place.js';

/** Long enough for every request of a test to arrive, and for another instance to read the same. */
const HESITATION_MS = 300;

/** A storage without locks for two concurrent instances of a service. It shows that races between them can be lost. */
export class HesitantStorage extends SqliteMemory {
  private hesitant: OutboxStore | undefined;

  override async start(): Promise<void> {
    await super.start();
    this.hesitant ??= new OutboxStore(new StaleDatabase(this.database, () => setTimeout(HESITATION_MS)));
  }

  override store<S extends object>(Store: StoreClass<S>): S {
    return (this.hesitant && inPlaceOf(Store, this.hesitant)) ?? super.store(Store);
  }
}
