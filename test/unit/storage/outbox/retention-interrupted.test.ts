import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import type { HostTransaction } from '../../../../src/common/host-transaction.js';
import { LocalNotifier } from '../../../../src/common/notifier.js';
import { DAY_MS } from '../../../../src/common/time.js';
import { codeErasure } from '../../../../src/otp/code-erasure.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../../src/outbox/policy/policy-store.js';
import { ErasureRules, ErasureService } from '../../../../src/outbox/retention/erasure-service.js';
import { contentRemover } from '../../../../src/outbox/retention/removed-payload.js';
import { RetentionStore } from '../../../../src/outbox/retention/retention-store.js';
import { OptOutDirectory } from '../../../../src/sms/opt-out/opt-out-directory.js';
import { optOutErasure } from '../../../../src/sms/opt-out/opt-out-erasure.js';
import { OptOutStore } from '../../../../src/sms/opt-out/opt-out-store.js';
import { receiptErasure } from '../../../../src/sms/receipts/part-removal.js';
import { PartStore } from '../../../../src/sms/receipts/part-store.js';
import { Database, type Work } from '../../../../src/storage/engine/database.js';
import type { Operation } from '../../../../src/storage/engine/operation.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import {
  ACCOUNT,
  aReceipt,
  aSend,
  aTakenSms,
  messageId,
  onceKey,
  phone,
  range,
  START,
} from '../../../contract/storage/fixtures.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';

const NUMBER = phone(1);

/**
 * Fails at one of the statements that pass through it, as if the process ended there: its transaction is rolled back.
 */
class FailingDatabase extends Database {
  override readonly dialect;
  statements = 0;
  failAt = Number.POSITIVE_INFINITY;

  constructor(private readonly inner: Database) {
    super();
    this.dialect = inner.dialect;
  }

  override write<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return this.inner.write(() => this.counted(work), host);
  }

  override writeLazily<T>(work: Work<T>): Promise<T> {
    return this.inner.writeLazily(() => this.counted(work));
  }

  override read<T>(work: Work<T>): Promise<T> {
    return this.inner.read(() => this.counted(work));
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}

  private *counted<T>(work: Work<T>): Operation<T> {
    const operation = work();
    let step = operation.next();
    while (!step.done) {
      if (++this.statements === this.failAt) throw new Error('The process ends here.');
      step = operation.next(yield step.value);
    }
    return step.value;
  }
}

describe('interrupted at each of its statements', () => {
  let storage: SqliteMemory;
  let db: FailingDatabase;

  beforeEach(async () => {
    storage = await SqliteMemory.open();
    db = new FailingDatabase(storage.db);
  });
  afterEach(() => storage.close());

  const tables = () =>
    storage.database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'messaging%'")
      .pluck()
      .all()
      .map(String);
  const tablesWith = (text: string) =>
    tables().filter((name) =>
      storage.database
        .prepare(`SELECT * FROM ${name}`)
        .all()
        .some((row) => JSON.stringify(row).includes(text)),
    );

  /** Empties the database and stores messages that have ended, with everything that belongs to them. */
  const fill = async () => {
    for (const name of tables()) if (name !== 'messaging_schema') storage.database.exec(`DELETE FROM ${name}`);
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 20, at: START });
    const text = (index: number) => ({ payload: { kind: 'text', text: `Words ${index}` } });
    const otp = { payload: { kind: 'otp', service: 'Shop', number: NUMBER, id: 'x', keyVersion: '1', digits: 4 } };
    const sends = [
      aSend(1, { ...text(1), once: onceKey(), reply: { number: [NUMBER] } }),
      aSend(2, { ...otp, recipients: [{ number: NUMBER, units: 1 }] }),
      aSend(3, { ...text(3), recipients: [1, 2].map((index) => ({ number: phone(index), units: 2 })) }),
      aSend(4, text(4)),
    ];
    await storage.store(OutboxStore).commit(sends, decide);
    await storage
      .store(OutboxStore)
      .claim({ channel: 'sms', limit: 9, now: START, leaseUntil: START + 9, abandoned: false });
    const parts = new PartStore(storage.db);
    await parts.record([aTakenSms(1)], START);
    await storage.store(OutboxStore).settle(
      sends.flatMap(({ id, recipients }) =>
        recipients.map((_, position) => ({
          messageId: id,
          position,
          attempt: 1,
          status: position === 0 ? ('failed' as const) : ('delivered' as const),
          at: START,
          trail: [{ at: START, outcome: 'refused' }],
        })),
      ),
    );
    await parts.receive([aReceipt('p', { number: NUMBER })], { now: START, until: START + DAY_MS, most: 9 });
    const optOut = { accountId: ACCOUNT, signature: 'INFOS', source: 'phone' as const, at: START };
    await new OptOutStore(storage.db).add([{ ...optOut, id: 'o', number: NUMBER }]);
  };
  const sound = async () => expect(await storage.store(LedgerStore).check()).toEqual([]);

  /** Runs work with an interruption at its first statement, then at its second, and so on, and then to its end. */
  const atEach = async (work: () => Promise<unknown>, finished: () => Promise<void>) => {
    for (let failAt = 1; ; failAt++) {
      await fill();
      Object.assign(db, { statements: 0, failAt });
      const interrupted = await work().then(
        () => false,
        () => true,
      );
      if (!interrupted) return failAt - 1;
      await sound();
      db.failAt = Number.POSITIVE_INFINITY;
      await work();
      await finished();
      await sound();
    }
  };

  test('an erasure that is called again leaves nothing of the number', async () => {
    const clock = new FakeClock();
    const settings = { keys: [Buffer.alloc(32, 1)] };
    const store = new RetentionStore(db);
    const optOuts = new OptOutStore(db);
    const rules = new ErasureRules();
    rules.add(codeErasure(store, new PolicyStore(db)));
    rules.add(receiptErasure(new PartStore(db)));
    // Its lists already contain hashes.
    const directory = new OptOutDirectory(clock, optOuts, new LocalNotifier(), settings);
    rules.add(optOutErasure(optOuts, directory, settings, clock));
    const erasure = new ErasureService(store, rules, settings);
    const places = await atEach(
      async () => {
        storage.database.exec('UPDATE messaging_opt_out_list SET hashed_at = 0');
        await erasure.erase(NUMBER);
      },
      async () => {
        expect(tablesWith(NUMBER)).toEqual([]);
        expect(tablesWith('Words 1')).toEqual([]);
        expect(tablesWith('Words 3')).toEqual(['messaging_message']);
        const [key] = settings.keys;
        expect(key && tablesWith('hmac:')).toEqual(['messaging_opt_out']);
      },
    );
    expect(places).toBeGreaterThan(25);
  });

  const remove = contentRemover(undefined);
  const toEnd = async (purge: (limit: number) => Promise<number>) => {
    for (const _ of range(50)) if ((await purge(2)) < 2) return;
    throw new Error('The purge does not end.');
  };
  const order = (limit: number) => ({ before: START + 1, now: START + DAY_MS, limit });

  test('a purge of texts continues and leaves none', async () => {
    const store = new RetentionStore(db);
    const places = await atEach(
      () => toEnd((limit) => store.purgeTexts(order(limit), remove)),
      async () => expect(tablesWith('Words')).toEqual([]),
    );
    expect(places).toBeGreaterThan(8);
  });

  test('a purge of messages continues, leaves no recipient and no row of one, and the ledger is correct at every moment', async () => {
    const store = new RetentionStore(db);
    const places = await atEach(
      () => toEnd((limit) => store.purgeMessages(order(limit), remove)),
      async () => {
        for (const table of ['recipient', 'sent_to', 'trail', 'sms_part']) {
          expect(storage.database.prepare(`SELECT count(*) FROM messaging_${table}`).pluck().get()).toBe(0);
        }
        expect(await storage.store(OutboxStore).find(ACCOUNT, 'sms', messageId(3))).toMatchObject({
          units: 4,
          refundedUnits: 2,
          payload: { numbers: ['226******01', '226******02'] },
        });
      },
    );
    expect(places).toBeGreaterThan(15);
  });

  test('a purge of histories continues and leaves none', async () => {
    const store = new RetentionStore(db);
    const places = await atEach(
      () => toEnd((limit) => store.purgeTrail(START + 1, limit)),
      async () => expect(storage.database.prepare('SELECT count(*) FROM messaging_trail').pluck().get()).toBe(0),
    );
    expect(places).toBeGreaterThan(3);
  });

  test('no transaction of a purge writes more rows than its limit allows', async () => {
    await fill();
    const store = new RetentionStore(db);
    const count = () => Number(storage.database.prepare('SELECT count(*) FROM messaging_recipient').pluck().get());
    for (let left = count(); left > 0; ) {
      await store.purgeMessages(order(1), remove);
      expect(left - count()).toBeLessThanOrEqual(1);
      left = count();
    }
  });
});
