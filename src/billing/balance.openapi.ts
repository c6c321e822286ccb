import { describeController } from '../openapi/controller-description.js';
import { accountNotFound, EXAMPLE_ACCOUNT } from '../openapi/examples.js';
import { answerObject, count, identifier, json, ref } from '../openapi/schemas.js';
import { BalanceController } from './balance.controller.js';

/** How the document describes the balance (contract.md section 5). */
export const balanceOpenapi = describeController(BalanceController, ({ userTokens }) => ({
  tag: { name: 'Balance', description: 'What an account has left of its prepaid units.' },
  schemas: {
    Balance: answerObject('What an account has left.', {
      userID: identifier('The account.'),
      balance: count('Units left. Every channel is paid from them.'),
      unit: { type: 'string', enum: ['sms_units'], description: 'What is counted.' },
    }),
  },
  routes: {
    balance: {
      operationId: 'getBalance',
      summary: 'Read the balance',
      description: 'Units left on the caller’s account. A send is charged the moment it is accepted.',
      answer: {
        description: 'The balance.',
        content: json(ref('Balance'), {
          balance: { value: { userID: EXAMPLE_ACCOUNT, balance: 998, unit: 'sms_units' } },
        }),
      },
      errors: accountNotFound(userTokens),
    },
  },
}));
