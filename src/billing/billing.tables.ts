import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The ledger. */
export function billingTables(dialect: Dialect): string[] {
  const { id, text, integer } = columnTypes(dialect);
  // Most entries are charges. If the database supports partial indexes, this index leaves them out.
  const notCharges = dialect.indexedIf("kind <> 'charge'");
  return [
    // The id of a charge is the message's id. The id of a refund is the message's id and the recipient's position. So the
    // primary key prevents a second charge or refund.
    `CREATE TABLE messaging_ledger (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, kind ${id} NOT NULL, units ${integer} NOT NULL,
      message_id ${id}, position ${integer}, note ${text}, posted_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_ledger_account ON messaging_ledger (account_id, posted_at, id)',
    `CREATE INDEX messaging_ledger_kind ON messaging_ledger (account_id, kind, posted_at, id)${notCharges}`,
  ];
}
