import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { dayOf, decide } from '../../src/outbox/accept/decide.js';
import type { TypeormStorage } from '../../src/storage/typeorm-storage.js';
import { ACCOUNT, aSend, range, START } from '../../src/testing/storage-contract/fixtures.js';
import { capped } from '../../src/testing/storage-contract/key-caps.js';

/** 60 sends at once of two keys of one family for 30 units, half of them in transactions of the host: 30 are accepted. */
export async function expectCapAmongHosts(storage: TypeormStorage, host: DataSource): Promise<void> {
  const outcomes = await Promise.all(
    range(60).map((index) => {
      const send = aSend(index, capped(30, index % 3 === 0 ? 'k0' : 'k1'));
      if (index % 2 === 0) return storage.outbox.commit([send], decide);
      return host.transaction((manager) => storage.outbox.commit([send], decide, { manager }));
    }),
  );
  const kinds = outcomes.flat().map((outcome) => (outcome.kind === 'refused' ? outcome.why : outcome.kind));
  expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(30);
  expect(kinds.filter((kind) => kind === 'key_cap')).toHaveLength(30);
  expect((await storage.outbox.keySpending(['k0'], dayOf(START))).get('k0')).toBe(30);
  expect([await storage.ledger.balance(ACCOUNT), await storage.ledger.check()]).toEqual([970, []]);
}
