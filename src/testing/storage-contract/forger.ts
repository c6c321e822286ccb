import assert from 'node:assert/strict';
import type { LedgerEntry } from '../../billing/ledger-store.js';
import { ACCOUNT, START } from './fixtures.js';
import type { StorageTamper } from './storage-harness.js';
import type { World } from './world.js';

/** Falsifies entries and moves the balances with them, so that every sum stays right and only the crime itself is to be found. */
export class Forger {
  constructor(
    private readonly world: World,
    private readonly tamper: StorageTamper,
  ) {}

  /** Adds an entry of `ACCOUNT`, changed by `over`. */
  async book(entry: Pick<LedgerEntry, 'id' | 'kind' | 'units'> & Partial<LedgerEntry>): Promise<void> {
    const free = { messageId: undefined, position: undefined, note: undefined };
    const whole = { accountId: ACCOUNT, ...free, at: START, ...entry };
    await this.tamper.addEntry(whole);
    await this.move(whole.accountId, whole.units);
  }

  /** Removes an entry of `ACCOUNT`; answers what it was. */
  async unbook(id: string): Promise<LedgerEntry> {
    const { items } = await this.world.ledger.entries(ACCOUNT, { limit: 100 });
    const entry = items.find((each) => each.id === id);
    assert.ok(entry, `${id} is booked`);
    await this.tamper.dropEntry(id);
    await this.move(ACCOUNT, -entry.units);
    return entry;
  }

  /** Changes an entry of `ACCOUNT`. */
  async rebook(id: string, over: Partial<LedgerEntry>): Promise<void> {
    await this.book({ ...(await this.unbook(id)), ...over });
  }

  private async move(accountId: string, units: number): Promise<void> {
    const balance = await this.world.ledger.balance(accountId);
    if (balance !== undefined) await this.tamper.balance(accountId, balance + units);
  }
}
