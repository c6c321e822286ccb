import { TypeormStorage } from 'nestjs-messaging';
import { Client } from 'pg';
import { DAY_MS } from '../time.js';

/** The accounts of a filled database. Of ten messages, the first account has sent six, and each of the others one. */
export const ACCOUNTS = ['account-0', 'account-1', 'account-2', 'account-3', 'account-4'] as const;

/** The number of days over which the messages are spread. */
export const DAYS = 60;
const SPAN_MS = DAYS * DAY_MS;

/** The view of the sends. The moduli have no common factors, so that the filters are independent of each other. */
const sends = (stored: number, until: number) => `CREATE VIEW bench_send AS SELECT i,
  '01000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0') AS id,
  'account-' || greatest(0, i % 10 - 5) AS account,
  CASE WHEN i % 7 = 0 THEN 'msgapp' ELSE 'sms' END AS channel,
  CASE WHEN i % 7 <> 0 AND i % 11 = 0 THEN 'otp' ELSE 'text' END AS kind,
  CASE WHEN i % 7 = 0 THEN '22670000100' ELSE (ARRAY['INFOS', 'ALERTE', 'SERVICE'])[1 + i % 3] END AS sender,
  CASE WHEN i % 17 < 12 THEN 'key-' || i % 17 % 4 END AS key_id,
  CASE WHEN i % 101 = 0 THEN 10 ELSE 1 END AS recipients,
  CASE WHEN i % 13 < 6 THEN 1 ELSE 3 END AS price,
  CASE WHEN i % 20011 = 7 THEN 'unknown' WHEN i % 23 = 3 THEN 'failed' WHEN i % 31 = 5 THEN 'undelivered'
    ELSE 'delivered' END AS status,
  (ARRAY['22670', '22671', '22672', '22674', '22675', '22676', '2250700', '2250501', '22370', '33612', '22177', '1202555', '447911'])[1 + i % 13] AS prefix,
  CASE WHEN i % 13 = 11 THEN 4 ELSE 6 END AS digits,
  ${until} - (${stored} - i) * ${SPAN_MS}::bigint / ${stored} AS at
  FROM generate_series(1::bigint, ${stored}::bigint) i`;

const RECIPIENTS = 'bench_send CROSS JOIN LATERAL generate_series(0, recipients - 1) p';
/** The numbers of the recipients: for most countries a million different ones. */
const NUMBER = `prefix || right(lpad(((i * 7919 + p * 104729) % 1000000)::text, 6, '0'), digits)`;

/** The statements that fill the tables. The two lists run at the same time. */
const TABLES: readonly (readonly string[])[] = [
  [
    `INSERT INTO messaging_message (id, account_id, channel, kind, sender, payload, units, refunded_units, recipients,
        accepted_at, metadata, key_id)
      SELECT id, account, channel, kind, sender, '{"kind":"text","text":"Bonjour, votre colis est arrive."}',
        recipients * price, CASE WHEN status = 'failed' THEN recipients * price ELSE 0 END, recipients, at,
        '{"order":"' || i || '","campaign":"c' || i % 53 || '"}', key_id FROM bench_send`,
    `INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, posted_at)
      SELECT id, account, 'charge', - recipients * price, id, at FROM bench_send`,
    `INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, position, posted_at)
      SELECT id || ':' || p, account, 'refund', price, id, p, at + 5000 FROM ${RECIPIENTS} WHERE status = 'failed'`,
  ],
  [
    `INSERT INTO messaging_recipient (message_id, position, channel, number, units, refunded_units, status, attempt, tries,
        updated_at)
      SELECT id, p, channel, ${NUMBER}, price, CASE WHEN status = 'failed' THEN price ELSE 0 END, status, 1, 1, at + 5000
      FROM ${RECIPIENTS}`,
    `INSERT INTO messaging_sent_to (account_id, channel, number, sent_at, message_id, position)
      SELECT account, channel, ${NUMBER} AS number, at, id, p FROM ${RECIPIENTS} WHERE kind <> 'otp'
      ORDER BY account, channel, number, at`,
  ],
];

/**
 * Fills a database with delivered and failed messages of five accounts on two channels, to nine countries and by four
 * keys, with their ledger entries. They are spread evenly over the last 60 days. The database makes them itself.
 */
export async function fillManaged(url: string, stored: number, until = Date.now()): Promise<void> {
  const storage = new TypeormStorage({ database: url });
  await storage.start();
  await storage.stop();
  const clients = TABLES.map(() => new Client({ connectionString: url }));
  for (const client of clients) {
    await client.connect();
    await client.query(`SET synchronous_commit = off; SET work_mem = '512MB'`);
  }
  const [first] = clients;
  await first?.query(sends(stored, until));
  const fill = TABLES.map(async (statements, at) => {
    for (const sql of statements) await clients[at]?.query(sql);
  });
  await Promise.all(fill);
  const started = until - SPAN_MS;
  await first?.query(
    `INSERT INTO messaging_ledger (id, account_id, kind, units, posted_at)
    SELECT 'topup-' || a, a, 'topup', 1000000000, ${started} FROM unnest($1::text[]) a`,
    [ACCOUNTS],
  );
  await first?.query(`INSERT INTO messaging_account (id, name, balance, posted, created_at)
    SELECT account_id, account_id, sum(units), 1000000000, ${started} FROM messaging_ledger GROUP BY account_id`);
  await first?.query('DROP VIEW bench_send');
  await first?.query('VACUUM ANALYZE');
  await Promise.all(clients.map((client) => client.end()));
}
