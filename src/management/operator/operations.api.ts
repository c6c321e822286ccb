import { LEDGER_PARTS } from '../../billing/ledger.api.js';
import {
  count,
  EXAMPLE,
  flag,
  identifier,
  integer,
  list,
  moment,
  nullable,
  object,
  oneOf,
  ref,
  text,
} from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

/** A check of the books that has begun. */
export const LedgerCheckStarted = object('A check that has begun.', {
  id: identifier('Of the check.', EXAMPLE.message),
  state: oneOf(['running'], 'It runs in the background.'),
});
export interface LedgerCheckStarted extends TypeOf<typeof LedgerCheckStarted> {}

/** The last check of the books. */
export const LedgerCheckView = object('The last check of the books, by whichever process.', {
  id: nullable(identifier('Of the check; null: there was none.', EXAMPLE.message)),
  state: oneOf(['done', 'running', 'failed', 'none'], '`failed`: it broke off; `none`: there was none.'),
  part: nullable(oneOf(LEDGER_PARTS, 'The part that it is in.')),
  checked: count('How many rows of the part it has checked.'),
  findings: list(text('A fault.'), { maxItems: 1000, description: 'Empty when the books are correct.' }),
  started_at: nullable(moment('When it began.')),
  ended_at: nullable(moment('When it ended; null while it runs.')),
});
export interface LedgerCheckView extends TypeOf<typeof LedgerCheckView> {}

/** What an examination of the storage has found. */
export const FindingView = object('What an examination has found.', {
  text: text('One sentence.', { example: 'All 60 indexes are there.' }),
  todo: flag('Whether something should be done.', { example: false }),
});
export interface FindingView extends TypeOf<typeof FindingView> {}

/** A background worker of the answering process. */
export const WorkerView = object('A background worker of the answering process.', {
  name: text('What it does.', { example: 'deliver sms' }),
  last_round: nullable(moment('The end of its last round that succeeded; null: none yet.')),
});
export interface WorkerView extends TypeOf<typeof WorkerView> {}

/** What runs here. */
export const SystemView = object('What runs.', {
  version: text('Of this package.', { example: '1.0.0' }),
  node: text('Of Node.js.', { example: 'v24.12.0' }),
  role: oneOf(['all', 'api', 'worker', 'sessions'], 'The role of the answering process.'),
  storage: list(ref<FindingView>({ StorageFinding: FindingView })),
  workers: list(ref<WorkerView>({ WorkerRound: WorkerView })),
  clock_skew_ms: nullable(
    integer('How far the clock of the machine is ahead of the database’s; null: the database has none.', {
      example: 3,
    }),
  ),
});
export interface SystemView extends TypeOf<typeof SystemView> {}
