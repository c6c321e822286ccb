import type { Dialect } from '../dialects/dialect.js';

/** The tables of what carriers took and of what they say of it. */
export function carrierTables(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const text = dialect.columnType('text');
  const integer = dialect.columnType('integer');
  return [
    // One row a part that a carrier has taken. carrier_id is empty where the carrier gave none.
    `CREATE TABLE messaging_sms_part (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, attempt ${integer} NOT NULL, part ${integer} NOT NULL,
      parts ${integer} NOT NULL, route ${id} NOT NULL, carrier_id ${id} NOT NULL, number ${id} NOT NULL,
      status ${id} NOT NULL, error ${text}, recorded_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL, PRIMARY KEY (message_id, position, attempt, part))${dialect.clustered}`,
    'CREATE INDEX messaging_sms_part_carrier ON messaging_sms_part (route, carrier_id, number)',
    'CREATE INDEX messaging_sms_part_expiry ON messaging_sms_part (expires_at)',

    // Receipts that came before their part was stored, one row for each id that it may have got.
    `CREATE TABLE messaging_sms_parked (
      receipt_id ${id} NOT NULL, carrier_id ${id} NOT NULL, route ${id} NOT NULL, receipt ${text} NOT NULL,
      expires_at ${integer} NOT NULL, PRIMARY KEY (receipt_id, carrier_id))${dialect.clustered}`,
    'CREATE INDEX messaging_sms_parked_carrier ON messaging_sms_parked (route, carrier_id)',
    'CREATE INDEX messaging_sms_parked_expiry ON messaging_sms_parked (expires_at)',

    // Only there to be locked: what is recorded and what is received on one route happens one after the other.
    `CREATE TABLE messaging_sms_route (id ${id} NOT NULL PRIMARY KEY)${dialect.clustered}`,
  ];
}

/** By which the receipts of a route are counted. */
export function parkedByRoute(dialect: Dialect): string[] {
  return [
    // The receipt's route on one row of each receipt, null on its others: by it a route's receipts are counted, which have
    // up to sixteen rows each. To count them by their ids would read all of these with every receipt that nothing matches.
    `ALTER TABLE messaging_sms_parked ADD COLUMN counts_for ${dialect.columnType('id')}`,
    `CREATE INDEX messaging_sms_parked_count ON messaging_sms_parked (counts_for, expires_at, receipt_id)${dialect.indexedOnly('counts_for')}`,
  ];
}
