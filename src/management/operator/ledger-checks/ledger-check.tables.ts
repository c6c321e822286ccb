import type { Dialect } from '../../../storage/dialect.js';
import { columnTypes } from '../../../storage/schema/column-types.js';

/** The table of the checks of the books that operators start. */
export function ledgerCheckTables(dialect: Dialect): string[] {
  const { id, text, integer } = columnTypes(dialect);
  return [
    // The last check of each kind. owner: the run. lease_until: when the check counts as broken off. Null after it has ended.
    // findings: JSON, the sentences.
    `CREATE TABLE messaging_check (
      id ${id} NOT NULL PRIMARY KEY, owner ${id} NOT NULL, state ${id} NOT NULL, part ${id}, checked ${integer} NOT NULL,
      findings ${text} NOT NULL, started_at ${integer} NOT NULL, ended_at ${integer}, lease_until ${integer})${dialect.clustered}`,
  ];
}
