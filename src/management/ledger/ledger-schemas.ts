import { LEDGER_KINDS } from '../../billing/ledger-entry.js';
import { count, EXAMPLE, identifier, moment, nullable, object, oneOf, text } from '../../schemas/builders.js';
import type { Schema, Schemas } from '../../schemas/schema.js';
import { pageSchema } from '../schemas.js';

export const KIND = oneOf(LEDGER_KINDS, 'The cause of the entry.');

const UNITS: Schema = { type: 'integer', description: 'Positive: added to the balance; negative: taken from it.' };

/** The schema of an entry. */
export const LEDGER_ENTRY: Schemas = {
  LedgerEntry: object('An entry of the ledger.', {
    id: identifier('Of the entry; the reference of a top-up.', 'invoice-2026-17'),
    kind: KIND,
    units: { ...UNITS, example: 1000 },
    message_id: nullable(identifier('The message of a charge or a refund.', EXAMPLE.message)),
    position: nullable(count('The recipient that units went back for, by its place in the send.')),
    note: nullable(text('What was noted with a top-up or an adjustment.')),
    at: moment('When it was posted.'),
  }),
};

/** Schemas of the ledger. */
export const LEDGER_SCHEMAS: Schemas = {
  ...LEDGER_ENTRY,
  LedgerPage: pageSchema('Entries, the newest first.', 'LedgerEntry'),
};
