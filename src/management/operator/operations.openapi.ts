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
  tag: { name: 'Operator: system', description: 'The check of the books, and the software that runs.' },
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
        'Over all processes only one check runs at a time. It goes on when the client leaves. Its result is kept until the next check begins.',
      idempotent: true,
      answer: { schema: 'LedgerCheckStarted' },
      errors: ['error.check_running'],
    },
    lastCheck: {
      operationId: 'getLedgerCheck',
      summary: 'Read the progress of the check, or its result',
      answer: { schema: 'LedgerCheck' },
    },
    stream: {
      operationId: 'streamLedgerCheck',
      summary: 'Follow the check',
      description:
        'The stream sends an event `check` for each change, up to the end of the check, for at most ten minutes.',
      answer: {
        description: 'Server-sent events. The data of each event is a `LedgerCheck`.',
        content: events({ 'While it runs': { event: 'check', data: RUNNING } }),
      },
    },
    readSystem: {
      operationId: 'readSystem',
      summary: 'Read which software runs, and the state of the storage',
      answer: { schema: 'System' },
    },
  },
}));
