import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';
import { CHANGING } from '../storage/schema/upkeep.js';

/** The log of events. */
export function eventTables(dialect: Dialect): string[] {
  const { id, text, integer, small, serial } = columnTypes(dialect);
  return [
    // One row per account.
    // id: the account's.
    // sequence: the number of its last event.
    // began: the number of the first event since the log was last switched on.
    // earliest: the lowest number that is kept, or the next number if none is kept.
    // recording: 1 while changes are recorded, 2 after the log was switched off, 0 before it was ever on.
    // used_at: when the log was last switched on or read.
    // epochs: JSON of `[{ from, mark }]`, the stretches of the log that have events, with the random part of their ids. Null
    //   before the log was ever on.
    `CREATE TABLE messaging_event_counter (
      id ${id} NOT NULL PRIMARY KEY, sequence ${integer} NOT NULL, began ${integer} NOT NULL DEFAULT 1,
      earliest ${integer} NOT NULL, recording ${small} NOT NULL, used_at ${integer} NOT NULL,
      epochs ${text})${dialect.clustered}`,
    // A new number is in no index. With half of each page free, the change stays on the page (HOT).
    ...dialect.upkeep('messaging_event_counter', { fillfactor: 50, ...CHANGING }),

    // earlier: how many events with the numbers directly below `sequence` the row holds in addition. `at` is the time of the
    //   latest.
    `CREATE TABLE messaging_event (
      account_id ${id} NOT NULL, sequence ${integer} NOT NULL, earlier ${small} NOT NULL DEFAULT 0, type ${id} NOT NULL,
      at ${integer} NOT NULL, data ${text} NOT NULL, PRIMARY KEY (account_id, sequence))`,
    // To read some types without reading the others.
    'CREATE INDEX messaging_event_type ON messaging_event (account_id, type, sequence)',

    // Events without numbers yet, of transactions that lock no counter. They live for a moment.
    `CREATE TABLE messaging_event_mark (
      id ${serial} PRIMARY KEY, account_id ${id} NOT NULL, type ${id} NOT NULL, at ${integer} NOT NULL, data ${text} NOT NULL)`,
    ...dialect.upkeep('messaging_event_mark', CHANGING),
  ];
}
