import type { RouteError } from './controller-description.js';
import type { Headers, Parameter } from './openapi-document.js';

/** What every route that takes an Idempotency-Key has in common (contract.md section 7). */
export const IDEMPOTENCY: {
  readonly parameter: Parameter;
  readonly headers: Headers;
  readonly errors: readonly RouteError[];
} = {
  parameter: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes a repeat harmless. For 24 hours the same key with the same body gives the first answer again and neither sends nor charges. A refusal is not kept: it may be tried again with the same key. After a 504 or a lost connection, the same request tells what became of the first.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    example: 'order-4711',
  },
  headers: {
    'Idempotency-Replayed': {
      description: 'The answer was given before under this Idempotency-Key; nothing was sent or charged now.',
      schema: { type: 'string', enum: ['true'] },
    },
  },
  errors: [
    { code: 'error.idempotency_key_malformed' },
    { code: 'error.idempotency_running', retryAfter: 1 },
    { code: 'error.idempotency_mismatch' },
  ],
};
