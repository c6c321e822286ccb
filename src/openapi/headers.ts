import { HEADERS_METADATA } from '@nestjs/common/constants.js';
import type { AccountSettings } from '../accounts/account-options.js';
import { CHALLENGE, deprecationHeaders } from '../accounts/keys/authentication-headers.js';
import { EARLIEST_SEQUENCE, ERROR_CODE, LAST_SEQUENCE } from '../http/errors.js';

const MEANING: Readonly<Record<string, string>> = {
  'Cache-Control': 'No cache may store the answer.',
  'Content-Security-Policy': 'The page may only use its own style and script.',
  Deprecation:
    'Only if the API key came in `Authorization: Bearer`. The time from which this is deprecated (RFC 9745), in Unix seconds.',
  'Idempotency-Replayed':
    'This is the answer of an earlier request under this Idempotency-Key. Nothing was sent or charged now.',
  Link: 'Only if the API key came in `Authorization: Bearer`. A page that explains the change (RFC 9745).',
  'Referrer-Policy': 'The browser does not send the address of the page to other sites.',
  Sunset:
    'Only if the API key came in `Authorization: Bearer`. The time from which this will no longer be accepted (RFC 8594).',
  'WWW-Authenticate': 'How to authenticate (RFC 9110 section 11.6.1).',
  'X-Content-Type-Options': 'The content type must not be guessed.',
};

function sequenceHeader(description: string, required: boolean): object {
  return { description, required, schema: { type: 'string', pattern: '^\\d+$', example: '4711' } };
}

/** Describes headers that have the same value on every answer. */
function described(values: Readonly<Record<string, string>>, required: boolean): Readonly<Record<string, object>> {
  const headers = Object.entries(values).map(([name, value]) => {
    const schema = { type: 'string', enum: [value] };
    return [name, { description: MEANING[name] ?? '', ...(required && { required }), schema }];
  });
  return Object.fromEntries(headers);
}

/** The headers of a success. @param accounts undefined for a route without authentication */
export function successHeaders(
  handler: object,
  { idempotent, accounts }: { readonly idempotent: boolean; readonly accounts: AccountSettings | undefined },
): Readonly<Record<string, object>> {
  const fixed: readonly { readonly name: string; readonly value: string | (() => string) }[] =
    Reflect.getMetadata(HEADERS_METADATA, handler) ?? [];
  const values = fixed.map(({ name, value }) => [name, typeof value === 'string' ? value : value()]);
  const { 'Content-Type': _, ...others } = Object.fromEntries(values);
  return {
    ...described(others, true),
    ...(idempotent && described({ 'Idempotency-Replayed': 'true' }, false)),
    ...(accounts && described(deprecationHeaders(accounts), false)),
  };
}

/**
 * The headers of one error status.
 * @param words the value of `X-Error-Code` for each error of this status
 * @param retryAfter the value of `Retry-After` for each error of this status
 */
export function errorHeaders(
  status: number,
  words: readonly string[],
  retryAfter: readonly (number | undefined)[],
  accounts: AccountSettings | undefined,
): Readonly<Record<string, object>> {
  const [seconds] = retryAfter.filter((value) => value !== undefined);
  return {
    [ERROR_CODE]: {
      description: 'The error for programs: one word, the same in every language.',
      required: true,
      schema: { type: 'string', enum: [...new Set(words)] },
    },
    ...(status === 401 && described({ 'WWW-Authenticate': CHALLENGE }, true)),
    ...(seconds !== undefined && {
      'Retry-After': {
        description: 'The seconds after which another attempt can succeed.',
        required: !retryAfter.includes(undefined),
        schema: { type: 'string', pattern: '^\\d+$', example: String(seconds) },
      },
    }),
    ...(words.includes('events_gone') && {
      [EARLIEST_SEQUENCE]: sequenceHeader('The sequence of the first event that is kept.', true),
      [LAST_SEQUENCE]: sequenceHeader('With `events_ahead`: the sequence of the last event of the log.', false),
    }),
    // Answers that are sent before the credential is read have no deprecation headers.
    ...(accounts && ![401, 413, 415].includes(status) && described(deprecationHeaders(accounts), false)),
  };
}
