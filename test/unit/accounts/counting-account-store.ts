import type { StoredApiKey } from '../../../src/accounts/account-records.js';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

/** Counts the look-ups. A test can make them fail or wait. */
export class CountingAccountStore extends AccountStore {
  /** Starts with an empty database. */
  static async open(): Promise<CountingAccountStore> {
    return new CountingAccountStore((await SqliteMemory.open()).db);
  }

  keyLookups = 0;
  signatureLookups = 0;
  /** Runs after the look-up has read its row and before it answers. */
  beforeAnswer: () => Promise<void> = async () => {};

  override async findKey(id: string): Promise<StoredApiKey | undefined> {
    this.keyLookups++;
    const found = await super.findKey(id);
    await this.beforeAnswer();
    return found;
  }

  override async verifiedSignatures(accountId: string): Promise<readonly string[]> {
    this.signatureLookups++;
    const found = await super.verifiedSignatures(accountId);
    await this.beforeAnswer();
    return found;
  }
}
