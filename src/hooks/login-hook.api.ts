import {
  count,
  EXAMPLE,
  flag,
  identifier,
  list,
  moment,
  nullable,
  object,
  oneOf,
  ref,
  text,
  yes,
} from '../schemas/builders.js';
import type { TypeOf } from '../schemas/schema.js';

/** The log-in systems whose calls we understand. `generic`: any other that sends JSON. */
export const LOGIN_HOOK_KINDS = ['supabase', 'zitadel', 'logto', 'authentik', 'generic'] as const;
/** The kind of a log-in hook. */
export type LoginHookKind = (typeof LOGIN_HOOK_KINDS)[number];

export const LOGIN_HOOK_STATUSES = ['enabled', 'disabled'] as const;

/**
 * How a call ended. `accepted`: the code is charged and will be sent. `repeated`: an earlier call had the same id, so nothing
 * was sent or charged again. Every other word says why the call was refused.
 */
export const LOGIN_HOOK_OUTCOMES = [
  'accepted',
  'repeated',
  'unauthorized',
  'unreadable',
  'invalid_number',
  'too_long',
  'too_many_codes',
  'destination_refused',
  'insufficient_balance',
  'signature_refused',
  'suspended',
  'disabled',
  'unavailable',
  'failed',
] as const;
/** How a call of a log-in hook ended. */
export type LoginHookOutcome = (typeof LOGIN_HOOK_OUTCOMES)[number];

/** How many characters the name of a hook may have. */
export const MAX_LOGIN_HOOK_NAME = 64;
/** The highest `limits.max_segments`, and the default. */
export const MAX_CODE_SEGMENTS = 10;
export const CODE_SEGMENTS = 2;
/** The highest `limits.daily_units`. */
export const MAX_DAILY_UNITS = 1_000_000_000;
/** How many of its last calls a hook keeps. */
export const KEPT_CALLS = 50;

/** How a generic hook proves its calls. */
export const GENERIC_PROOFS = ['header', 'hmac'] as const;
/** How the HMAC of a generic hook is written. */
export const HMAC_ENCODINGS = ['hex', 'base64'] as const;

/** Values that examples share. */
export const EXAMPLE_HOOK = '019d0f52-3a00-7d41-9b0e-6c8f4a2d1e36';
export const EXAMPLE_HOOK_SECRET = 'v1,whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDqB2vxTQxTWE=';
const EXAMPLE_HOOK_URL = `https://api.example.com/api/v1/hooks/${EXAMPLE_HOOK}`;

const POINTER = { maxLength: 256, pattern: '^(/.*)?$' };

/** The fields that the owner of a hook decides, as in request bodies. */
export const LOGIN_HOOK_FIELDS = {
  kind: oneOf(LOGIN_HOOK_KINDS, 'The log-in system that calls.'),
  name: text('The service that texts name, if the call brings only a code. Without it, texts name no service.', {
    maxLength: MAX_LOGIN_HOOK_NAME,
    example: 'Boutique',
  }),
  signature: text('The sender name of the codes.', { example: 'BOUTIQUE' }),
  channel: text('`sms`, or the name of a messaging-app channel.', { example: 'sms' }),
  limits: object(
    'Limits of this hook, besides those of one-time passcodes.',
    {
      max_segments: count('The most segments of an SMS.', { minimum: 1, maximum: MAX_CODE_SEGMENTS }),
      daily_units: nullable(
        count('The most units of a day (UTC). Null: no limit.', { minimum: 1, maximum: MAX_DAILY_UNITS }),
      ),
    },
    ['max_segments', 'daily_units'],
  ),
  mapping: object(
    'Where a generic call has its values: JSON pointers (RFC 6901). It needs `number`, and `code` or `text`.',
    {
      number: text('The phone number.', { ...POINTER, example: '/to' }),
      code: text('The code. We write the text around it.', { ...POINTER, example: '/code' }),
      text: text('The whole text. It is sent as it is.', { ...POINTER, example: '/message' }),
      id: text('An id of the call, so that a repeat sends nothing.', { ...POINTER, example: '/id' }),
      valid_for: text('How many seconds the code is valid.', { ...POINTER, example: '/expires_in' }),
    },
    ['code', 'text', 'id', 'valid_for'],
  ),
  proof: object(
    'How a generic call proves that it is authentic.',
    {
      kind: oneOf(GENERIC_PROOFS, '`header`: the header has the secret. `hmac`: it has the HMAC-SHA256 of the body.'),
      header: text('The name of the header.', { pattern: '^[A-Za-z0-9-]{1,64}$', example: 'Authorization' }),
      encoding: oneOf(HMAC_ENCODINGS, 'How the HMAC is written.'),
    },
    ['encoding'],
  ),
};

const HOOK = {
  id: identifier('The hook.', EXAMPLE_HOOK),
  url: text('The URL that the log-in system calls.', { example: EXAMPLE_HOOK_URL }),
  kind: LOGIN_HOOK_FIELDS.kind,
  name: nullable(LOGIN_HOOK_FIELDS.name),
  signature: LOGIN_HOOK_FIELDS.signature,
  channel: LOGIN_HOOK_FIELDS.channel,
  limits: object('Limits of this hook, besides those of one-time passcodes.', {
    max_segments: count('The most segments of an SMS.', { example: CODE_SEGMENTS }),
    daily_units: nullable(count('The most units of a day (UTC). Null: no limit.', { example: 1000 })),
  }),
  mapping: nullable(LOGIN_HOOK_FIELDS.mapping),
  proof: nullable(LOGIN_HOOK_FIELDS.proof),
  status: oneOf(LOGIN_HOOK_STATUSES, 'Whether its calls are accepted.'),
  created_at: moment('When it was made.'),
  updated_at: moment('When its owner last changed it.'),
};

/** A log-in hook in answers of the API. */
export const LoginHookView = object('A log-in hook.', HOOK);
export interface LoginHookView extends TypeOf<typeof LoginHookView> {}

/** A hook with its secret. Only the answer that made the secret has it. */
export const LoginHookWithSecret = object('A log-in hook with its new secret.', {
  ...HOOK,
  secret: text('The secret that proves its calls. No later answer has it.', { example: EXAMPLE_HOOK_SECRET }),
});
export interface LoginHookWithSecret extends TypeOf<typeof LoginHookWithSecret> {}

/** All hooks of an account, the newest first. */
export const LoginHookList = object('All log-in hooks of the account, the newest first.', {
  items: list(ref<LoginHookView>({ LoginHook: LoginHookView })),
});
export interface LoginHookList extends TypeOf<typeof LoginHookList> {}

/** A call of a hook. It has no code, no text and no whole number. */
export const LoginHookCallView = object('A call of a log-in hook.', {
  id: identifier('The call.', EXAMPLE.message),
  at: moment('When it arrived.'),
  outcome: oneOf(LOGIN_HOOK_OUTCOMES, 'How it ended.'),
  number: nullable(text('The number with its middle hidden. Null: the call was not read.', { example: '226******00' })),
  message: nullable(identifier('The message that was sent. Null: none.', EXAMPLE.message)),
  test: flag('Whether it is a test that somebody sent by hand.', { example: false }),
});
export interface LoginHookCallView extends TypeOf<typeof LoginHookCallView> {}

/** The last calls of a hook, the newest first. */
export const LoginHookCallList = object(`The last ${KEPT_CALLS} calls of the hook, the newest first.`, {
  items: list(ref<LoginHookCallView>({ LoginHookCall: LoginHookCallView }), { maxItems: KEPT_CALLS }),
});
export interface LoginHookCallList extends TypeOf<typeof LoginHookCallList> {}

/** The answer to a test. */
export const LoginHookTested = object('The test code is on its way.', {
  success: yes,
  message: identifier('The message.', EXAMPLE.message),
});
export interface LoginHookTested extends TypeOf<typeof LoginHookTested> {}

/** The answer to the removal of a hook. */
export const LoginHookRemoved = object('The hook is removed.', { success: yes });
export interface LoginHookRemoved extends TypeOf<typeof LoginHookRemoved> {}
