import { count, identifier, list, moment, nullable, object, oneOf, ref, text, yes } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';
import { KEY_SCOPES } from './permissions.js';

export const MAX_NAME = 128;
export const MAX_CIDRS = 50;
/** How many numbers a key with a list of recipients may have. */
export const MAX_RECIPIENTS = 100;

/** Values that examples share. */
export const EXAMPLE_KEY_ID = '3kTMd9uYbQ0a';
export const EXAMPLE_KEY = 'msgk_3kTMd9uYbQ0a_GxVcX2qZr8sT4uW6yA1bC3dE5fG7hJ9k_1aB2cD';

// Descriptions that requests and responses share.

export const NAME = { minLength: 1, maxLength: MAX_NAME, example: 'Boutique' };
export const SCOPES = { minItems: 1, example: ['sms:send', 'messages:read'] };
export const CIDR = 'A range of addresses in CIDR notation, or one address.';
export const CIDRS = { maxItems: MAX_CIDRS, example: ['192.0.2.0/24', '2001:db8::/32'] };
export const DAILY = 'The most units that the key and the keys that replace it may spend together in a UTC day.';
export const RECIPIENT = 'A number, E.164 digits without the plus sign.';
export const RECIPIENTS = { maxItems: MAX_RECIPIENTS, example: ['22670000001'] };
export const CONFIRM_ABOVE = 'A send that costs more units than this is refused until it is confirmed.';
export const PER_MINUTE = 'The most requests per minute, counted in each process of the service.';

const KEY = {
  id: identifier('Its public part.', EXAMPLE_KEY_ID),
  name: nullable(text('A name that people recognise.', NAME)),
  scopes: list(oneOf(KEY_SCOPES, 'A scope.'), { ...SCOPES, description: 'What the key may do.' }),
  cidrs: list(text(CIDR), { ...CIDRS, description: 'The addresses from which the key may be used; empty: all.' }),
  expires_at: nullable(moment('When the key expires; null: never.')),
  daily_units: nullable(count(`${DAILY} Null: no cap.`, { minimum: 1 })),
  per_minute: nullable(count(`${PER_MINUTE} Null: no limit.`, { minimum: 1 })),
  recipients: list(text(RECIPIENT), {
    ...RECIPIENTS,
    description: 'The only numbers that the key may send to; empty: all.',
  }),
  confirm_above: nullable(count(`${CONFIRM_ABOVE} Null: no send needs a confirmation.`)),
  created_at: moment('When it was made.'),
  last_used_at: nullable(moment('When the key was last used, to the minute; updated some minutes late.')),
  revoked_at: nullable(moment('When it was revoked.')),
  spent_today: nullable(
    count('The units that the key and the keys that it replaces have spent today (UTC); null without a cap.'),
  ),
  status: oneOf(['active', 'expired', 'revoked'], 'Whether it is valid.'),
};

/** An API key as the API returns it. Times are ISO 8601. */
export const KeyView = object('An API key.', KEY);
export interface KeyView extends TypeOf<typeof KeyView> {}

/** A new key. `key`, its clear text, is returned once; it is null in a repeat under the same Idempotency-Key. */
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
export const KeyRevoked = object('The key is no longer valid.', { success: yes });
