import { describe, expect, test } from '@jest/globals';
import type { Described, DescribedOperation } from '../../support/openapi/openapi-reader.js';
import { structuralFaults } from '../../support/openapi/openapi-structure.js';

const OPERATION: DescribedOperation = {
  operationId: 'getThing',
  parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 'one' }],
  responses: {
    '200': {
      description: 'A thing.',
      headers: { 'Retry-After': { schema: { type: 'string', pattern: '^\\d+$', example: '1' } } },
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Thing' },
          examples: { one: { value: { id: 'one' } } },
        },
      },
    },
  },
  security: [{ ApiKey: [] }],
};

const REF_TO_NOTHING = { type: 'object', properties: { more: { $ref: '#/components/schemas/Nothing' } } };

const COMPONENTS = {
  schemas: { Thing: { type: 'object', properties: { id: { type: 'string', example: 'one' } }, required: ['id'] } },
  securitySchemes: { ApiKey: { type: 'apiKey' } },
};

function documentWith(operation: Partial<DescribedOperation>, components: object = {}): Described {
  const get = { ...OPERATION, ...operation };
  return { paths: { '/things/{id}': { get } }, components: { ...COMPONENTS, ...components } };
}

const answering = (response: object): Partial<DescribedOperation> => ({
  responses: { '200': { ...OPERATION.responses['200'], ...response } },
});

describe('structuralFaults', () => {
  test('finds nothing in a correct document', () => {
    expect(structuralFaults(documentWith({}))).toEqual([]);
  });

  test.each<[string, Described, string]>([
    [
      'a name twice',
      { paths: { '/a': { get: { ...OPERATION, parameters: [] }, post: OPERATION } }, components: COMPONENTS },
      'given twice',
    ],
    ['a tag twice', { ...documentWith({}), tags: [{ name: 'SMS' }, { name: 'SMS' }] }, 'tag SMS is given twice'],
    ['a path parameter that is not declared', documentWith({ parameters: [] }), 'path parameters (none)'],
    ['an undeclared security scheme', documentWith({ security: [{ Cookie: [] }] }), 'asks for Cookie'],
    ['an answer without a description', documentWith(answering({ description: '' })), '200 has no description'],
    ['a missing schema', documentWith({}, { schemas: { Other: {}, Thing: REF_TO_NOTHING } }), 'leads nowhere'],
    [
      'an example that its schema refuses',
      documentWith(answering({ content: { 'application/json': { schema: { type: 'string' }, example: 1 } } })),
      'value must be string',
    ],
    [
      'an example of a header',
      documentWith(
        answering({ headers: { 'Retry-After': { schema: { type: 'string', pattern: '^\\d+$', example: 'soon' } } } }),
      ),
      'must match pattern',
    ],
    [
      'an example of a parameter',
      documentWith({
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 1 }],
      }),
      'value must be string',
    ],
    [
      'an example inside a schema',
      documentWith({}, { schemas: { Thing: { type: 'object', properties: { id: { type: 'string', example: 1 } } } } }),
      'value must be string',
    ],
  ])('finds %s', (_, document, fault) => {
    expect(structuralFaults(document)).toContainEqual(expect.stringContaining(fault));
  });
});
