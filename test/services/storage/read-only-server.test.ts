import { expect, test } from '@jest/globals';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { hasMariadb, OwnMariadb } from '../../support/databases/own-mariadb.js';
import { sendSms, tallyOf } from '../../support/http/sms-client.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { OwnPostgres } from '../../torture/own-postgres.js';

const opened = closeAfterEach();
const REFUSED = '503 Service momentanément indisponible';

/** A pool that holds several connections, because each of these sends needs one. */
const sendTen = (app: Parameters<typeof sendSms>[0]) => Promise.all(Array.from({ length: 10 }, () => sendSms(app)));

const postgres = await OwnPostgres.orWarn('a primary that became read-only');
const onPostgres = postgres ? test : test.skip;

onPostgres(
  'PostgreSQL: no connection to a fenced primary is used again, and new ones reach the new primary',
  async () => {
    if (!postgres) return;
    opened(postgres);
    await postgres.execute('CREATE DATABASE messaging');
    const storage = { useValue: new TypeormStorage({ database: postgres.url('messaging') }) };
    const app = opened(await startMessaging('fastify', { storage, dispatch: { pollMs: 60_000 } }));
    expect(tallyOf(await sendTen(app))).toEqual({ 200: 10 });
    // New sessions may write, as on the new primary. Open sessions may not, as on the old one.
    await postgres.execute('ALTER DATABASE messaging SET default_transaction_read_only = off');
    await postgres.execute('ALTER SYSTEM SET default_transaction_read_only = on');
    await postgres.execute('SELECT pg_reload_conf()');
    const refused = await until(
      () => sendSms(app),
      ({ status }) => status !== 200,
    );
    expect([tallyOf([refused]), refused.headers.get('retry-after')]).toEqual([{ [REFUSED]: 1 }, '1']);
    // Each refused round closes at least one connection of at most ten. The sends of a round may share one commit.
    let refusedRounds = 0;
    await until(
      () => sendTen(app),
      (answers) => {
        const isTaken = answers.every(({ status }) => status === 200);
        if (!isTaken) refusedRounds++;
        return isTaken;
      },
    );
    expect(refusedRounds).toBeLessThan(10);
  },
);

const onMariadb = hasMariadb() ? test : test.skip;

onMariadb('MariaDB: no connection to a server that became read-only is used again', async () => {
  const mariadb = opened(await OwnMariadb.start());
  const storage = { useValue: new TypeormStorage({ database: mariadb.url }) };
  const app = opened(await startMessaging('fastify', { storage, dispatch: { pollMs: 60_000 } }));
  expect(tallyOf(await sendTen(app))).toEqual({ 200: 10 });
  const before = await mariadb.connections();
  await mariadb.execute('SET GLOBAL read_only = 1');
  const answers = [];
  // One at a time: the pool gives out the least recently used connection, so all of them are tried.
  for (let index = 0; index < 10; index++) answers.push(await sendSms(app));
  expect(tallyOf(answers)).toEqual({ [REFUSED]: 10 });
  expect(answers[0]?.headers.get('retry-after')).toBe('1');
  await until(async () => !(await mariadb.connections()).some((id) => before.includes(id)));
  await mariadb.execute('SET GLOBAL read_only = 0');
  expect(tallyOf(await sendTen(app))).toEqual({ 200: 10 });
});
