import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { EventLog } from '../../../src/events/event-log.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { aSend, messageId, range, recipients, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';

const ACCOUNTS = 100;
const PROCESSES = 4;
/** Recipients of each send. In each round, a process settles one of them on all accounts. */
const ROUNDS = 5;

const opened = closeAfterEach();
const accountOf = (index: number) => `acc-${String(index).padStart(3, '0')}`;

const SERVERS = [
  ['PostgreSQL', 5432, createPostgresDatabase],
  ['MariaDB', 3306, createMariadbDatabase],
] as const;

for (const [name, port, create] of SERVERS) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;

  suite(`the order of events on ${name}`, () => {
    async function start(): Promise<readonly TypeormStorage[]> {
      const database = await create();
      opened({ close: () => database.drop() });
      const storages: TypeormStorage[] = [];
      for (const _ of range(PROCESSES)) {
        const storage = new TypeormStorage({ database: database.url });
        await storage.start();
        opened({ close: () => storage.stop() });
        storages.push(storage);
      }
      return storages;
    }

    test('four processes settle batches with refunds over 100 accounts in opposite orders beside sends and top-ups: the numbers follow the commits, without gaps', async () => {
      const storages = await start();
      const [first] = storages;
      if (!first) return;
      const log = first.store(EventLog);
      // A send for each process and account, because the lock on a common send would make the processes run one after
      // the other.
      const sends = range(ACCOUNTS * PROCESSES).map((index) =>
        aSend(index, { accountId: accountOf(index % ACCOUNTS), recipients: recipients(ROUNDS) }),
      );
      const accounts = range(ACCOUNTS).map(accountOf);
      for (const id of accounts) {
        await first.store(AccountStore).createAccount({ id, name: id, createdAt: START });
        await first
          .store(LedgerStore)
          .post({ id: `funds-${id}`, accountId: id, kind: 'topup', units: 1000, at: START });
        await log.switchOn(id, START);
      }
      await first.store(OutboxStore).commit(sends, decide);

      const settle = async (storage: TypeormStorage, process: number) => {
        const own = sends.slice(process * ACCOUNTS, (process + 1) * ACCOUNTS);
        for (const position of range(ROUNDS)) {
          const updates = own.map(({ id }, index): DeliveryUpdate => {
            const status = (index + position + process) % 5 === 0 ? 'failed' : 'delivered';
            return { messageId: id, position, status, at: START + position };
          });
          await storage.store(OutboxStore).settle(process % 2 === 0 ? updates : updates.reverse());
        }
      };
      const spend = async (storage: TypeormStorage, process: number) => {
        for (const round of range(ROUNDS)) {
          const batch = range(20).map((index) => {
            const at = (index * 7 + round) % ACCOUNTS;
            return aSend(1000 + (process * ROUNDS + round) * 20 + index, { accountId: accountOf(at) });
          });
          await storage.store(OutboxStore).commit(process % 2 === 0 ? batch : batch.reverse(), decide);
          for (const { accountId, id } of batch.slice(0, 5)) {
            await storage.store(LedgerStore).post({ id: `more-${id}`, accountId, kind: 'topup', units: 1, at: START });
          }
        }
      };
      let done = false;
      const working = Promise.all(
        storages.flatMap((storage, process) => [settle(storage, process), spend(storage, process)]),
      );
      const ended = working.finally(() => {
        done = true;
      });
      // A reader that continues from the last number it saw. It would miss anything that commits behind it.
      const seen = new Map<string, string[]>(accounts.map((id) => [id, []]));
      const read = async () => {
        for (const [accountId, ids] of seen) {
          const page = await log.read({ accountId, after: ids.length, limit: 500 });
          for (const { sequence, type, data } of page.events) {
            expect(sequence).toBe(ids.length + 1);
            ids.push('position' in data ? `${data.id} ${data.position}` : type);
          }
        }
      };
      const reading = async () => {
        while (!done) await read();
      };
      await Promise.all([ended, reading()]);
      await read();
      for (const [index, ids] of [...seen.values()].entries()) {
        const own = ids.filter((id) => id.startsWith('msg-'));
        const places = range(PROCESSES).flatMap((process) =>
          range(ROUNDS).map((position) => `${messageId(process * ACCOUNTS + index)} ${position}`),
        );
        expect(own.sort()).toEqual(places.sort());
        expect(ids.filter((id) => id === 'send.completed')).toHaveLength(PROCESSES);
      }
      expect(await first.store(LedgerStore).check()).toEqual([]);
    }, 120_000);
  });
}
