import {
  count,
  EXAMPLE,
  identifier,
  integer,
  moment,
  nullable,
  object,
  oneOf,
  page,
  text,
} from '../schemas/builders.js';
import { type TypeOf } from '../schemas/schema.js';

export const LEDGER_KINDS = ['topup', 'adjust', 'charge', 'refund'] as const;

/** The cause of an entry. */
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** The parts of a check, in order. */
export const LEDGER_PARTS = ['accounts', 'entries', 'messages', 'recipients'] as const;

/** A part of a check of the books. */
export type LedgerPart = (typeof LEDGER_PARTS)[number];

/** An entry of the ledger as the API returns it. */
export const LedgerView = object('An entry of the ledger.', {
  id: identifier('The id of the entry; for a top-up or an adjustment, its reference.', 'invoice-2026-17'),
  kind: oneOf(LEDGER_KINDS, 'The cause of the entry.'),
  units: integer('Positive: added to the balance; negative: taken from it.', { example: 1000 }),
  message_id: nullable(identifier('The message of a charge or a refund.', EXAMPLE.message)),
  position: nullable(count('The recipient of a refund, by its position in the send, from 0.')),
  note: nullable(text('The note of a top-up or an adjustment.')),
  at: moment('When it was posted.'),
});
export interface LedgerView extends TypeOf<typeof LedgerView> {}

/** A page of entries, the newest first. */
export const LedgerPage = page<LedgerView>('Entries, the newest first.', { LedgerEntry: LedgerView });
export interface LedgerPage extends TypeOf<typeof LedgerPage> {}
