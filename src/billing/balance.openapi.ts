import { describeController } from '../openapi/controller-description.js';
import { Balance } from './balance.api.js';
import { BalanceController } from './balance.controller.js';

/** OpenAPI description of the balance (docs/http-api.md). */
export const balanceOpenapi = describeController(BalanceController, () => ({
  tag: { name: 'Balance', description: 'The prepaid units that an account has left.' },
  schemas: { Balance },
  routes: {
    balance: {
      operationId: 'getBalance',
      summary: 'Read the balance',
      description: 'Units left on the caller’s account. A send is charged when it is accepted.',
      answer: { schema: 'Balance' },
      errors: ['error.account_not_found'],
    },
  },
}));
