import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';
import { CHANGING } from '../storage/schema/upkeep.js';

/** The log of events, and what its counts and thresholds need on messages and accounts. */
export function eventTables(dialect: Dialect): string[] {
  const { id, text, integer, small, serial } = columnTypes(dialect);
  return [
    // One row per account; id: the account's. sequence: the number of its last event. began: the first number since it was last
    // switched on. earliest: the lowest number that is kept, or given next. recording: 1 while changes are recorded, 2 after it
    // was switched off, 0 before it was ever on. used_at: when it was last switched on or read.
    `CREATE TABLE messaging_event_counter (
      id ${id} NOT NULL PRIMARY KEY, sequence ${integer} NOT NULL, began ${integer} NOT NULL DEFAULT 1,
      earliest ${integer} NOT NULL, recording ${small} NOT NULL, used_at ${integer} NOT NULL)${dialect.clustered}`,
    `CREATE TABLE messaging_event (
      account_id ${id} NOT NULL, sequence ${integer} NOT NULL, type ${id} NOT NULL, at ${integer} NOT NULL,
      data ${text} NOT NULL, PRIMARY KEY (account_id, sequence))`,
    // To read some types without reading the others.
    'CREATE INDEX messaging_event_type ON messaging_event (account_id, type, sequence)',
    // Events without numbers yet, of transactions that lock no counter.
    `CREATE TABLE messaging_event_mark (
      id ${serial} PRIMARY KEY, account_id ${id} NOT NULL, type ${id} NOT NULL, at ${integer} NOT NULL, data ${text} NOT NULL)`,
    // settled: how many recipients need no further attempt or report; counted while the account records. settled_since: the
    // counter's `began` then, so that a count of an earlier recording, which has missed some, is not continued.
    `ALTER TABLE messaging_message ADD COLUMN settled ${integer}`,
    `ALTER TABLE messaging_message ADD COLUMN settled_since ${integer}`,
    // low_below: the threshold of `balance.low`. low: 1 where it was crossed and no event says so yet, 2 where one does, null
    // above it.
    `ALTER TABLE messaging_account ADD COLUMN low_below ${integer}`,
    `ALTER TABLE messaging_account ADD COLUMN low ${integer}`,
    `CREATE INDEX messaging_account_low ON messaging_account (low)${dialect.indexedOnly('low')}`,
    // A change of a number is one of no index, and stays on its page; marks live for a moment.
    ...dialect.upkeep('messaging_event_counter', { fillfactor: 50, ...CHANGING }),
    ...dialect.upkeep('messaging_event_mark', CHANGING),
  ];
}

/** Rows that hold several events. */
export function eventRuns(dialect: Dialect): string[] {
  // earlier: how many events with the numbers directly below `sequence` the row holds besides; `at` is that of the latest.
  return [`ALTER TABLE messaging_event ADD COLUMN earlier ${columnTypes(dialect).small} NOT NULL DEFAULT 0`];
}

/** The random parts of the ids of events. */
export function eventEpochs(dialect: Dialect): string[] {
  // epochs: JSON of `[{ from, mark }]`, the stretches of the log that have events; null before the log was ever on.
  return [`ALTER TABLE messaging_event_counter ADD COLUMN epochs ${columnTypes(dialect).text}`];
}
