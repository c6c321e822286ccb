import { describe, expect, test } from '@jest/globals';
import { type Fetch, OpenapiMismatch, validatingFetch } from '../../support/openapi/openapi-fetch.js';
import type { Described } from '../../support/openapi/openapi-reader.js';

const error = (message: string) => ({ statusCode: 400, message, error: 'Bad Request' });

const NAMED = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

const DOCUMENT: Described = {
  paths: {
    '/things/{id}': {
      get: {
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 500 } },
          { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', pattern: '^[!-~]+$' } },
        ],
        responses: {
          '200': {
            headers: { 'Cache-Control': { required: true, schema: { type: 'string', enum: ['no-store'] } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          '204': {},
          '400': {
            content: {
              'application/json': {
                schema: { type: 'object' },
                examples: {
                  empty_message: { value: error('Le message ne doit pas être vide') },
                  invalid_number: { value: error('Numéro invalide : +226') },
                },
              },
            },
          },
        },
      },
      post: {
        requestBody: { content: { 'application/json': { schema: NAMED } } },
        responses: { '200': { content: { 'text/html': { schema: { type: 'string' } } } } },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          at: { type: 'string', format: 'date-time' },
          note: { type: 'string', nullable: true },
        },
        required: ['id', 'at', 'note'],
        additionalProperties: false,
      },
    },
  },
};

const THING = { id: 'one', at: '2026-11-21T10:00:00.000Z', note: null };
const NOT_STORED = { 'cache-control': 'no-store' };

interface Exchange {
  readonly answer: Response;
  readonly path?: string;
  readonly init?: RequestInit;
}

function outcome({ answer, path = '/things/one', init = {} }: Exchange): Promise<Response> {
  const send: Fetch = async () => answer;
  return validatingFetch(DOCUMENT, send)(`http://host${path}`, init);
}

describe('validatingFetch', () => {
  const html = () => new Response('<p>', { headers: { 'content-type': 'text/html; charset=utf-8' } });

  test.each<[string, Exchange]>([
    ['a body and its headers', { answer: Response.json(THING, { headers: NOT_STORED }) }],
    ['an answer without a body', { answer: new Response(null, { status: 204 }) }],
    ['the text of an example', { answer: Response.json(error('Le message ne doit pas être vide'), { status: 400 }) }],
    ['the text with another value', { answer: Response.json(error('Numéro invalide : 0'), { status: 400 }) }],
    ['a request as described', { answer: html(), init: { method: 'POST', body: '{"name":"x"}' } }],
    ['a query as described', { answer: Response.json(THING, { headers: NOT_STORED }), path: '/things/one?limit=500' }],
  ])('accepts %s', async (_, exchange) => {
    await expect(outcome(exchange)).resolves.toBe(exchange.answer);
  });

  const thing = (fields: object) => Response.json({ ...THING, ...fields }, { headers: NOT_STORED });

  test.each<[string, Exchange, string]>([
    ['an unknown path', { answer: thing({}), path: '/things' }, 'no such operation'],
    ['an unknown method', { answer: thing({}), init: { method: 'DELETE' } }, 'no such operation'],
    ['a status', { answer: Response.json(THING, { status: 201 }) }, 'no such status'],
    ['a content type', { answer: new Response('{}', { headers: NOT_STORED }) }, 'content type text/plain'],
    ['a body where none is described', { answer: Response.json({}, { status: 203 }) }, 'no such status'],
    ['a field of the wrong type', { answer: thing({ id: 1 }) }, 'value/id must be string'],
    ['one field too many', { answer: thing({ more: 1 }) }, 'must NOT have additional properties'],
    ['a field that is missing', { answer: thing({ note: undefined }) }, "must have required property 'note'"],
    ['an invalid time', { answer: thing({ at: 'yesterday' }) }, 'must match format "date-time"'],
    ['a null that is not allowed', { answer: thing({ id: null }) }, 'value/id must be string'],
    ['a header that is missing', { answer: Response.json(THING) }, 'header Cache-Control is missing'],
    [
      'a header with another value',
      { answer: Response.json(THING, { headers: { 'cache-control': 'public' } }) },
      'header Cache-Control: value must be equal to one of the allowed values',
    ],
    [
      'a header of ours that is not described',
      { answer: Response.json(THING, { headers: { ...NOT_STORED, 'retry-after': '1' } }) },
      'header retry-after is not described',
    ],
    ['an error text', { answer: Response.json(error('Solde SMS insuffisant'), { status: 400 }) }, 'no example says'],
    [
      'an invalid request that was accepted',
      { answer: html(), init: { method: 'POST', body: '{}' } },
      "request body: value must have required property 'name'",
    ],
    ['a query too large', { answer: thing({}), path: '/things/one?limit=501' }, 'query limit: value must be <= 500'],
    ['an unknown query', { answer: thing({}), path: '/things/one?page=1' }, 'query page is not described'],
    [
      'a request header',
      { answer: thing({}), init: { headers: { 'idempotency-key': 'a b' } } },
      'request header Idempotency-Key: value must match pattern',
    ],
  ])('refuses %s', async (_, exchange, fault) => {
    const refusal = outcome(exchange);
    await expect(refusal).rejects.toThrow(OpenapiMismatch);
    await expect(refusal).rejects.toThrow(fault);
  });
});
