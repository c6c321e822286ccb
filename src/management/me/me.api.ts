import { ACCOUNT_STATES } from '../../accounts/account.api.js';
import { ACCOUNT_ROLES, KEY_SCOPES, OPERATOR_ROLES, PERMISSION_NAMES } from '../../accounts/keys/permissions.js';
import { count, EXAMPLE, flag, identifier, list, nullable, object, oneOf, ref, text } from '../../schemas/builders.js';
import type { TypeOf } from '../../schemas/schema.js';

/** The account that a caller looks at. */
export const AccountSummary = object('The account. Null for an operator who names none.', {
  id: identifier('The id of the account.', EXAMPLE.account),
  name: text('Its name.', { example: 'Boutique' }),
  state: oneOf(ACCOUNT_STATES, 'Whether it may send.'),
  balance: count('Units that are left.', { example: 1000 }),
});
export interface AccountSummary extends TypeOf<typeof AccountSummary> {}

/** The capabilities that the application has mounted. */
export const CapabilitiesView = object('The capabilities that the application has mounted.', {
  sms: flag('Whether SMS are mounted.', { example: true }),
  otp: flag('Whether one-time passcodes are mounted.', { example: true }),
  msgapp: list(text('A messaging-app channel.', { example: 'msgapp' })),
  webhooks: flag('Whether webhooks and the feed of events are mounted.', { example: true }),
  hooks: flag('Whether log-in hooks are mounted.', { example: true }),
  campaigns: flag('Whether campaigns are mounted.', { example: true }),
});
export interface CapabilitiesView extends TypeOf<typeof CapabilitiesView> {}

/** A reason why messages or calls wait. */
export const StandstillView = object('A reason why messages or calls of webhooks wait.', {
  kind: oneOf(
    ['deliveries_paused', 'no_route', 'webhook_failing'],
    'An operator has paused deliveries, every route of a channel rests or is down, or an endpoint does not take its calls.',
  ),
  channel: nullable(text('The channel. Null for all channels, and for an endpoint.', { example: 'sms' })),
  target: nullable(text('The account that is paused, null for all; or the id of the endpoint. Null for a channel.')),
});
export interface StandstillView extends TypeOf<typeof StandstillView> {}

/** The home market, whose numbers people write without a calling code. */
export const HomeView = object('The home market, whose numbers people write without a calling code.', {
  country: text('The country, ISO 3166 alpha-2.', { example: 'BF' }),
  calling_code: text('Its calling code.', { example: '226' }),
  national_lengths: list(count('How many digits its numbers have after the calling code.', { example: 8 })),
});
export interface HomeView extends TypeOf<typeof HomeView> {}

/** The caller, with its rights and the mounted capabilities. */
export const MeView = object('The caller, with its rights and the mounted capabilities.', {
  user: nullable(
    object('The user of a token. Null for a key.', {
      subject: text('The name of the user in the audit log.', { example: 'awa@example.com' }),
      role: oneOf([...ACCOUNT_ROLES, ...OPERATOR_ROLES], 'The role of the user.'),
    }),
  ),
  key: nullable(
    object('The key. Null for a user.', {
      id: identifier('Its public part.', '4fzyo82mvyr1'),
      name: nullable(text('Its name.')),
      scopes: list(oneOf(KEY_SCOPES, 'A scope of the key.')),
    }),
  ),
  account: nullable(AccountSummary),
  operator: nullable(oneOf(OPERATOR_ROLES, 'The role of an operator. Null for other callers.')),
  permissions: list(oneOf(PERMISSION_NAMES, 'A permission of the caller.')),
  capabilities: CapabilitiesView,
  locale: oneOf(['fr', 'en'], 'The language of texts.'),
  home: nullable(HomeView),
  standstills: list(ref<StandstillView>({ Standstill: StandstillView })),
});
export interface MeView extends TypeOf<typeof MeView> {}
