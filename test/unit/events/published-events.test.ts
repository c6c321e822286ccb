import { expect, jest, test } from '@jest/globals';
import { recordEvents } from '../../../src/events/event-rows.js';
import type { NewEvent } from '../../../src/events/event-types.js';
import { allEventsOf, eventsOf } from '../../../src/events/published-events.js';
import { driveSync } from '../../../src/storage/engine/operation.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';

function lowBalance(accountId: string, balance: number): NewEvent {
  return { type: 'balance.low', accountId, at: balance, data: { balance, threshold: 10 } };
}

const [FIRST, SECOND, THIRD] = [lowBalance('a', 1), lowBalance('b', 2), lowBalance('a', 3)];

const PUBLISHED = [
  FIRST,
  {
    accountIds: ['a', 'b'],
    make: (records: (id: string) => boolean) => [SECOND, THIRD].filter(({ accountId }) => records(accountId)),
  },
];

test('events that are made later keep their place, and those of accounts that do not record are left out', () => {
  expect(allEventsOf(PUBLISHED)).toEqual([FIRST, SECOND, THIRD]);
  expect(eventsOf(PUBLISHED, (id) => id === 'a')).toEqual([FIRST, THIRD]);
  expect(eventsOf(PUBLISHED, (id) => id === 'b')).toEqual([SECOND]);
});

test('no event is made when no account records', () => {
  const make = jest.fn(() => [FIRST]);
  const counter = { id: 'a', sequence: 0, began: 1, recording: 0 };
  const added = driveSync(recordEvents(new SqliteDialect(), [{ accountIds: ['a'], make }]), () => ({
    rows: [counter],
    affected: 0,
  }));
  expect(added).toEqual({ accounts: [], marks: false });
  expect(make).not.toHaveBeenCalled();
});
