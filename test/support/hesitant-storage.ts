import { setTimeout } from 'node:timers/promises';
import { TypeormOutboxStore } from '../../src/outbox/outbox-sql.js';
import type { OutboxStore } from '../../src/outbox/outbox-store.js';
import { StaleExecutor } from './naive-storage.js';
import { SqliteMemory } from './sqlite-memory.js';

/** Long enough for every request of a test to arrive, and for another instance to read the same. */
const HESITATION_MS = 300;

/** A storage without locks, for two instances of a service at once: it shows that races between them can be lost. */
export class HesitantStorage extends SqliteMemory {
  private hesitant: OutboxStore | undefined;

  override async start(): Promise<void> {
    await super.start();
    this.hesitant ??= new TypeormOutboxStore(new StaleExecutor(this.database, () => setTimeout(HESITATION_MS)));
  }

  override get outbox(): OutboxStore {
    return this.hesitant ?? super.outbox;
  }
}
