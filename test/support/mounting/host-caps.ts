import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import type { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { dayOf, decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { capped } from '../../contract/storage/accounts/key-caps.js';
import { ACCOUNT, aSend, range, START } from '../../contract/storage/fixtures.js';

/**
 * 60 sends at once with two keys of one family for 30 units, half of them in transactions of the host: 30 are accepted.
 */
export async function expectCapAmongHosts(storage: TypeormStorage, host: DataSource): Promise<void> {
  const outcomes = await Promise.all(
    range(60).map((index) => {
      const send = aSend(index, capped(30, index % 3 === 0 ? 'k0' : 'k1'));
      if (index % 2 === 0) return storage.store(OutboxStore).commit([send], decide);
      return host.transaction((manager) => storage.store(OutboxStore).commit([send], decide, { manager }));
    }),
  );
  const kinds = outcomes.flat().map((outcome) => (outcome.kind === 'refused' ? outcome.why : outcome.kind));
  expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(30);
  expect(kinds.filter((kind) => kind === 'key_cap')).toHaveLength(30);
  expect((await storage.store(OutboxStore).keySpending(['k0'], dayOf(START))).get('k0')).toBe(30);
  expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).check()]).toEqual([
    970,
    [],
  ]);
}
