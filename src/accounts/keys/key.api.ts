import { count, identifier, list, moment, nullable, object, oneOf, ref, text, yes } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';
import { KEY_SCOPES } from './permissions.js';

export const MAX_NAME = 128;
export const MAX_CIDRS = 50;

/** Values that examples share. */
export const EXAMPLE_KEY_ID = '3kTMd9uYbQ0a';
export const EXAMPLE_KEY = 'msgk_3kTMd9uYbQ0a_GxVcX2qZr8sT4uW6yA1bC3dE5fG7hJ9k_1aB2cD';

// What requests and responses say about a key.

export const NAME = { minLength: 1, maxLength: MAX_NAME, example: 'Boutique' };
export const SCOPES = { minItems: 1, example: ['sms:send', 'messages:read'] };
export const CIDR = 'A range of addresses in CIDR notation, or one address.';
export const CIDRS = { maxItems: MAX_CIDRS, example: ['192.0.2.0/24', '2001:db8::/32'] };
export const DAILY = 'The most units that it may spend on a day (UTC), together with the keys that replace it.';
export const PER_MINUTE = 'The most requests per minute, in each process of the service.';

const KEY = {
  id: identifier('Its public part.', EXAMPLE_KEY_ID),
  name: nullable(text('For people.', NAME)),
  scopes: list(oneOf(KEY_SCOPES, 'A scope.'), { ...SCOPES, description: 'What it may do.' }),
  cidrs: list(text(CIDR), { ...CIDRS, description: 'The addresses from which it may be used; empty: all.' }),
  expires_at: nullable(moment('Its end; null: none.')),
  daily_units: nullable(count(`${DAILY} Null: no cap.`, { minimum: 1 })),
  per_minute: nullable(count(`${PER_MINUTE} Null: no limit.`, { minimum: 1 })),
  created_at: moment('When it was made.'),
  last_used_at: nullable(moment('When it was last used, to the minute; some minutes late.')),
  revoked_at: nullable(moment('When it was revoked.')),
  spent_today: nullable(count('Units that it has spent today (UTC), with those that it replaces; null without a cap.')),
  status: oneOf(['active', 'expired', 'revoked'], 'Whether it is valid.'),
};

/** An API key as the API gives it. Moments are ISO 8601. */
export const KeyView = object('An API key.', KEY);
export interface KeyView extends TypeOf<typeof KeyView> {}

/** A new key: `key` in clear text is given once; null in a repeat under the same Idempotency-Key. */
export const NewKeyView = object('A new API key. It is shown only here.', {
  ...KEY,
  key: nullable(text('The key in clear text; null in a repeat.', { example: EXAMPLE_KEY })),
});
export interface NewKeyView extends TypeOf<typeof NewKeyView> {}

/** A page of keys, the newest first. */
export const KeyPage = object('A page of keys.', {
  items: list(ref<KeyView>({ Key: KeyView })),
  next_cursor: nullable(text('The cursor of the next page; null on the last one.')),
});
export interface KeyPage extends TypeOf<typeof KeyPage> {}

/** The answer to a revocation. */
export const KeyRevoked = object('The key is valid no more.', { success: yes });
