import type { Dialect } from '../../storage/dialect.js';
import { columnTypes } from '../../storage/schema/column-types.js';

/**
 * The tables of the usage of accounts, which is rolled up from the ledger, and of the counts of verified and refused one-time
 * passcodes.
 */
export function usageTables(dialect: Dialect): string[] {
  const { id, name, integer, small } = columnTypes(dialect);
  return [
    // done_until: all hours before this time are rolled up. claimed_until: until when a process has claimed the account to roll
    // it up.
    `CREATE TABLE messaging_usage_account (
      account_id ${id} NOT NULL PRIMARY KEY, done_until ${integer} NOT NULL, claimed_until ${integer} NOT NULL)${dialect.clustered}`,
    // One row per hour in which an account has entries.
    // hour: its start, milliseconds since the epoch.
    // entries, units: the number and the sum of the charges and refunds that it was rolled up from.
    `CREATE TABLE messaging_usage_hour (
      account_id ${id} NOT NULL, hour ${integer} NOT NULL, entries ${integer} NOT NULL, units ${integer} NOT NULL,
      PRIMARY KEY (account_id, hour))${dialect.clustered}`,
    // place: counts the rows of an hour. signature, key_id: '' for none. is_code: 1 for one-time passcodes.
    `CREATE TABLE messaging_usage (
      account_id ${id} NOT NULL, hour ${integer} NOT NULL, place ${integer} NOT NULL, channel ${id} NOT NULL,
      country ${id} NOT NULL, signature ${name} NOT NULL, key_id ${id} NOT NULL, is_code ${small} NOT NULL,
      charged ${integer} NOT NULL, refunded ${integer} NOT NULL, sends ${integer} NOT NULL, recipients ${integer} NOT NULL,
      PRIMARY KEY (account_id, hour, place))${dialect.clustered}`,

    // what: verified or refused. name: the country, or the rule that refused. day: its start.
    `CREATE TABLE messaging_code_count (
      account_id ${id} NOT NULL, day ${integer} NOT NULL, what ${id} NOT NULL, name ${id} NOT NULL, count ${integer} NOT NULL,
      PRIMARY KEY (account_id, day, what, name))${dialect.clustered}`,
  ];
}
