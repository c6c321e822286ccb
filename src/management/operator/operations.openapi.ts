import { events } from '../../openapi/contents.js';
import { describeController } from '../../openapi/controller-description.js';
import { EXAMPLE } from '../../schemas/builders.js';
import { FindingView, LedgerCheckStarted, LedgerCheckView, SystemView, WorkerView } from './operations.api.js';
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
    LedgerCheckStarted,
    LedgerCheck: LedgerCheckView,
    StorageFinding: FindingView,
    WorkerRound: WorkerView,
    System: SystemView,
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
