import { ACCOUNT_ROLES, KEY_SCOPES, OPERATOR_ROLES, PERMISSION_NAMES } from '../../accounts/keys/permissions.js';
import { count, EXAMPLE, flag, identifier, list, nullable, object, oneOf, text } from '../../schemas/builders.js';
import type { TypeOf } from '../../schemas/schema.js';

/** The account that a caller looks at. */
export const AccountSummary = object('The account; null for an operator who names none.', {
  id: identifier('Of the account.', EXAMPLE.account),
  name: text('Its name.', { example: 'Boutique' }),
  state: oneOf(['active', 'suspended', 'closed'], 'Whether it may send.'),
  balance: count('Units that are left.', { example: 1000 }),
});
export interface AccountSummary extends TypeOf<typeof AccountSummary> {}

/** What the application has mounted. */
export const CapabilitiesView = object('What the application has mounted.', {
  sms: flag('Whether there are SMS.', { example: true }),
  otp: flag('Whether there are one-time passcodes.', { example: true }),
  msgapp: list(text('A messaging-app channel.', { example: 'msgapp' })),
  webhooks: flag('Whether there are webhooks and the feed of events.', { example: true }),
});
export interface CapabilitiesView extends TypeOf<typeof CapabilitiesView> {}

/** Who is calling, and what there is for them. */
export const MeView = object('Who is calling, and what there is for them.', {
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
  account: nullable(AccountSummary),
  operator: nullable(oneOf(OPERATOR_ROLES, 'The role of an operator; null for anybody else.')),
  permissions: list(oneOf(PERMISSION_NAMES, 'What the caller may.')),
  capabilities: CapabilitiesView,
  locale: oneOf(['fr', 'en'], 'The language of texts.'),
});
export interface MeView extends TypeOf<typeof MeView> {}
