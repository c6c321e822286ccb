import { ACCOUNT_ROLES, KEY_SCOPES, OPERATOR_ROLES, PERMISSIONS } from '../../accounts/keys/permissions.js';
import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { count, EXAMPLE, identifier, list, nullable, object, oneOf, text } from '../../schemas/builders.js';
import { MeController } from './me.controller.js';
import { MeQuery } from './me.dto.js';

const ME = object('Who is calling, and what there is for them.', {
  user: nullable(
    object('The user of a token; null for a key.', {
      subject: text('Who it is.', { example: 'awa@example.com' }),
      role: oneOf([...ACCOUNT_ROLES, ...OPERATOR_ROLES], 'What the user may.'),
    }),
  ),
  key: nullable(
    object('The key; null for a user.', {
      id: identifier('Its public part.', '4fzyo82mvyr1'),
      name: nullable(text('Its name.')),
      scopes: list(oneOf(KEY_SCOPES, 'What it may be used for.')),
    }),
  ),
  account: nullable(
    object('The account; null for an operator who names none.', {
      id: identifier('Of the account.', EXAMPLE.account),
      name: text('Its name.', { example: 'Boutique' }),
      state: oneOf(['active', 'suspended', 'closed'], 'Whether it may send.'),
      balance: count('Units that are left.', { example: 1000 }),
    }),
  ),
  operator: nullable(oneOf(OPERATOR_ROLES, 'The role of an operator; null for anybody else.')),
  permissions: list(oneOf(Object.keys(PERMISSIONS), 'What the caller may.')),
  capabilities: object('What the application has mounted.', {
    sms: { type: 'boolean', description: 'Whether there are SMS.', example: true },
    otp: { type: 'boolean', description: 'Whether there are one-time passcodes.', example: true },
    msgapp: list(text('A messaging-app channel.', { example: 'msgapp' })),
    webhooks: { type: 'boolean', description: 'Whether there are webhooks and the feed of events.', example: true },
  }),
  locale: oneOf(['fr', 'en'], 'The language of texts.'),
});

/** OpenAPI description of the route that tells callers who they are (docs/management-api.md). */
export const meOpenapi = describeController(MeController, () => ({
  tag: { name: 'Me', description: 'Who is calling, and what there is for them.' },
  schemas: { Me: ME },
  errors: ['error.role_missing'],
  routes: {
    me: {
      operationId: 'getMe',
      summary: 'See who is calling',
      query: fieldsOf(MeQuery, { account: 'The account that an operator looks at; of no effect for anybody else.' }),
      answer: { schema: 'Me' },
      errors: ['error.account_not_found'],
    },
  },
}));
