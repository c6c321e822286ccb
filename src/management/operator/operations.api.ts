import { LEDGER_PARTS } from '../../billing/ledger.api.js';
import { PROCESS_ROLES } from '../../outbox/delivery/process-role.api.js';
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
  id: identifier('The check.', EXAMPLE.message),
  state: oneOf(['running'], 'It runs in the background.'),
});
export interface LedgerCheckStarted extends TypeOf<typeof LedgerCheckStarted> {}

/** The last check of the books. */
export const LedgerCheckView = object('The last check of the books, whatever process ran it.', {
  id: nullable(identifier('The check. Null: there was none.', EXAMPLE.message)),
  state: oneOf(['done', 'running', 'failed', 'none'], '`failed`: the check broke off. `none`: there was no check.'),
  part: nullable(oneOf(LEDGER_PARTS, 'The part that the check is in.')),
  checked: count('How many rows of the part the check has read.'),
  findings: list(text('A fault.'), { maxItems: 1000, description: 'Empty if the books are correct.' }),
  started_at: nullable(moment('When it began.')),
  ended_at: nullable(moment('When it ended. Null while it runs.')),
});
export interface LedgerCheckView extends TypeOf<typeof LedgerCheckView> {}

/** A finding of an examination of the storage. */
export const FindingView = object('A finding of an examination of the storage.', {
  text: text('One sentence.', { example: 'All 60 indexes are there.' }),
  todo: flag('Whether something should be done.', { example: false }),
});
export interface FindingView extends TypeOf<typeof FindingView> {}

/** A background worker of the answering process. */
export const WorkerView = object('A background worker of the answering process.', {
  name: text('The work of the worker.', { example: 'deliver sms' }),
  last_round: nullable(moment('The end of its last successful round. Null: there was none yet.')),
});
export interface WorkerView extends TypeOf<typeof WorkerView> {}

/** The software that runs here. */
export const SystemView = object('The software that runs.', {
  version: text('The version of this package.', { example: '1.0.0' }),
  node: text('The version of Node.js.', { example: 'v24.12.0' }),
  role: oneOf(PROCESS_ROLES, 'The role of the answering process.'),
  storage: list(ref<FindingView>({ StorageFinding: FindingView })),
  workers: list(ref<WorkerView>({ WorkerRound: WorkerView })),
  clock_skew_ms: nullable(
    integer('How far the clock of the machine is ahead of the database’s clock. Null: the database has none.', {
      example: 3,
    }),
  ),
});
export interface SystemView extends TypeOf<typeof SystemView> {}
