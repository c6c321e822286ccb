import { setTimeout } from 'node:timers/promises';
import type { Decide, Decision, SendDecision } from '../../src/outbox/decide.js';
import type { Send } from '../../src/outbox/send.js';
import { MemoryOutboxStore } from '../../src/storage/memory/memory-outbox-store.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';

/** Long enough for every request of a test to arrive, and for another instance to read the same. */
const HESITATION_MS = 300;

/** Reads, decides, hesitates, and only then writes. */
class HesitantOutboxStore extends MemoryOutboxStore {
  override async commit(sends: readonly Send[], rules: Decide): Promise<readonly SendDecision[]> {
    let made: Decision | undefined;
    await super.commit(sends, (these, seen) => {
      made = rules(these, seen);
      return rules([], seen);
    });
    await setTimeout(HESITATION_MS);
    return super.commit(sends, (these, seen) => made ?? rules(these, seen));
  }
}

/** A storage without locks, for two instances of a service at once: it shows that races between them can be lost. */
export class HesitantStorage extends MemoryStorage {
  override readonly outbox = new HesitantOutboxStore(this.tables);
}
