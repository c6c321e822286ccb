import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../src/accounts/account-store.js';
import { EventLog } from '../../src/events/event-log.js';
import { TypeormStorage } from '../../src/messaging/typeorm-storage.js';
import { dataSourceFor } from '../../src/storage/engine/data-source.js';
import { EndpointSecrets } from '../../src/webhooks/endpoints/endpoint-secret.js';
import { resolveWebhookSettings } from '../../src/webhooks/webhook-options.js';
import { until } from '../support/common/until.js';
import { CallHost } from '../support/webhooks/call-process.js';
import { Receiver } from '../support/webhooks/receiver.js';
import { type Engine, makeDatabase, type TortureDatabase } from './databases.js';
import { byForm, leaveOut, note, randomOf } from './form.js';

const ACCOUNT = 'demo';
const LIMIT_MS = byForm(240_000, 1_800_000);
/** The maximum number of events that a crash may repeat at one endpoint. */
const REPEATS = 1300;
const LEASE_MS = 1200;
const KINDS = [
  { id: 'single', ordering: 'none', max: 1 },
  { id: 'batch', ordering: 'none', max: 100 },
  { id: 'strict', ordering: 'strict', max: 10 },
] as const;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Endpoints of each kind, whose receivers live in this process, and hosts that call them. */
class Siege {
  private constructor(
    readonly database: TortureDatabase,
    readonly receivers: ReadonlyMap<string, Receiver>,
    /** The events that each has accepted. */
    readonly took: ReadonlyMap<string, ReadonlySet<number>>,
  ) {}

  static async lay(engine: Engine): Promise<Siege | undefined> {
    const database = await makeDatabase(engine);
    if (!database) return undefined;
    closing.push(() => database.close());
    const receivers = new Map<string, Receiver>();
    const took = new Map<string, Set<number>>();
    await onDatabase(database.url, async (storage, run) => {
      await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: Date.now() });
      await storage.store(EventLog).switchOn(ACCOUNT, Date.now());
      const { keys } = resolveWebhookSettings({ pepper: 'a pepper of the tests: 7d1Qm0xHcV2u' });
      const versions = JSON.stringify(new EndpointSecrets(keys).first());
      for (const { id, ordering, max } of KINDS) {
        const receiver = await Receiver.open();
        closing.push(() => receiver.close());
        receivers.set(id, receiver);
        const random = randomOf(`answers ${id}`);
        const taken = new Set<number>();
        took.set(id, taken);
        receiver.answers = ({ sequences }, response) => {
          // Some calls of the first kind fail, and are tried again.
          const status = id === 'single' && random() < 0.01 ? 500 : 200;
          setTimeout(() => {
            // An event whose answer the sender does not get counts as not accepted, as if the receiver's transaction
            // had failed then.
            const isHeard = response.socket?.writable === true;
            response.writeHead(status).end();
            if (isHeard && status === 200) for (const sequence of sequences) taken.add(Number(sequence));
          }, random() * 50);
        };
        await run(`INSERT INTO messaging_endpoint (id, account_id, url, ordering, batch_max, wait_ms, signature, versions, status,
          cursor_at, lease_until, epoch, created_at, updated_at) VALUES ('${id}', '${ACCOUNT}', '${receiver.url}', '${ordering}',
          ${max}, 0, 'hmac', '${versions}', 'enabled', 0, 0, 0, 1, 1)`);
      }
    });
    return new Siege(database, receivers, took);
  }

  async host(given: { records?: boolean; naive?: boolean } = {}): Promise<CallHost> {
    const order = { database: this.database.hostUrl, account: ACCOUNT, leaseMs: LEASE_MS, records: true, ...given };
    const host = new CallHost(order);
    closing.push(() => host.end('SIGKILL'));
    await host.start();
    return host;
  }

  /** Resolves when each endpoint has received this many more events, new or not. */
  async busy(more: number): Promise<void> {
    const aims = [...this.receivers.values()].map((each) => ({ each, aim: each.sequences.length + more }));
    await until(() => aims.every(({ each, aim }) => each.sequences.length >= aim));
  }

  /** The number of the last event. */
  async last(): Promise<number> {
    let last = 0;
    await onDatabase(this.database.url, async (storage) => {
      ({ last } = await storage.store(EventLog).state(ACCOUNT));
    });
    return last;
  }

  /** Waits until the last event is seen and nothing comes any more. Returns the faults, as sentences. */
  async problems(last: number, crashes: number, patienceMs = 60_000): Promise<string[]> {
    const problems: string[] = [];
    for (const [id, receiver] of this.receivers) {
      const taken = this.took.get(id) ?? new Set();
      await until(() => taken.size >= last, Boolean, patienceMs).catch(() => undefined);
      const seen = new Set<number>();
      const overtaken: number[] = [];
      for (const sequence of receiver.sequences.map(Number)) {
        if (!seen.has(sequence) && sequence !== seen.size + 1) overtaken.push(sequence);
        seen.add(sequence);
      }
      const missing = Array.from({ length: last }, (_, index) => index + 1).filter((each) => !taken.has(each));
      const repeats = receiver.sequences.length - seen.size;
      note('Calls under kill -9', { id, events: last, crashes, repeats, most: REPEATS * crashes });
      if (missing.length > 0) problems.push(`${id}: ${missing.length} events were never sent: ${missing.slice(0, 5)}`);
      if (repeats > REPEATS * crashes) problems.push(`${id}: ${repeats} repeats after ${crashes} crashes`);
      if (id === 'strict' && overtaken.length > 0) problems.push(`${id}: ${overtaken.slice(0, 5)} came too early`);
    }
    return problems;
  }
}

async function onDatabase(
  url: string,
  work: (storage: TypeormStorage, run: (sql: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const source = await dataSourceFor(url);
  await source.initialize();
  const storage = new TypeormStorage({ database: source });
  try {
    await storage.start();
    await work(storage, (sql) => source.query(sql));
  } finally {
    await storage.stop();
    await source.destroy();
  }
}

/** Kills hosts under load this many times, and lets the last one finish. */
async function killed(siege: Siege, kills: number, naive = false): Promise<string[]> {
  const random = randomOf('webhooks');
  for (let kill = 0; kill < kills; kill++) {
    const host = await siege.host({ naive });
    await siege.busy(100);
    await pause(random() * 300);
    await host.end('SIGKILL');
  }
  const host = await siege.host({ naive });
  await siege.busy(100);
  await host.quiet();
  const problems = await siege.problems(await siege.last(), kills, naive ? 8000 : undefined);
  await host.end('SIGTERM');
  return problems;
}

describe('calls of endpoints', () => {
  test.each<{ engine: Engine; kills: number }>([
    { engine: 'postgres', kills: byForm(5, 100) },
    { engine: 'mariadb', kills: byForm(2, 25) },
    { engine: 'sqlite', kills: byForm(2, 25) },
  ])(
    '$engine, killed $kills times: every event is sent, few are repeated, and those under strict keep their order',
    async ({ engine, kills }) => {
      const siege = await Siege.lay(engine);
      if (!siege) return leaveOut(`${engine}: it is not installed`);
      expect(await killed(siege, kills)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'a cursor that moves before the answer is detected',
    async () => {
      const siege = await Siege.lay('sqlite');
      if (!siege) return;
      expect((await killed(siege, 3, true)).join('\n')).toMatch(/were never sent/);
    },
    LIMIT_MS,
  );

  test(
    'a process that is suspended loses its lease, and no event is lost',
    async () => {
      const siege = await Siege.lay('postgres');
      if (!siege) return leaveOut('a stolen lease: PostgreSQL is not installed');
      const first = await siege.host();
      await siege.busy(200);
      const second = await siege.host();
      for (let round = 0; round < byForm(2, 20); round++) {
        const [stopped] = round % 2 === 0 ? [first] : [second];
        stopped?.signal('SIGSTOP');
        await pause(2 * LEASE_MS);
        await siege.busy(100);
        stopped?.signal('SIGCONT');
        await siege.busy(100);
      }
      await Promise.all([first.quiet(), second.quiet()]);
      expect(await siege.problems(await siege.last(), byForm(2, 20))).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'if the database is restarted, no event is lost',
    async () => {
      const siege = await Siege.lay('postgres');
      const server = siege?.database.server;
      if (!siege || !server) return leaveOut('a restarted database: PostgreSQL is not installed');
      const host = await siege.host();
      const rounds = byForm(2, 20);
      for (let round = 0; round < rounds; round++) {
        await siege.busy(200);
        await server.stop(round % 2 === 0 ? 'immediate' : 'fast');
        await pause(500);
        await server.start();
      }
      await siege.busy(200);
      await host.quiet();
      expect(await siege.problems(await siege.last(), rounds)).toEqual([]);
    },
    LIMIT_MS,
  );
});
