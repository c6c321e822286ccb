import { describeController, type ErrorDescription, fieldsOf } from '../openapi/controller-description.js';
import { invalid } from '../openapi/errors.js';
import { count, phoneNumber, text } from '../schemas/builders.js';
import { HooksController } from './hooks.controller.js';
import { CreateLoginHookBody, RotateLoginHookBody, TestLoginHookBody } from './hooks.dto.js';
import {
  CODE_SEGMENTS,
  EXAMPLE_HOOK,
  EXAMPLE_HOOK_SECRET,
  LOGIN_HOOK_FIELDS,
  LoginHookCallList,
  LoginHookCallView,
  LoginHookList,
  LoginHookRemoved,
  LoginHookTested,
  LoginHookView,
  LoginHookWithSecret,
  MAX_CODE_SEGMENTS,
  MAX_DAILY_UNITS,
} from './login-hook.api.js';
import { MAX_LOGIN_HOOKS } from './login-hook.js';
import { MAX_KEEP_HOURS } from './login-hook-input.js';

const SECRET = text(
  'The secret, if the log-in system makes it: `v1,whsec_…` for `supabase`, else 16 to 256 visible characters. Without it the service makes one.',
  { example: EXAMPLE_HOOK_SECRET },
);

const integers = (...ranges: readonly (readonly [field: string, min: number, max: number])[]): ErrorDescription[] =>
  ranges.map(([field, min, max]) => ({ code: 'error.field_not_integer', values: { field, min, max } }));

/** OpenAPI description of the management of log-in hooks (docs/login.md). */
export const hooksOpenapi = describeController(HooksController, () => ({
  tag: {
    name: 'Log-in hooks',
    description: `Log-in systems such as Supabase, Zitadel, Logto and authentik call a hook to send their codes. An account has at most ${MAX_LOGIN_HOOKS} hooks.`,
  },
  parameters: { id: { description: 'The hook.', example: EXAMPLE_HOOK } },
  schemas: {
    LoginHook: LoginHookView,
    LoginHookWithSecret,
    LoginHookList,
    LoginHookCall: LoginHookCallView,
    LoginHookCallList,
    LoginHookTested,
    LoginHookRemoved,
  },
  routes: {
    create: {
      operationId: 'createLoginHook',
      summary: 'Make a log-in hook',
      description: 'Only this answer has the secret, and a repeat under the same Idempotency-Key.',
      body: {
        name: 'CreateLoginHook',
        description: 'The hook to make.',
        ...fieldsOf(CreateLoginHookBody, {
          ...LOGIN_HOOK_FIELDS,
          channel: { ...LOGIN_HOOK_FIELDS.channel, default: 'sms' },
          limits: { ...LOGIN_HOOK_FIELDS.limits, default: { max_segments: CODE_SEGMENTS, daily_units: null } },
          mapping: {
            ...LOGIN_HOOK_FIELDS.mapping,
            description: `${LOGIN_HOOK_FIELDS.mapping.description} For \`generic\` only, which needs it.`,
          },
          proof: {
            ...LOGIN_HOOK_FIELDS.proof,
            description: `${LOGIN_HOOK_FIELDS.proof.description} For \`generic\` only.`,
            default: { kind: 'header', header: 'Authorization' },
          },
          secret: SECRET,
        }),
        examples: {
          Supabase: { kind: 'supabase', signature: 'BOUTIQUE', name: 'Boutique' },
          'Any other system': {
            kind: 'generic',
            signature: 'BOUTIQUE',
            mapping: { number: '/to', code: '/code' },
            proof: { kind: 'hmac', header: 'X-Signature' },
          },
        },
      },
      idempotent: true,
      answer: { schema: 'LoginHookWithSecret' },
      errors: [
        ...invalid('kind', 'name', 'secret', 'limits'),
        ...invalid('mapping', ...['number', 'code', 'text', 'id', 'valid_for'].map((name) => `mapping.${name}`)),
        ...invalid('proof', 'proof.kind', 'proof.header', 'proof.encoding'),
        ...['mapping', 'mapping.number', 'mapping.code'].map((field) => ({
          code: 'error.field_missing' as const,
          values: { field },
        })),
        ...integers(['limits.max_segments', 1, MAX_CODE_SEGMENTS], ['limits.daily_units', 1, MAX_DAILY_UNITS]),
        { code: 'error.otp_channel_unknown', values: { channel: 'fax' } },
        'error.signature_refused',
        'error.login_hook_key_capped',
        { code: 'error.too_many_login_hooks', values: { max: MAX_LOGIN_HOOKS } },
        'error.account_not_found',
      ],
    },
    list: {
      operationId: 'listLoginHooks',
      summary: 'List all log-in hooks, newest first',
      answer: { schema: 'LoginHookList' },
    },
    get: {
      operationId: 'getLoginHook',
      summary: 'Look up a log-in hook',
      answer: { schema: 'LoginHook' },
      errors: ['error.login_hook_not_found'],
    },
    remove: {
      operationId: 'deleteLoginHook',
      summary: 'Remove a log-in hook',
      description: 'A call that is already running may still send its code.',
      answer: { schema: 'LoginHookRemoved' },
      errors: ['error.login_hook_not_found'],
    },
    rotate: {
      operationId: 'rotateLoginHook',
      summary: 'Replace the secret of a log-in hook',
      description: 'Until the time is over, the old secret proves calls too.',
      body: {
        name: 'RotateLoginHook',
        description: 'The new secret, and how many hours the old one stays valid.',
        ...fieldsOf(RotateLoginHookBody, {
          secret: SECRET,
          keep_hours: count('Hours.', { maximum: MAX_KEEP_HOURS, default: 24 }),
        }),
        examples: { 'For a day': {}, 'Not at all': { keep_hours: 0 } },
      },
      idempotent: true,
      answer: { schema: 'LoginHookWithSecret' },
      errors: [
        ...invalid('secret'),
        ...integers(['keep_hours', 0, MAX_KEEP_HOURS]),
        'error.login_hook_key_capped',
        'error.login_hook_not_found',
      ],
    },
    enable: {
      operationId: 'enableLoginHook',
      summary: 'Accept the calls of a log-in hook again',
      idempotent: true,
      answer: { schema: 'LoginHook' },
      errors: ['error.login_hook_not_found'],
    },
    disable: {
      operationId: 'disableLoginHook',
      summary: 'Refuse the calls of a log-in hook',
      idempotent: true,
      answer: { schema: 'LoginHook', examples: { disabled: { status: 'disabled' } } },
      errors: ['error.login_hook_not_found'],
    },
    test: {
      operationId: 'testLoginHook',
      summary: 'Send a test code through a log-in hook',
      description: 'The code is made up. It is charged, and counts towards the limits, as a call of the log-in system.',
      body: {
        name: 'TestLoginHook',
        description: 'Where to send it.',
        ...fieldsOf(TestLoginHookBody, { number: phoneNumber('The phone number.') }),
        examples: { 'A number': { number: '22670000000' } },
      },
      idempotent: true,
      answer: { schema: 'LoginHookTested' },
      errors: [
        'error.invalid_number',
        'error.signature_refused',
        { code: 'error.too_many_segments', values: { segments: 3, max: CODE_SEGMENTS } },
        { code: 'error.otp_channel_unknown', values: { channel: 'fax' } },
        { code: 'error.otp_too_many_codes', retryAfter: 480 },
        'error.otp_destination_refused',
        'error.insufficient_balance',
        'error.login_hook_disabled',
        'error.login_hook_key_capped',
        'error.login_hook_not_found',
      ],
    },
    calls: {
      operationId: 'listLoginHookCalls',
      summary: 'List the last 50 calls of a log-in hook, newest first',
      answer: { schema: 'LoginHookCallList' },
      errors: ['error.login_hook_not_found'],
    },
  },
}));
