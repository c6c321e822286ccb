import { describeController } from '../openapi/controller-description.js';
import { count, EXAMPLE, identifier, object, oneOf } from '../openapi/schemas.js';
import { BalanceController } from './balance.controller.js';

/** OpenAPI description of the balance (docs/http-api.md). */
export const balanceOpenapi = describeController(BalanceController, () => ({
  tag: { name: 'Balance', description: 'The prepaid units that an account has left.' },
  schemas: {
    Balance: object('The balance of an account.', {
      userID: identifier('The account.', EXAMPLE.account),
      balance: count('Units left. Every channel is paid from them.', { example: 998 }),
      unit: oneOf(['sms_units'], 'The unit of the balance.'),
    }),
  },
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
