import { count, EXAMPLE, identifier, object, oneOf } from '../schemas/builders.js';
import type { TypeOf } from '../schemas/schema.js';

/** The balance of an account, as `GET /balance` answers it. */
export const Balance = object('The balance of an account.', {
  userID: identifier('The account.', EXAMPLE.account),
  balance: count('Units left. Every channel is paid from them.', { example: 998 }),
  unit: oneOf(['sms_units'], 'The unit of the balance.'),
});
export interface Balance extends TypeOf<typeof Balance> {}
