import { MAX_CIDRS, MAX_DAILY_UNITS, MAX_NAME, MAX_PER_MINUTE } from '../../accounts/keys/key-definition.js';
import { KEY_SCOPES } from '../../accounts/keys/permissions.js';
import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE } from '../../openapi/listings.js';
import {
  count,
  EXAMPLE,
  identifier,
  list,
  moment,
  nullable,
  object,
  oneOf,
  ref,
  text,
  yes,
} from '../../schemas/builders.js';
import type { Schema } from '../../schemas/schema.js';
import { PageQuery } from '../list-query.js';
import { MAX_GRACE_HOURS } from './key-service.js';
import { KeysController } from './keys.controller.js';
import { CreateKeyBody, RotateKeyBody } from './keys.dto.js';

const EXAMPLE_KEY_ID = '3kTMd9uYbQ0a';
const EXAMPLE_KEY = 'msgk_3kTMd9uYbQ0a_GxVcX2qZr8sT4uW6yA1bC3dE5fG7hJ9k_1aB2cD';

const NAME: Schema = { minLength: 1, maxLength: MAX_NAME, example: 'Boutique' };
const SCOPES: Schema = list(oneOf(KEY_SCOPES, 'A scope.'), { minItems: 1, example: ['sms:send', 'messages:read'] });
const CIDRS: Schema = list(text('A range of addresses in CIDR notation, or one address.'), {
  maxItems: MAX_CIDRS,
  example: ['192.0.2.0/24', '2001:db8::/32'],
});
const DAILY = 'The most units that it may spend on a day (UTC), together with the keys that replace it.';
const PER_MINUTE = 'The most requests per minute, in each process of the service.';

const FIELDS = {
  id: identifier('Its public part.', EXAMPLE_KEY_ID),
  name: nullable(text('For people.', NAME)),
  scopes: { ...SCOPES, description: 'What it may do.' },
  cidrs: { ...CIDRS, description: 'The addresses from which it may be used; empty: all.' },
  expires_at: nullable(moment('Its end; null: none.')),
  daily_units: nullable(count(`${DAILY} Null: no cap.`, { minimum: 1 })),
  per_minute: nullable(count(`${PER_MINUTE} Null: no limit.`, { minimum: 1 })),
  created_at: moment('When it was made.'),
  last_used_at: nullable(moment('When it was last used, to the minute; some minutes late.')),
  revoked_at: nullable(moment('When it was revoked.')),
  spent_today: nullable(count('Units that it has spent today (UTC), with those that it replaces; null without a cap.')),
  status: oneOf(['active', 'expired', 'revoked'], 'Whether it is valid.'),
};

const WITH_KEY = {
  ...FIELDS,
  key: nullable(text('The key in clear text; null in a repeat.', { example: EXAMPLE_KEY })),
};

/** OpenAPI description of API keys (docs/keys.md). */
export const keysOpenapi = describeController(KeysController, () => ({
  tag: { name: 'Keys', description: 'The API keys of the account. Only users may use these routes.' },
  parameters: { id: { description: 'The public part of the key.', example: EXAMPLE_KEY_ID } },
  schemas: {
    Key: object('An API key.', FIELDS),
    NewKey: object('A new API key. It is shown only here.', WITH_KEY),
    KeyPage: object('A page of keys.', {
      items: list(ref('Key')),
      next_cursor: nullable(text('The cursor of the next page; null on the last one.')),
    }),
    KeyRevoked: object('The key is valid no more.', { success: yes }),
  },
  routes: {
    list: {
      operationId: 'listKeys',
      summary: 'List API keys, newest first',
      query: fieldsOf(PageQuery, PAGE),
      answer: { schema: 'KeyPage' },
      errors: ['error.invalid_cursor', 'error.account_not_found'],
    },
    create: {
      operationId: 'createKey',
      summary: 'Make an API key',
      description: 'The answer has the key, which no later one has; a repeat under the same Idempotency-Key has null.',
      body: {
        name: 'CreateKey',
        description: 'What the key may be used for. It cannot be changed later.',
        ...fieldsOf(CreateKeyBody, {
          name: text('For people.', NAME),
          scopes: { ...SCOPES, description: 'What it may do. Default: all.' },
          cidrs: { ...CIDRS, minItems: 1, description: 'The addresses from which it may be used. Default: all.' },
          expires_at: text('Its end, in the future, ISO 8601. Default: none.', { example: EXAMPLE.moment }),
          daily_units: count(`${DAILY} Default: no cap.`, { minimum: 1, maximum: MAX_DAILY_UNITS }),
          per_minute: count(`${PER_MINUTE} Default: no limit.`, { minimum: 1, maximum: MAX_PER_MINUTE }),
        }),
        examples: {
          'For everything': { name: 'Boutique' },
          'For sends of one server': { name: 'Caisse', scopes: ['sms:send'], cidrs: ['192.0.2.7'], daily_units: 500 },
        },
      },
      idempotent: true,
      answer: { schema: 'NewKey' },
      errors: [
        ...invalid('name', 'scopes', 'cidrs', 'expires_at'),
        ...['scopes', 'cidrs'].map((field) => ({ code: 'error.field_not_list', values: { field } }) as const),
        { code: 'error.field_not_integer', values: { field: 'daily_units', min: 1, max: MAX_DAILY_UNITS } },
        { code: 'error.field_not_integer', values: { field: 'per_minute', min: 1, max: MAX_PER_MINUTE } },
        'error.account_not_found',
      ],
    },
    rotate: {
      operationId: 'rotateKey',
      summary: 'Replace an API key',
      description:
        'The new key has the same name and limits, and goes on with what was spent today. The old one stays valid for a while, or until its own end.',
      body: {
        name: 'RotateKey',
        description: 'How long the old key stays valid.',
        ...fieldsOf(RotateKeyBody, {
          grace_hours: count('Hours.', { maximum: MAX_GRACE_HOURS, default: 24 }),
        }),
        examples: { 'For a day': {}, 'It has leaked': { grace_hours: 0 } },
      },
      idempotent: true,
      answer: { schema: 'NewKey' },
      errors: [
        { code: 'error.field_not_integer', values: { field: 'grace_hours', min: 0, max: MAX_GRACE_HOURS } },
        'error.key_not_found',
      ],
    },
    revoke: {
      operationId: 'revokeKey',
      summary: 'Revoke an API key',
      description: 'It is refused at once, on other processes within five seconds.',
      answer: { schema: 'KeyRevoked' },
      errors: ['error.key_not_found'],
    },
  },
}));
