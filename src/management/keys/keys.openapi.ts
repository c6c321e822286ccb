import {
  CIDR,
  CIDRS,
  CONFIRM_ABOVE,
  DAILY,
  EXAMPLE_KEY_ID,
  KeyPage,
  KeyRevoked,
  KeyView,
  NAME,
  NewKeyView,
  PER_MINUTE,
  RECIPIENT,
  RECIPIENTS,
  SCOPES,
} from '../../accounts/keys/key.api.js';
import { MAX_DAILY_UNITS, MAX_PER_MINUTE } from '../../accounts/keys/key-definition.js';
import { KEY_SCOPES } from '../../accounts/keys/permissions.js';
import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE } from '../../openapi/listings.js';
import { count, EXAMPLE, list, oneOf, text } from '../../schemas/builders.js';
import { PageQuery } from '../list-query.js';
import { MAX_GRACE_HOURS } from './key-service.js';
import { KeysController } from './keys.controller.js';
import { CreateKeyBody, RotateKeyBody } from './keys.dto.js';

/** OpenAPI description of API keys (docs/keys.md). */
export const keysOpenapi = describeController(KeysController, () => ({
  tag: { name: 'Keys', description: 'The API keys of the account. Only users may use these routes.' },
  parameters: { id: { description: 'The public part of the key.', example: EXAMPLE_KEY_ID } },
  schemas: {
    Key: KeyView,
    NewKey: NewKeyView,
    KeyPage,
    KeyRevoked,
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
      description: 'Only this answer has the key. A repeat under the same Idempotency-Key has null in its place.',
      body: {
        name: 'CreateKey',
        description: 'The rights and limits of the key. They cannot be changed later.',
        ...fieldsOf(CreateKeyBody, {
          name: text('A name for people.', NAME),
          scopes: list(oneOf(KEY_SCOPES, 'A scope.'), {
            ...SCOPES,
            description: 'The scopes of the key. Default: all.',
          }),
          cidrs: list(text(CIDR), {
            ...CIDRS,
            minItems: 1,
            description: 'The addresses from which the key may be used. Default: all.',
          }),
          expires_at: text('When the key expires, in the future, ISO 8601. Default: never.', {
            example: EXAMPLE.moment,
          }),
          daily_units: count(`${DAILY} Default: no cap.`, { minimum: 1, maximum: MAX_DAILY_UNITS }),
          per_minute: count(`${PER_MINUTE} Default: no limit.`, { minimum: 1, maximum: MAX_PER_MINUTE }),
          recipients: list(text(RECIPIENT), {
            ...RECIPIENTS,
            minItems: 1,
            description: 'The only numbers that the key may send to. Default: all.',
          }),
          confirm_above: count(`${CONFIRM_ABOVE} Default: no send needs a confirmation.`, { maximum: MAX_DAILY_UNITS }),
        }),
        examples: {
          'For everything': { name: 'Boutique' },
          'For sends of one server': { name: 'Caisse', scopes: ['sms:send'], cidrs: ['192.0.2.7'], daily_units: 500 },
          'For an agent': {
            name: 'Assistant',
            scopes: ['sms:send', 'messages:read'],
            recipients: ['22670000001'],
            confirm_above: 5,
          },
        },
      },
      idempotent: true,
      answer: { schema: 'NewKey' },
      errors: [
        ...invalid('name', 'scopes', 'cidrs', 'expires_at', 'recipients'),
        ...['scopes', 'cidrs', 'recipients'].map(
          (field) => ({ code: 'error.field_not_list', values: { field } }) as const,
        ),
        { code: 'error.field_not_integer', values: { field: 'daily_units', min: 1, max: MAX_DAILY_UNITS } },
        { code: 'error.field_not_integer', values: { field: 'per_minute', min: 1, max: MAX_PER_MINUTE } },
        { code: 'error.field_not_integer', values: { field: 'confirm_above', min: 0, max: MAX_DAILY_UNITS } },
        'error.account_not_found',
      ],
    },
    rotate: {
      operationId: 'rotateKey',
      summary: 'Replace an API key',
      description:
        'The new key has the same name and limits. Units that the old key spent today count for it too. The old key stays valid for a while, or until its own end.',
      body: {
        name: 'RotateKey',
        description: 'How many hours the old key stays valid.',
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
      description: 'The key is refused at once, and in other processes within five seconds.',
      answer: { schema: 'KeyRevoked' },
      errors: ['error.key_not_found'],
    },
  },
}));
