import { events } from '../../openapi/contents.js';
import { describeController } from '../../openapi/controller-description.js';
import {
  count,
  EXAMPLE,
  identifier,
  list,
  moment,
  nullable,
  object,
  oneOf,
  ref,
  text,
} from '../../schemas/builders.js';
import { OperationsController } from './operations.controller.js';

const RUNNING = {
  id: EXAMPLE.message,
  state: 'running',
  part: 'entries',
  checked: 120_000,
  findings: [],
  started_at: EXAMPLE.moment,
  ended_at: null,
};

/** OpenAPI description of the ledger's check and of the system (docs/management-api.md). */
export const operationsOpenapi = describeController(OperationsController, () => ({
  tag: { name: 'Operator: system', description: 'The check of the books, and what runs.' },
  schemas: {
    LedgerCheckStarted: object('A check that has begun.', {
      id: identifier('Of the check.', EXAMPLE.message),
      state: oneOf(['running'], 'It runs in the background.'),
    }),
    LedgerCheck: object('The last check of the books, by whichever process.', {
      id: nullable(identifier('Of the check; null: there was none.', EXAMPLE.message)),
      state: oneOf(['done', 'running', 'failed', 'none'], '`failed`: it broke off; `none`: there was none.'),
      part: nullable(oneOf(['accounts', 'entries', 'messages', 'recipients'], 'The part that it is in.')),
      checked: count('How many rows of the part it has checked.'),
      findings: list(text('A fault.'), { maxItems: 1000, description: 'Empty when the books are correct.' }),
      started_at: nullable(moment('When it began.')),
      ended_at: nullable(moment('When it ended; null while it runs.')),
    }),
    StorageFinding: object('What an examination has found.', {
      text: text('One sentence.', { example: 'All 60 indexes are there.' }),
      todo: { type: 'boolean', description: 'Whether something should be done.', example: false },
    }),
    WorkerRound: object('A background worker of the answering process.', {
      name: text('What it does.', { example: 'deliver sms' }),
      last_round: nullable(moment('The end of its last round that succeeded; null: none yet.')),
    }),
    System: object('What runs.', {
      version: text('Of this package.', { example: '1.0.0' }),
      node: text('Of Node.js.', { example: 'v24.12.0' }),
      role: oneOf(['all', 'api', 'worker', 'sessions'], 'The role of the answering process.'),
      storage: list(ref('StorageFinding')),
      workers: list(ref('WorkerRound')),
      clock_skew_ms: nullable({
        type: 'integer',
        description: 'How far the clock of the machine is ahead of the database’s; null: the database has none.',
        example: 3,
      }),
    }),
  },
  routes: {
    check: {
      operationId: 'startLedgerCheck',
      summary: 'Check the books in the background',
      description:
        'One check at a time over all processes. It goes on when the client leaves; its result is kept until the next.',
      idempotent: true,
      answer: { schema: 'LedgerCheckStarted' },
      errors: ['error.check_running'],
    },
    lastCheck: {
      operationId: 'getLedgerCheck',
      summary: 'Read how far the check has come, or its result',
      answer: { schema: 'LedgerCheck' },
    },
    stream: {
      operationId: 'streamLedgerCheck',
      summary: 'Follow the check',
      description: 'An event `check` for each change, up to the end of the check, for ten minutes at most.',
      answer: {
        description: 'Server-sent events; the data of each is a `LedgerCheck`.',
        content: events({ 'While it runs': { event: 'check', data: RUNNING } }),
      },
    },
    readSystem: {
      operationId: 'readSystem',
      summary: 'Read what runs here, and what the storage is like',
      answer: { schema: 'System' },
    },
  },
}));
