import type { Dialect } from '../dialects/dialect.js';

/** What listings go by, so that none has to read or count all that it is about. */
export function boundedReads(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const integer = dialect.columnType('integer');
  return [
    // How many recipients a message has. Most have one: only the others are written again.
    `ALTER TABLE messaging_message ADD COLUMN recipients ${integer} NOT NULL DEFAULT 1`,
    `UPDATE messaging_message SET recipients =
      (SELECT max(r.position) + 1 FROM messaging_recipient r WHERE r.message_id = messaging_message.id)
      WHERE EXISTS (SELECT 1 FROM messaging_recipient r WHERE r.message_id = messaging_message.id AND r.position > 0)`,

    // One row a recipient of a text: what was sent to a number. A table of its own, as the recipients' rows change several
    // times and PostgreSQL writes all indexes of a row with each change.
    `CREATE TABLE messaging_sent_to (
      account_id ${id} NOT NULL, channel ${id} NOT NULL, number ${id} NOT NULL, sent_at ${integer} NOT NULL,
      message_id ${id} NOT NULL, position ${integer} NOT NULL,
      PRIMARY KEY (account_id, channel, number, sent_at, message_id))${dialect.clustered}`,
    // NOT EXISTS: MariaDB keeps what an interrupted migration has done, and the next start runs it again.
    `INSERT INTO messaging_sent_to (account_id, channel, number, sent_at, message_id, position)
      SELECT m.account_id, m.channel, r.number, m.accepted_at, m.id, r.position
      FROM messaging_message m JOIN messaging_recipient r ON r.message_id = m.id
      WHERE m.kind = 'text' AND NOT EXISTS (SELECT 1 FROM messaging_sent_to s WHERE s.account_id = m.account_id
        AND s.channel = m.channel AND s.number = r.number AND s.sent_at = m.accepted_at AND s.message_id = m.id)`,

    // tries: how many attempts of a recipient are kept. tried: which of them an entry is, from 1; null for other entries.
    `ALTER TABLE messaging_recipient ADD COLUMN tries ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE messaging_trail ADD COLUMN tried ${integer}`,
    'CREATE INDEX messaging_trail_attempt ON messaging_trail (message_id, position, tried)',
    dialect.dropIndex('messaging_trail_message', 'messaging_trail'),

    // The sum of an account's top-ups and adjustments. With all refunds that may come the balance does not exceed it.
    `ALTER TABLE messaging_account ADD COLUMN posted ${integer} NOT NULL DEFAULT 0`,
    `UPDATE messaging_account SET posted = (SELECT coalesce(sum(l.units), 0) FROM messaging_ledger l
      WHERE l.account_id = messaging_account.id AND l.kind IN ('topup', 'adjust'))`,

    'CREATE INDEX messaging_account_listing ON messaging_account (created_at, id)',
    'CREATE INDEX messaging_api_key_listing ON messaging_api_key (account_id, created_at, id)',
    dialect.dropIndex('messaging_api_key_account', 'messaging_api_key'),
  ];
}
