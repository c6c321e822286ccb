import { type Operation, rowsOf } from './operation.js';

/** Each query finds what must not be; its `fault` column is the sentence. */
const FAULTS = [
  `SELECT concat('Account ', a.id, ': the balance is ', a.balance, ', its entries make ', coalesce(sum(l.units), 0), '.') AS fault
    FROM messaging_account a LEFT JOIN messaging_ledger l ON l.account_id = a.id
    GROUP BY a.id, a.balance HAVING a.balance <> coalesce(sum(l.units), 0)`,
  `SELECT concat('Account ', id, ': the balance is negative, ', balance, '.') AS fault FROM messaging_account WHERE balance < 0`,
  `SELECT concat('Account ', l.account_id, ': it does not exist and has entries.') AS fault FROM messaging_ledger l
    WHERE NOT EXISTS (SELECT 1 FROM messaging_account a WHERE a.id = l.account_id) GROUP BY l.account_id`,
  `SELECT concat('Charge ', l.id, ': there is no message.') AS fault FROM messaging_ledger l
    WHERE l.kind = 'charge' AND NOT EXISTS (SELECT 1 FROM messaging_message m WHERE m.id = l.message_id)`,
  `SELECT concat('Charge ', l.id, ': ', l.units, ' units were booked for a message of ', m.units, '.') AS fault
    FROM messaging_ledger l JOIN messaging_message m ON m.id = l.message_id
    WHERE l.kind = 'charge' AND (l.units + m.units <> 0 OR l.account_id <> m.account_id)`,
  `SELECT concat('Message ', m.id, ': there is no charge.') AS fault FROM messaging_message m
    WHERE NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = m.id AND l.kind = 'charge')`,
  `SELECT concat('Message ', m.id, ': its units are ', m.units, ' and ', m.refunded_units, ' refunded, its recipients make ',
      coalesce(sum(r.units), 0), ' and ', coalesce(sum(r.refunded_units), 0), '.') AS fault
    FROM messaging_message m LEFT JOIN messaging_recipient r ON r.message_id = m.id
    GROUP BY m.id, m.units, m.refunded_units
    HAVING m.units < 0 OR m.units <> coalesce(sum(r.units), 0) OR m.refunded_units <> coalesce(sum(r.refunded_units), 0)`,
  `SELECT concat('Refund ', l.id, ': there is no failed recipient of that many units.') AS fault FROM messaging_ledger l
    WHERE l.kind = 'refund' AND NOT EXISTS (SELECT 1 FROM messaging_recipient r
      WHERE r.message_id = l.message_id AND r.position = l.position AND r.status = 'failed' AND r.units = l.units)`,
  `SELECT concat('Message ', r.message_id, ': recipient ', r.position, ' failed and was not refunded.') AS fault
    FROM messaging_recipient r WHERE r.status = 'failed' AND r.units > 0
      AND NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = concat(r.message_id, ':', r.position) AND l.kind = 'refund')`,
];

/** Proves the books: see `LedgerStore.check`. */
export function* checkBooks(): Operation<readonly string[]> {
  const faults: string[] = [];
  for (const sql of FAULTS) {
    const rows = yield* rowsOf(sql);
    faults.push(...rows.map(({ fault }) => String(fault)));
  }
  return faults;
}
