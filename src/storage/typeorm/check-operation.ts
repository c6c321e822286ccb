import { MOST_FAULTS } from '../../billing/ledger-store.js';
import { type Operation, rowsOf } from './operation.js';

/**
 * Each query finds what must not be; its `fault` column is the sentence. None repeats what another one proves, so that one
 * mistake is told once: a message's refunds, for instance, agree with its ledger because its recipients agree with both.
 */
const FAULTS = [
  `SELECT concat('Account ', a.id, ': the balance is ', a.balance, ', its entries make ', coalesce(sum(l.units), 0), '.') AS fault
    FROM messaging_account a LEFT JOIN messaging_ledger l ON l.account_id = a.id
    GROUP BY a.id, a.balance HAVING a.balance <> coalesce(sum(l.units), 0)`,
  `SELECT concat('Account ', id, ': the balance is negative, ', balance, '.') AS fault FROM messaging_account WHERE balance < 0`,
  `SELECT concat('Account ', l.account_id, ': it does not exist and has entries.') AS fault FROM messaging_ledger l
    WHERE NOT EXISTS (SELECT 1 FROM messaging_account a WHERE a.id = l.account_id) GROUP BY l.account_id`,
  `SELECT concat('Top-up ', id, ' of account ', account_id, ': its units are negative, ', units, '.') AS fault
    FROM messaging_ledger WHERE kind = 'topup' AND units < 0`,
  `SELECT concat('Charge ', l.id, ': there is no message ', coalesce(l.message_id, ''), '.') AS fault FROM messaging_ledger l
    WHERE l.kind = 'charge' AND NOT EXISTS (SELECT 1 FROM messaging_message m WHERE m.id = l.message_id)`,
  `SELECT concat('Charge ', l.id, ': ', l.units, ' units of account ', l.account_id, ' were booked for message ', m.id, ' of ',
      m.units, ' units of account ', m.account_id, '.') AS fault
    FROM messaging_ledger l JOIN messaging_message m ON m.id = l.message_id
    WHERE l.kind = 'charge' AND (l.units + m.units <> 0 OR l.account_id <> m.account_id)`,
  `SELECT concat('Message ', message_id, ': it was charged ', count(*), ' times.') AS fault FROM messaging_ledger
    WHERE kind = 'charge' AND message_id IS NOT NULL GROUP BY message_id HAVING count(*) > 1`,
  `SELECT concat('Message ', m.id, ': there is no charge.') AS fault FROM messaging_message m
    WHERE NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = m.id AND l.kind = 'charge')`,
  `SELECT concat('Message ', m.id, ': its units are ', m.units, ' and ', m.refunded_units, ' refunded, its recipients make ',
      coalesce(sum(r.units), 0), ' and ', coalesce(sum(r.refunded_units), 0), '.') AS fault
    FROM messaging_message m LEFT JOIN messaging_recipient r ON r.message_id = m.id
    GROUP BY m.id, m.units, m.refunded_units
    HAVING m.units <> coalesce(sum(r.units), 0) OR m.refunded_units <> coalesce(sum(r.refunded_units), 0)`,
  `SELECT concat('Message ', message_id, ': recipient ', position, ' is ', status, ', its units are ', units, ' and ',
      refunded_units, ' refunded.') AS fault
    FROM messaging_recipient
    WHERE units < 0 OR refunded_units <> CASE WHEN status = 'failed' THEN units ELSE 0 END`,
  `SELECT concat('Refund ', l.id, ': ', l.units, ' units went to account ', l.account_id, ', no recipient of message ',
      coalesce(l.message_id, ''), ' that failed there had as many.') AS fault
    FROM messaging_ledger l WHERE l.kind = 'refund' AND NOT EXISTS (
      SELECT 1 FROM messaging_recipient r JOIN messaging_message m ON m.id = r.message_id
      WHERE r.message_id = l.message_id AND r.position = l.position AND r.status = 'failed' AND r.units = l.units
        AND m.account_id = l.account_id)`,
  `SELECT concat('Message ', message_id, ': recipient ', position, ' was refunded ', count(*), ' times.') AS fault
    FROM messaging_ledger WHERE kind = 'refund' AND message_id IS NOT NULL AND position IS NOT NULL
    GROUP BY message_id, position HAVING count(*) > 1`,
  `SELECT concat('Message ', r.message_id, ': recipient ', r.position, ' failed and was not refunded.') AS fault
    FROM messaging_recipient r WHERE r.status = 'failed' AND r.units > 0
      AND NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = concat(r.message_id, ':', r.position) AND l.kind = 'refund')`,
];

/** Proves the books: see `LedgerStore.check`. */
export function* checkBooks(): Operation<readonly string[]> {
  const faults: string[] = [];
  for (const sql of FAULTS) {
    if (faults.length >= MOST_FAULTS) break;
    const rows = yield* rowsOf(`${sql} LIMIT ?`, MOST_FAULTS - faults.length);
    faults.push(...rows.map(({ fault }) => String(fault)));
  }
  return faults;
}
