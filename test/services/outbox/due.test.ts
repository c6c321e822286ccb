import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ACCOUNT, aSend, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { hasServer } from '../../support/databases/servers.js';
import { mariadbReads, openCounted } from '../../support/storage/rows-read.js';

const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

/** More than any claim or expiry of this file may read. */
const WAITING = 3000;

onMariadb('due deliveries on MariaDB', () => {
  test('are found without reading those that wait for a report, and overdue reports without reading due deliveries', async () => {
    const database = await createMariadbDatabase();
    opened({ close: () => database.drop() });
    const { source, storage } = opened(await openCounted('mysql', database.url));
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10, at: START });
    const read = mariadbReads(source);
    const fill = (status: string) =>
      source.query(`INSERT INTO messaging_recipient
        (message_id, position, channel, number, units, refunded_units, status, attempt, due_at, updated_at)
        SELECT '${status}', seq, 'sms', '1', 0, 0, '${status}', 1, seq, 1 FROM seq_1_to_${WAITING}`);
    const outbox = storage.store(OutboxStore);
    const claim = () =>
      outbox.claim({ channel: 'sms', limit: 100, now: START + 1, leaseUntil: START + 9, abandoned: true });
    const expire = () => outbox.expire({ channel: 'sms', limit: 100, now: START + 1, statuses: ['sending'] });

    await fill('sent');
    await outbox.commit([aSend(1)], decide);
    let claimed: readonly unknown[] = [];
    expect(
      await read(async () => {
        claimed = await claim();
      }),
    ).toBeLessThan(100);
    expect(claimed).toHaveLength(1);
    await fill('queued');
    expect(await read(expire)).toBeLessThan(100);
    expect(await read(() => outbox.nextDue('sms'))).toBeLessThan(100);
  });
});
