import type { CommitOutcome, WaitFor } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { StoreClass } from '../../../src/storage/engine/database.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { inPlaceOf } from '../databases/store-in-place.js';

/** One call of `commit`. */
export interface SeenCommit {
  readonly ids: readonly string[];
  readonly recipients: number;
  readonly waitFor: WaitFor;
}

/** A store whose commits a test counts, delays and fails, and whose accounts it locks. */
export class ScriptedCommits {
  readonly store: OutboxStore;
  readonly seen: SeenCommit[] = [];
  /** What commits wait for before they read anything. */
  before: Promise<unknown> | undefined;
  /** Thrown by the next commits, one each. */
  readonly faults: Error[] = [];
  /** Accounts that somebody else locks, until their promise resolves. */
  readonly held = new Map<string, Promise<unknown>>();

  constructor(real: OutboxStore) {
    const commit: OutboxStore['commit'] = async (sends, rules, host, waitFor = 'all') => {
      const recipients = sends.reduce((sum, send) => sum + send.recipients.length, 0);
      this.seen.push({ ids: sends.map(({ id }) => id), recipients, waitFor });
      if (this.before) await this.before;
      const fault = this.faults.shift();
      if (fault) throw fault;
      if (waitFor !== 'none') await Promise.all(sends.map(({ accountId }) => this.held.get(accountId)));
      const busy = waitFor === 'none' ? sends.filter(({ accountId }) => this.held.has(accountId)) : [];
      const outcomes = await real.commit(
        sends.filter((send) => !busy.includes(send)),
        rules,
        host,
        waitFor,
      );
      const next = outcomes[Symbol.iterator]();
      return sends.map(
        (send): CommitOutcome => (busy.includes(send) ? { kind: 'busy' } : (next.next().value ?? { kind: 'busy' })),
      );
    };
    this.store = Object.create(real, { commit: { value: commit } });
  }

  /** Locks an account's row. Call the returned function to release it. */
  hold(accountId: string): () => void {
    let release = () => {};
    this.held.set(accountId, new Promise<void>((resolve) => (release = resolve)));
    return () => {
      this.held.delete(accountId);
      release();
    };
  }
}

/** A storage with such commits. */
export class ScriptedStorage extends MemoryStorage {
  private scripted: ScriptedCommits | undefined;

  override async start(): Promise<void> {
    await super.start();
    this.scripted = new ScriptedCommits(super.store(OutboxStore));
  }

  get commits(): ScriptedCommits {
    if (!this.scripted) throw new Error('The storage is not started.');
    return this.scripted;
  }

  override store<S extends object>(Store: StoreClass<S>): S {
    return inPlaceOf(Store, this.commits.store) ?? super.store(Store);
  }
}
