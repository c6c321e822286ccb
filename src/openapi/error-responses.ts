import { STATUS_CODES } from 'node:http';
import { CHALLENGE } from '../accounts/authentication-headers.js';
import { en } from '../common/catalogue.en.js';
import { renderText } from '../common/catalogue.js';
import { errorStatus } from '../http/errors.js';
import type { RouteError, Surroundings } from './controller-description.js';
import { deprecationHeaderDescriptions } from './deprecation-description.js';
import type { Example, Headers, Response, Schema } from './openapi-document.js';
import { json, ref } from './schemas.js';

/** What each status says, beside the texts of its examples. */
const MEANING: Readonly<Record<number, string>> = {
  400: 'The request cannot be carried out as it is. Nothing was sent or charged.',
  401: 'There is no credential, or none that is valid.',
  403: 'The account may not do this. Nothing was sent or charged.',
  404: 'There is no such thing, or it belongs to another account.',
  409: 'It cannot be done at the moment.',
  413: 'The request body is larger than the limit.',
  415: 'The request has a body that is not `application/json` in UTF-8, or that is compressed.',
  422: 'The Idempotency-Key was used before with another body. Nothing was sent or charged.',
  429: 'Too many of these. Try again after `Retry-After`.',
  500: 'An unexpected fault on our side. The cause is only in the log of the service.',
  503: 'Storage cannot answer at the moment. Nothing was charged.',
  504: 'The request took too long and was cut. What was already accepted stays accepted.',
};

/** Statuses that are answered before the guard has seen the credential. */
const BEFORE_GUARD: ReadonlySet<number> = new Set([401, 413, 415]);

/** The answers that a list of refusals makes, by status: every text is an example, in the host's language. */
export function errorResponses(
  errors: readonly RouteError[],
  surroundings: Surroundings,
  authenticated: boolean,
): Record<string, Response> {
  const byStatus = new Map<number, RouteError[]>();
  for (const error of errors) {
    const status = errorStatus[error.code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), error]);
  }
  const responses: Record<string, Response> = {};
  for (const [status, refusals] of byStatus) {
    const guarded = authenticated && !BEFORE_GUARD.has(status);
    const headers = {
      ...(status === 401 ? CHALLENGED : {}),
      ...retryAfter(refusals),
      ...(guarded ? deprecationHeaderDescriptions(surroundings.accounts) : {}),
    };
    responses[status] = {
      description: MEANING[status] ?? statusName(status),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      content: json(bodyOf(status), examplesOf(status, refusals, surroundings)),
    };
  }
  return responses;
}

const CHALLENGED: Headers = {
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110 section 11.6.1).',
    required: true,
    schema: { type: 'string', enum: [CHALLENGE] },
  },
};

function retryAfter(refusals: readonly RouteError[]): Headers {
  const seconds = refusals.flatMap(({ retryAfter }) => retryAfter ?? []);
  if (seconds.length === 0) return {};
  return {
    'Retry-After': {
      description: 'Seconds after which trying again can make sense.',
      required: seconds.length === refusals.length,
      schema: { type: 'string', pattern: '^\\d+$', example: String(seconds[0]) },
    },
  };
}

function bodyOf(status: number): Schema {
  const fixed: Schema = {
    type: 'object',
    properties: {
      statusCode: { type: 'integer', enum: [status] },
      error: { type: 'string', enum: [statusName(status)] },
    },
  };
  return { allOf: [ref('Error'), fixed] };
}

function examplesOf(
  status: number,
  refusals: readonly RouteError[],
  { http }: Surroundings,
): Readonly<Record<string, Example>> {
  return Object.fromEntries(
    refusals.map(({ code, values = {} }): [string, Example] => {
      const message = renderText(http.catalogue, code, values);
      const value = { statusCode: status, message, error: statusName(status) };
      return [exampleName({ code, values }), { summary: renderText(en, code, values), value }];
    }),
  );
}

/** `field_missing.number`: the code without its `error.`, and the field that it is about. */
function exampleName({ code, values = {} }: RouteError): string {
  const name = code.slice('error.'.length);
  return values.field === undefined ? name : `${name}.${values.field}`;
}

function statusName(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
