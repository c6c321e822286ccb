import { expect } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EVENT_TYPES } from '../../../src/events/event-types.js';
import type { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { delivered, logEvents, verified } from './logged-events.js';

/** How many events the account has. Three of them are of a rare type: the first, one in the middle, the last. */
export const EVENTS = 20_001;
const RARE = [1, (EVENTS + 1) / 2, EVENTS];

/** The maximum number of rows that a page of ten may read, including index entries, over as many types as there are. */
export const FEW = 500;

/** The log of an account with many events, beside another one's. */
export async function fillLog(storage: TypeormStorage): Promise<EventLog> {
  const log = storage.store(EventLog);
  for (const account of ['demo', 'other']) {
    await storage.store(AccountStore).createAccount({ id: account, name: account, createdAt: 0 });
    await log.switchOn(account, 0);
    for (let first = 1; first <= EVENTS; first += 1000) {
      const numbers = Array.from({ length: Math.min(1000, EVENTS - first + 1) }, (_, at) => first + at);
      await logEvents(
        log,
        numbers.map((number) => (RARE.includes(number) ? verified(account) : delivered(account, number))),
      );
    }
  }
  return log;
}

/**
 * Requests pages of a log, and the numbers before events, of all types, of a rare one, and of all but the frequent one.
 * @param read counts what the database reads for one of them
 */
export async function expectFewReads(
  log: EventLog,
  read: (work: () => Promise<unknown>) => Promise<number>,
): Promise<void> {
  const others = EVENT_TYPES.filter((type) => type !== 'message.delivered');
  for (const types of [undefined, ['otp.verified'] as const, others, EVENT_TYPES]) {
    for (const after of [0, 5, EVENTS - 5, EVENTS]) {
      const query = { accountId: 'demo', after, limit: 10, types };
      expect([types?.length, after, (await read(() => log.read(query))) < FEW]).toEqual([types?.length, after, true]);
      const before = () => log.previous('demo', after + 1, types);
      expect([types?.length, after, (await read(before)) < FEW]).toEqual([types?.length, after, true]);
    }
  }
  const { events } = await log.read({ accountId: 'demo', after: 0, limit: 10, types: ['otp.verified'] });
  expect(events.map(({ sequence }) => sequence)).toEqual(RARE);
  expect(await log.previous('demo', EVENTS, ['otp.verified'])).toBe(RARE[1]);
}
