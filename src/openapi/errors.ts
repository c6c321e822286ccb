import { STATUS_CODES } from 'node:http';
import { type ErrorCode, RECONNECT_SECONDS } from '../common/errors.js';
import { en } from '../common/text/catalogue.en.js';
import { renderText, type TextValues } from '../common/text/catalogue.js';
import { errorStatus, errorWord } from '../http/errors.js';
import type { MountedRoute } from '../http/mounted-routes.js';
import { EXAMPLE, integer, object, refTo, text } from '../schemas/builders.js';
import type { Schema } from '../schemas/schema.js';
import type { ErrorDescription, RouteError, Surroundings } from './controller-description.js';
import { errorHeaders } from './headers.js';

/** The placeholders of texts in examples. */
const EXAMPLE_VALUES: TextValues = {
  number: `+${EXAMPLE.number}`,
  from: EXAMPLE.sender,
  character: 'U+0000',
  channel: 'fax',
  type: 'message.lost',
  earliest: 4711,
  max: 10,
};

/**
 * The error of a route without authentication that reads or writes the storage. Routes with authentication have it
 * anyway.
 */
export const STORAGE_UNAVAILABLE: RouteError = { code: 'error.storage_unavailable', retryAfter: 1 };

/** The error of a send from a linked number that has lost its connection for now. */
export const NUMBER_RECONNECTING: RouteError = { code: 'error.msgapp_reconnecting', retryAfter: RECONNECT_SECONDS };

/** The error of fields whose values the service checks. */
export function invalid(...fields: readonly string[]): readonly RouteError[] {
  return fields.map((field) => ({ code: 'error.field_invalid', values: { field } }));
}

/** The body of every error (docs/http-api.md). */
export const errorSchema: Schema = object('An error.', {
  statusCode: integer('The HTTP status.', { minimum: 400, maximum: 599 }),
  message: text('One sentence for the caller.'),
  error: text('The name of the HTTP status.'),
});

const MEANING: Readonly<Record<number, string>> = {
  400: 'The request cannot be carried out. Nothing was sent or charged.',
  401: 'The request has no valid credential.',
  403: 'The request is not allowed. Nothing was sent or charged.',
  404: 'The resource does not exist, or it belongs to another account.',
  409: 'The request cannot be carried out at the moment.',
  410: 'The requested data is no longer kept.',
  413: 'The request body is larger than the limit.',
  415: 'The request has a body that is not `application/json` in UTF-8, or that is compressed.',
  422: 'The Idempotency-Key was used before with another body. Nothing was sent or charged.',
  429: 'There are too many of these requests. Try again after `Retry-After`.',
  500: 'An unexpected fault of the service. The cause is only in the log of the service.',
  503: 'The storage cannot answer at the moment. Nothing was charged.',
  504: 'The request took too long and was ended. If it was already accepted, it stays accepted.',
};

/** The errors of the request gate, the guard and the idempotency, which answer before or around a handler. */
export function surroundingErrors(
  { authenticated, intake, deadline, rawBody, permission = {} }: MountedRoute,
  idempotent: boolean,
  { accounts: { legacyBearer }, userTokens }: Pick<Surroundings, 'accounts' | 'userTokens'>,
): readonly ErrorDescription[] {
  const { scopes, accounts, live = false } = permission;
  const parsed = intake && rawBody === undefined;
  const errors: readonly (readonly [boolean, ErrorDescription])[] = [
    [authenticated, 'error.unauthorized'],
    [authenticated && legacyBearer === false, 'error.use_x_api_key'],
    [authenticated, 'error.address_not_allowed'],
    [scopes !== undefined && scopes.length > 0, 'error.scope_missing'],
    [authenticated && scopes === undefined, 'error.user_required'],
    [authenticated && userTokens, 'error.role_missing'],
    [accounts === 'named' && userTokens, 'error.account_unnamed'],
    [accounts === 'named' && userTokens, 'error.account_not_found'],
    [live, 'error.account_suspended'],
    [scopes !== undefined, { code: 'error.key_rate', retryAfter: 60 }],
    [authenticated && intake, { code: 'error.too_many_in_flight', retryAfter: 1 }],
    [parsed, 'error.malformed_json'],
    [parsed, 'error.body_not_object'],
    [intake, 'error.body_too_large'],
    [parsed, 'error.unsupported_media_type'],
    [true, 'error.internal'],
    [authenticated, STORAGE_UNAVAILABLE],
    [deadline, 'error.timeout'],
    [idempotent, 'error.idempotency_key_malformed'],
    [idempotent, { code: 'error.idempotency_running', retryAfter: 1 }],
    [idempotent, 'error.idempotency_mismatch'],
  ];
  return errors.flatMap(([applies, error]) => (applies ? [error] : []));
}

/** The responses for a list of errors, by status. Each error is an example, with the text in the host's language. */
export function errorResponses(
  errors: readonly ErrorDescription[],
  { http, accounts, userTokens }: Surroundings,
  authenticated: boolean,
): Record<string, object> {
  const byStatus = new Map<number, RouteError[]>();
  for (const given of errors) {
    const error = typeof given === 'string' ? { code: given } : given;
    // An API key always belongs to an account; only a user token can name one that does not exist.
    if (error.code === 'error.account_not_found' && !userTokens) continue;
    const status = errorStatus[error.code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), error]);
  }
  const responses = [...byStatus].map(([status, sameStatus]): [string, object] => {
    const name = STATUS_CODES[status] ?? 'Error';
    const fixed: Schema = {
      type: 'object',
      properties: { statusCode: { type: 'integer', enum: [status] }, error: { type: 'string', enum: [name] } },
    };
    const retryAfter = sameStatus.map((error) => error.retryAfter);
    const words = sameStatus.map(({ code }) => errorWord(code));
    const headers = errorHeaders(status, words, retryAfter, authenticated ? accounts : undefined);
    const examples = sameStatus.map(({ code, values }) => {
      const all = { ...EXAMPLE_VALUES, ...values };
      const value = { statusCode: status, message: renderText(http.catalogue, code, all), error: name };
      return [labelOf(code, values), { summary: renderText(en, code, all), value }];
    });
    return [
      String(status),
      {
        description: MEANING[status] ?? name,
        headers,
        content: {
          'application/json': { schema: { allOf: [refTo('Error'), fixed] }, examples: Object.fromEntries(examples) },
        },
      },
    ];
  });
  return Object.fromEntries(responses);
}

/** The label of an example: the code without `error.`, and the field that it names. Example: `field_missing.number`. */
function labelOf(code: ErrorCode, { field }: TextValues = {}): string {
  const name = code.slice('error.'.length);
  return field === undefined ? name : `${name}.${field}`;
}
