import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { Clock } from '../../../src/common/clock.js';
import { DatabaseClock } from '../../../src/core/database-clock.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { CrashBooks } from '../../support/crash/crash-books.js';
import { CrashLoad } from '../../support/crash/crash-load.js';
import { busy, makeAccount, UNITS } from '../../support/crash/crash-loop.js';
import { CrashProcess } from '../../support/crash/crash-process.js';
import { WrongClock } from '../../support/crash/wrong-clock.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { ask, phoneOf, sendSms } from '../../support/http/sms-client.js';
import { type MessagingApp, OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { clientOf } from '../../support/mounting/mounted.js';
import { MSGAPP, MsgappClient } from '../../support/msgapp/msgapp-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { GatedTransport } from '../../support/outbox/gated-transport.js';

const TEN_MINUTES = 600_000;
/** How often each process must look for work before a test concludes that it has seen everything. */
const LOOKS = 5;

const SERVERS = [
  { name: 'PostgreSQL', type: 'postgres', port: 5432, create: createPostgresDatabase, zone: "TIME ZONE '+05'" },
  { name: 'MariaDB', type: 'mysql', port: 3306, create: createMariadbDatabase, zone: "time_zone = '+05:00'" },
] as const;

const opened = closeAfterEach();

/** The accounts whose SMS may be taken again when a lease ends. */
class PatientTransport extends GatedTransport {
  override readonly repeat = 'at-least-once';
}

/** A process on the database, with a carrier that holds its messages until the test releases them. */
async function startProcess(url: string, clock?: Clock) {
  const transport = new PatientTransport();
  const options = {
    storage: TypeormStorage.forRoot({ url }),
    ...(clock && { clock: { useValue: clock } }),
    sms: { ...OPTIONS.sms, transport: { useValue: transport }, delivery: { retryBaseMs: 1000 } },
    msgapp: { ...MSGAPP, sessions: { leaseMs: 1500 } },
    otp: { pepper: PEPPER },
    dispatch: { pollMs: 20 },
  };
  const app = await startMessaging('express', options, { imports: [SandboxModule.forRoot()] });
  return { app, transport, looks: looksOf(app) };
}

/** Counts how often a process looks for SMS to deliver and for sessions to take. */
function looksOf({ app }: MessagingApp) {
  const claims = jest.spyOn(app.get(OutboxStore, { strict: false }), 'claim');
  const free = jest.spyOn(app.get(SessionStore, { strict: false }), 'free');
  const further = async (spy: { readonly mock: { readonly calls: readonly unknown[] } }) => {
    const before = spy.mock.calls.length;
    await until(() => spy.mock.calls.length >= before + LOOKS);
  };
  return { forSms: () => further(claims), forSessions: () => further(free) };
}

for (const { name, type, port, create, zone } of SERVERS) {
  const available = await hasServer(name, port);
  const suite = available ? describe : describe.skip;

  suite.each([TEN_MINUTES, -TEN_MINUTES])(`on ${name}, a process whose clock is wrong by %i ms`, (wrong) => {
    let database: Awaited<ReturnType<typeof create>>;
    let processes: Awaited<ReturnType<typeof startProcess>>[] = [];

    beforeAll(async () => {
      database = await create();
      processes = await Promise.all([
        startProcess(database.url),
        startProcess(database.url, new DatabaseClock(new WrongClock(wrong))),
      ]);
    });

    afterAll(async () => {
      for (const { app, transport } of processes) {
        transport.gate.open();
        await app.close();
      }
      await database.drop();
    });

    test('takes no SMS that is on the wire elsewhere, and loses none; both are tried again when they are due', async () => {
      for (const [index, { app }] of processes.entries()) await sendSms(app, { number: [phoneOf(index)] });
      const taken = () => processes.map(({ transport }) => transport.batches.flat().map(({ number }) => number));
      await until(() => taken().flat().length >= 2);
      await Promise.all(processes.map(({ looks }) => looks.forSms()));
      expect(taken().flat().sort()).toEqual([phoneOf(0), phoneOf(1)]);

      const books = opened(await CrashBooks.open(database.url));
      for (const { transport } of processes) {
        transport.answer = { kind: 'retry', error: 'busy' };
        transport.gate.open();
      }
      const rows = "SELECT due_at FROM messaging_recipient WHERE status = 'queued'";
      const waiting = await until(
        () => books.query(rows),
        ({ length }) => length === 2,
      );
      for (const { due_at } of waiting) expect(offBy(due_at)).toBeLessThan(TEN_MINUTES / 2);
      for (const { transport } of processes) transport.answer = { kind: 'sent', final: 'delivered' };
      await books.settled();
      expect((await books.deliveries()).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    });

    test('verifies the codes of the others, and they verify its codes', async () => {
      for (const { transport } of processes) transport.gate.open();
      for (const [place, maker] of processes.entries()) {
        const verifier = processes[1 - place];
        const order = { service: 'Boutique', number: phoneOf(100 + place) };
        const { status } = await ask(maker.app, 'api/v1/send/otp', order);
        expect(status).toBe(200);
        const sms = await until(() =>
          processes.flatMap(({ transport }) => transport.batches.flat()).find(({ number }) => number === order.number),
        );
        const code = /\b\d{4}\b/.exec(sms?.text ?? '')?.[0];
        const target = { url: verifier?.app.url ?? '', key: maker.app.key };
        const verified = await ask(target, 'api/v1/verify/otp', { ...order, otp: code });
        expect([verified.status, verified.text]).toEqual([200, expect.any(String)]);
      }
    });

    test('takes no session that another process holds, and loses none', async () => {
      for (const [index, { app }] of processes.entries()) {
        await new MsgappClient(await clientOf(app), app.url).link(phoneOf(200 + index));
      }
      for (const { looks } of processes) await looks.forSessions();
      const books = opened(await CrashBooks.open(database.url));
      const sessions = await books.query('SELECT status, epoch FROM messaging_session');
      expect(sessions.map(({ status, epoch }) => [status, Number(epoch)])).toEqual([
        ['connected', 1],
        ['connected', 1],
      ]);
    });

    test('stores no wrong time', async () => {
      const books = opened(await CrashBooks.open(database.url));
      const times = [
        'message.accepted_at',
        'recipient.updated_at',
        'ledger.posted_at',
        'account.created_at',
        'session.created_at',
        'session.lease_until',
        'session_step.moved_at',
      ];
      for (const each of times) {
        const [table, column] = each.split('.');
        const rows = await books.query(`SELECT ${column} AS time FROM messaging_${table}`);
        expect([each, rows.length > 0]).toEqual([each, true]);
        const wrongest = Math.max(...rows.map(({ time }) => offBy(time)));
        expect([each, wrongest < TEN_MINUTES / 2]).toEqual([each, true]);
      }
    });
  });

  suite(`on ${name}`, () => {
    test('the time of the server depends on no time zone', async () => {
      const database = await create();
      opened({ close: () => database.drop() });
      const dataSource = await new DataSource({ type, url: database.url, poolSize: 1 }).initialize();
      opened({ close: () => dataSource.destroy() });
      await dataSource.query(`SET ${zone}`);
      const storage = new TypeormStorage({ database: dataSource });
      await storage.start();
      const time = await storage.serverNow();
      await storage.stop();
      expect(Number.isInteger(time)).toBe(true);
      expect(offBy(time)).toBeLessThan(TEN_MINUTES / 2);
    });
  });

  suite(`on ${name}, two processes of which one has a clock ten minutes ahead`, () => {
    test('deliver once what both accept', async () => {
      const database = await create();
      opened({ close: () => database.drop() });
      const folder = mkdtempSync(join(tmpdir(), 'clocks-'));
      opened({ close: () => rmSync(folder, { recursive: true }) });
      const carrierLog = join(folder, 'carrier.log');
      const { key } = await makeAccount(database.url);
      const settings = { database: database.url, carrier: 'at-least-once', carrierLog } as const;
      const hosts = [0, TEN_MINUTES].map((aheadMs) => opened(new CrashProcess({ ...settings, aheadMs })));
      await hosts[0]?.start().answering;
      await hosts[1]?.start().answering;
      const load = new CrashLoad(() => hosts, key, { clients: 8 });
      for (let count = 0; count < 10; count++) await busy(load);
      await load.finish();
      const books = opened(await CrashBooks.open(database.url));
      await books.settled();
      for (const host of hosts) await host.end('SIGTERM');
      expect([...load.surprises, ...(await books.problems(load.answered, UNITS, false))]).toEqual([]);
      const submitted = readFileSync(carrierLog, 'utf8').trim().split('\n');
      expect(new Set(submitted).size).toBe(submitted.length);
      expect(submitted).toHaveLength(load.answered.size);
      expect(hosts[0]?.errors).toBe('');
    });
  });
}

/** The difference between a stored time and ours, in milliseconds. The database is on this machine. */
function offBy(time: unknown): number {
  return Math.abs(Number(time) - Date.now());
}
