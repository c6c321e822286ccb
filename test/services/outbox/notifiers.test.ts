import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { createClient } from 'redis';
import { AccountService } from '../../../src/accounts/account-service.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { SystemClock } from '../../../src/common/clock.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { Notifier } from '../../../src/common/notifier.js';
import type { PortSource } from '../../../src/core/port-provider.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { PostgresNotifier } from '../../../src/notifiers/postgres-notifier.js';
import { RedisNotifier, type RedisNotifierOptions } from '../../../src/notifiers/redis/index.js';
import { OptOutDirectory } from '../../../src/sms/opt-out/opt-out-directory.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { CrashProcess, type CrashSettings } from '../../support/crash/crash-process.js';
import { hasRedis, OwnRedis } from '../../support/databases/own-redis.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { ask, phoneOf, sendSms, tallyOf } from '../../support/http/sms-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';

const opened = closeAfterEach();

/** The carrier of the notices of a suite, and the faults that can be caused in it. */
interface Carrier {
  notifier(): PortSource<Notifier>;
  /** The same for a process of its own. */
  readonly settings: NonNullable<CrashSettings['notifier']>;
  /** Sends a payload to all listeners. */
  forge(payload: string): Promise<void>;
  /** Ends all connections of notifiers. They may reconnect. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

/** Shorter than the polls of a worker here, which is a minute, so anything that waits for a poll is too late. */
const BEFORE_A_POLL_MS = 30_000;

function describeNotifier(name: string, available: boolean, open: (url: string) => Promise<Carrier>): void {
  const suite = available ? describe : describe.skip;

  suite(name, () => {
    let url = '';
    let drop = async () => {};
    let carrier: Carrier;
    let books: Client;

    beforeAll(async () => {
      ({ url, drop } = await createPostgresDatabase());
      carrier = await open(url);
      books = new Client({ connectionString: url });
      await books.connect();
    });

    afterAll(async () => {
      await carrier.close();
      await books.end();
      await drop();
    });

    /** An instance that only accepts, or only delivers and polls once a minute, or keeps its caches forever. */
    async function start(role: 'accepts' | 'delivers' | 'trusts'): Promise<MessagingApp> {
      const options = {
        storage: { useValue: new TypeormStorage({ database: url }) },
        notifier: carrier.notifier(),
        role: role === 'delivers' ? ('all' as const) : ('api' as const),
        dispatch: { pollMs: 60_000 },
        ...(role === 'trusts' ? { clock: { useValue: new FakeClock(Date.now()) } } : {}),
      };
      return opened(await startMessaging('fastify', options));
    }

    const notifierOf = ({ app }: MessagingApp) => app.get(Notifier, { strict: false });

    /** Resolves when a notice that one publishes reaches the other. */
    async function connected(from: MessagingApp, to: MessagingApp): Promise<void> {
      let heard = false;
      const id = `probe-${Math.random()}`;
      const stop = notifierOf(to).listen('sender', (each) => (heard ||= each === id));
      await until(() => {
        notifierOf(from).publish('sender', id);
        return heard;
      });
      stop();
    }

    const statusWith = async (at: MessagingApp, key: string) =>
      (await ask({ url: at.url, key }, 'api/v1/balance')).status;

    /** Whether a worker has taken this many messages of the account. */
    const taken = async ({ accountId }: MessagingApp, count: number) => {
      const { rows } = await books.query(
        `SELECT count(*) AS taken FROM messaging_recipient r JOIN messaging_message m ON m.id = r.message_id
          WHERE m.account_id = $1 AND r.status <> 'queued'`,
        [accountId],
      );
      return Number(rows[0]?.taken) >= count;
    };

    test('a message that one instance accepts is delivered by another one at once', async () => {
      const [here, there] = [await start('accepts'), await start('delivers')];
      await connected(here, there);
      for (let sent = 1; sent <= 5; sent++) {
        expect((await sendSms(here)).status).toBe(200);
        await until(() => taken(here, sent), Boolean, BEFORE_A_POLL_MS);
      }
    });

    test('a revoked key, a decision on a signature and an opt-out take effect everywhere at once', async () => {
      const [here, there] = [await start('accepts'), await start('trusts')];
      await connected(here, there);
      const { accountId } = here;
      const accounts = here.app.get(AccountService, { strict: false });
      const signatures = here.app.get(SignatureService, { strict: false });
      const optOuts = here.app.get(OptOutService, { strict: false });
      const { key, id } = await accounts.issueKey(accountId);
      const statusOf = async (signature: string) =>
        (await sendSms({ url: there.url, key: here.key }, { signature })).status;
      const list = there.app.get(OptOutDirectory, { strict: false });
      const number = phoneOf(7);
      const isOptedOut = async () => (await list.among(accountId, 'INFOS', [number])).has(number);
      await signatures.register(accountId, 'SHOP');
      expect([await statusWith(there, key), await statusOf('SHOP'), await isOptedOut()]).toEqual([200, 400, false]);

      await accounts.revokeKey(id);
      await signatures.verify(accountId, 'SHOP');
      await optOuts.add({ accountId, signature: 'INFOS' }, [number]);
      await until(async () => (await statusWith(there, key)) === 401, Boolean, BEFORE_A_POLL_MS);
      await until(async () => (await statusOf('SHOP')) === 200, Boolean, BEFORE_A_POLL_MS);
      await until(isOptedOut, Boolean, BEFORE_A_POLL_MS);
      await signatures.reject(accountId, 'SHOP');
      await until(async () => (await statusOf('SHOP')) === 400, Boolean, BEFORE_A_POLL_MS);
    });

    test('a stranger on the channel is not obeyed and not logged', async () => {
      const [here, there] = [await start('accepts'), await start('trusts')];
      const lines: string[] = [];
      const log = (line: unknown) => void lines.push(String(line));
      Logger.overrideLogger({ log, error: log, warn: log, debug: log, verbose: log });
      opened({ close: () => Logger.overrideLogger(false) });
      await connected(here, there);
      expect(await statusWith(there, here.key)).toBe(200);
      for (let time = 0; time < 200; time++) await carrier.forge(`{"secret": "22670000001", "n": ${time}}`);
      await carrier.forge("1 x key:';DROP key:* due:* later:x");
      expect((await sendSms(here)).status).toBe(200);
      expect(await statusWith(there, here.key)).toBe(200);
      await until(() => lines.some((line) => line.includes('A payload that is not ours was ignored.')));
      expect(lines.filter((line) => line.includes('none of ours')).length).toBeLessThanOrEqual(2);
      expect(lines.join()).not.toMatch(/secret|22670000001|DROP/);
    });

    test('if connections are cut again and again, every send is still accepted, and they come back', async () => {
      const [here, there] = [await start('accepts'), await start('delivers')];
      await connected(here, there);
      let isOver = false;
      const cutting = (async () => {
        while (!isOver) await carrier.cut();
      })();
      const sent = [];
      for (let round = 0; round < 10; round++) {
        sent.push(...(await Promise.all(Array.from({ length: 10 }, () => sendSms(here)))));
      }
      isOver = true;
      await cutting;
      expect(tallyOf(sent)).toEqual({ '200': 100 });
      await connected(here, there);
      notifierOf(here).publish('due', 'sms');
      await until(() => taken(here, 100), Boolean, BEFORE_A_POLL_MS);
    });

    test('two separate processes: one accepts, one delivers', async () => {
      const witness = await start('accepts');
      const order = { database: url, notifier: carrier.settings };
      const api = opened(new CrashProcess({ ...order, role: 'api' }));
      const worker = opened(new CrashProcess({ ...order, dispatch: { pollMs: 60_000 } }));
      await Promise.all([api.start().answering, worker.start().answering]);
      // Repeated until the worker is connected too.
      const target = { url: api.url, key: witness.key };
      const sent = async () => (await sendSms(target)).status === 200 && taken(witness, 1);
      await until(sent, Boolean, BEFORE_A_POLL_MS);
    });
  });
}

const postgres = await hasServer('PostgreSQL', 5432);

describeNotifier('PostgresNotifier', postgres, async (url) => {
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    notifier: () => PostgresNotifier.forRoot({ url }),
    settings: { kind: 'postgres', url },
    forge: async (payload) => {
      await client.query('SELECT pg_notify($1, $2)', ['nestjs_messaging', payload]);
    },
    cut: async () => {
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'nestjs-messaging notifier' AND datname = current_database()",
      );
    },
    close: () => client.end(),
  };
});

describeNotifier('RedisNotifier', postgres && hasRedis(), async () => {
  const redis = await OwnRedis.start();
  const client = await createClient({ url: redis.url }).connect();
  return {
    notifier: () => RedisNotifier.forRoot({ url: redis.url }),
    settings: { kind: 'redis', url: redis.url },
    forge: async (payload) => {
      await client.publish('nestjs-messaging', payload);
    },
    cut: async () => {
      for (const type of ['PUBSUB', 'NORMAL'] as const) {
        await client.sendCommand(['CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes']);
      }
    },
    close: async () => {
      client.destroy();
      await redis.close();
    },
  };
});

const redisSuite = postgres && hasRedis() ? describe : describe.skip;

redisSuite('RedisNotifier', () => {
  const notifier = (options: RedisNotifierOptions) => {
    const made = new RedisNotifier(options, new SystemClock(), new UuidGenerator());
    made.onApplicationBootstrap();
    return opened(Object.assign(made, { close: () => made.onApplicationShutdown() }));
  };

  /** Resolves when a notice that one publishes reaches the other. */
  async function reaches(from: Notifier, to: Notifier): Promise<void> {
    const id = `probe-${Math.random()}`;
    let heard = false;
    to.listen('key', (each) => (heard ||= each === id));
    await until(() => {
      from.publish('key', id);
      return heard;
    });
  }

  test('if a Redis is frozen, flushed, stopped and started again, every send is accepted, and notices come back', async () => {
    const { url, drop } = await createPostgresDatabase();
    opened({ close: drop });
    const redis = opened(await OwnRedis.start());
    const app = opened(
      await startMessaging('express', {
        storage: { useValue: new TypeormStorage({ database: url }) },
        notifier: RedisNotifier.forRoot({ url: redis.url }),
      }),
    );
    const there = notifier({ url: redis.url });
    const here = app.app.get(Notifier, { strict: false });
    await reaches(here, there);
    const sends = () => Promise.all(Array.from({ length: 20 }, () => sendSms(app)));
    redis.freeze();
    const answers = await sends();
    redis.goOn();
    await reaches(here, there);
    await redis.flush();
    answers.push(...(await sends()));
    await redis.stop();
    answers.push(...(await sends()));
    await redis.start();
    await reaches(here, there);
    expect(tallyOf(answers)).toEqual({ '200': 60 });
  });

  test('works on a cluster, and with prefixes that keep installations apart', async () => {
    const redis = opened(await OwnRedis.start(true));
    const client = await createClient({ url: redis.url }).connect();
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    await until(async () => String(await client.sendCommand(['CLUSTER', 'INFO'])).includes('cluster_state:ok'));
    client.destroy();
    const cluster = { rootNodes: [{ url: redis.url }] };
    const [here, there] = [notifier({ cluster, prefix: 'shop:' }), notifier({ cluster, prefix: 'shop:' })];
    const apart = notifier({ url: redis.url, prefix: 'bank:' });
    const alike = notifier({ url: redis.url, prefix: 'bank:' });
    await Promise.all([reaches(here, there), reaches(apart, alike)]);
    const heard: string[] = [];
    apart.listen('key', (id) => heard.push(id));
    here.publish('key', 'k1');
    await reaches(here, there);
    await reaches(alike, apart);
    expect(heard).not.toContain('k1');
  });
});
