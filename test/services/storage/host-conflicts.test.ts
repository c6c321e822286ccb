import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { StorageUnavailableError, TransactionConflictError } from '../../../src/common/errors.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ACCOUNT, aSend, START } from '../../contract/storage/fixtures.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';

const SERVERS = [
  { type: 'postgres', name: 'PostgreSQL', port: 5432, create: createPostgresDatabase },
  { type: 'mysql', name: 'MariaDB', port: 3306, create: createMariadbDatabase },
] as const;

for (const { type, name, port, create } of SERVERS) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;

  suite(`a conflict in a host's own transaction on ${name} is reported as "repeat it"`, () => {
    let database: Awaited<ReturnType<typeof create>>;
    let host: DataSource;
    let storage: TypeormStorage;
    let sends = 0;

    beforeAll(async () => {
      database = await create();
      host = await new DataSource({ type, url: database.url }).initialize();
      storage = new TypeormStorage({ database: host });
      await storage.start();
      await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
      await storage.store(LedgerStore).post({ id: 'p', accountId: ACCOUNT, kind: 'topup', units: 1000, at: START });
      await host.query('CREATE TABLE host_row (id integer PRIMARY KEY, n integer NOT NULL)');
      await host.query('INSERT INTO host_row VALUES (1, 0)');
    });

    afterAll(async () => {
      await storage.stop();
      await host.destroy();
      await database.drop();
    });

    const send = (manager?: EntityManager) =>
      storage.store(OutboxStore).commit([aSend(++sends)], decide, manager && { manager });

    async function conflictOf(work: Promise<unknown>): Promise<TransactionConflictError> {
      const error: unknown = await work.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(TransactionConflictError);
      expect(error).toBeInstanceOf(StorageUnavailableError);
      if (!(error instanceof TransactionConflictError)) throw error;
      expect(error.reason).toMatch(/^Another transaction .*: repeat the whole transaction\.$/);
      return error;
    }

    if (type === 'postgres') {
      test.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)('%s, with another send in between', async (isolation) => {
        const before = await storage.store(LedgerStore).balance(ACCOUNT);
        let attempts = 0;
        const once = () =>
          host.transaction(isolation, async (manager) => {
            await manager.query('SELECT n FROM host_row');
            if (++attempts === 1) await send();
            return send(manager);
          });
        const error = await conflictOf(once());
        expect(error.cause).toMatchObject({ code: '40001' });
        expect(await once()).toMatchObject([{ kind: 'accepted' }]);
        expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe((before ?? 0) - 2);
      });
    }

    test('a deadlock', async () => {
      let locked: () => void = () => undefined;
      const isLocked = new Promise<void>((resolve) => (locked = resolve));
      let updated: () => void = () => undefined;
      const isUpdated = new Promise<void>((resolve) => (updated = resolve));
      const results = await Promise.allSettled([
        host.transaction(async (manager) => {
          await manager.query('UPDATE host_row SET n = n + 1 WHERE id = 1');
          updated();
          await isLocked;
          await send(manager);
        }),
        host.transaction(async (manager) => {
          await send(manager);
          locked();
          // Otherwise this transaction may lock both rows and end before the other one begins.
          await isUpdated;
          await manager.query('UPDATE host_row SET n = n + 1 WHERE id = 1');
        }),
      ]);
      const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(failed).toHaveLength(1);
      // The database may choose the host's own statement as its victim. Then the error is the host's.
      const [reason] = failed;
      if (!('driverError' in reason)) await conflictOf(Promise.reject(reason));
    });

    test('a row that is held for too long', async () => {
      const holding = host.createQueryRunner();
      await holding.startTransaction();
      await holding.query(`SELECT id FROM messaging_account WHERE id = '${ACCOUNT}' FOR UPDATE`);
      const error = await conflictOf(host.transaction((manager) => send(manager)));
      expect(error.cause).toMatchObject({ code: expect.stringMatching(/^(55P03|ER_LOCK_WAIT_TIMEOUT)$/) });
      await holding.rollbackTransaction();
      await holding.release();
    });
  });
}
