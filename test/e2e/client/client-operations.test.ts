import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { MessagingClient } from 'nestjs-messaging/client';
import { ManagementClient } from 'nestjs-messaging/client/manage';
import { EVENT_TYPES } from '../../../src/events/event-types.js';
import { CSV_METHODS, MANAGE_METHODS } from '../../support/client/manage-operations.js';
import { CSV_METHODS as CLIENT_CSV_METHODS, METHODS } from '../../support/client/operations.js';
import { ok, ScriptedFetch } from '../../support/client/scripted-fetch.js';
import {
  type Described,
  type DescribedOperation,
  operationsOf,
  pathFor,
  withResponses,
} from '../../support/openapi/openapi-reader.js';
import { structuralFaults } from '../../support/openapi/openapi-structure.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

// The build makes this file.
const document: Described & { readonly openapi: string; readonly webhooks: Described['paths'] } = withResponses(
  JSON.parse(readFileSync(join(ROOT, 'dist/openapi.json'), 'utf8')),
);
const operations = new Map(
  [...operationsOf(document)].map(([route, operation]) => [operation.operationId ?? '', { route, operation }]),
);

/** The inputs of an operation: query and header parameters, and the fields of its body. */
function inputsOf({ parameters = [], requestBody }: DescribedOperation): string[] {
  const [media] = Object.values(requestBody?.content ?? {});
  const { $ref = '' } = Object(media?.schema);
  const schema = document.components?.schemas?.[$ref.slice($ref.lastIndexOf('/') + 1)];
  return [
    ...parameters.filter((each) => each.in !== 'path').map((each) => `${each.in} ${each.name.replace(/\{.*\}/, '')}`),
    ...Object.keys(Object(schema).properties ?? {}).map((name) => `body ${name}`),
  ].sort();
}

test('the document is one of OpenAPI 3.1', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(structuralFaults(document)).toEqual([]);
});

test('its webhooks are the event types, with schemas that describe them', () => {
  expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES, 'test.ping', 'endpoint.gap']);
  const calls = Object.values(document.webhooks).map(
    ({ post }) => post?.requestBody?.content['application/json']?.schema,
  );
  const ajv = formats.default(new Ajv2020({ strict: false }));
  const data = { id: 'one', units: 5, note: null };
  const event = { id: `evt_${'a'.repeat(22)}`, type: 'balance.topped_up', account: 'demo', data };
  const actual = { ...event, sequence: 7, previous: null, timestamp: '2026-11-22T10:00:00.000Z' };
  const accepting = (value: object) =>
    calls.map((schema) => ajv.validate({ ...schema, components: document.components }, value));
  const fits = Object.keys(document.webhooks).map((type) => type === actual.type);
  expect(accepting(actual)).toEqual(fits);
  expect(accepting({ events: [actual, { ...actual, sequence: 8, previous: 7 }] })).toEqual(fits);
  expect(accepting({ ...actual, sequence: '7' })).not.toContain(true);
});

test('each operation has one method', () => {
  expect([...Object.keys(METHODS), ...Object.keys(MANAGE_METHODS)].sort()).toEqual([...operations.keys()].sort());
});

/** The names of a client's methods, with the name of their group. */
function methodsOf(groups: object): string[] {
  return Object.entries(groups).flatMap(([name, group]) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(group))
      .filter((each) => each !== 'constructor' && each !== 'msgapp')
      .map((each) => (name === 'client' ? each : `${name}.${each}`)),
  );
}

const BASE = 'https://api.example.com/api/v1';

test('each method has one operation', () => {
  const client = new MessagingClient({ baseUrl: BASE, apiKey: 'k' });
  const manage = new ManagementClient({ baseUrl: BASE });
  const named = (methods: Readonly<Record<string, { readonly method: string }>>) =>
    Object.values(methods).map(({ method }) => method);
  expect([...named(METHODS), ...named(CLIENT_CSV_METHODS)].sort()).toEqual(
    methodsOf({ client, ...client, msgapp: client.msgapp() }).sort(),
  );
  expect([...named(MANAGE_METHODS), ...named(CSV_METHODS)].sort()).toEqual(methodsOf({ ...manage }).sort());
});

test.each(Object.entries(METHODS))('%s requests its route with all its inputs', async (operationId, { call }) => {
  const asked = await askedBy((fetch) => call(new MessagingClient({ baseUrl: BASE, apiKey: 'k', fetch })));
  expectOperation(operationId, asked);
  const authenticated = (operations.get(operationId)?.operation.security ?? []).length > 0;
  expect(asked?.headers.has('x-api-key')).toBe(authenticated);
});

test.each(Object.entries(MANAGE_METHODS))(
  '%s requests its route as a user, with all its inputs',
  async (operationId, { call }) => {
    const token = async () => 'jwt';
    const account = operationId === 'getMe' ? { account: 'shop' } : {};
    const asked = await askedBy((fetch) => call(new ManagementClient({ baseUrl: BASE, token, fetch, ...account })));
    expectOperation(operationId, asked);
    const { security = [] } = operations.get(operationId)?.operation ?? {};
    // A sign-out needs no token, but a page in a frame has nothing else that identifies its session.
    const authenticated = security.length > 0 || operationId === 'endSession';
    expect(asked?.headers.get('authorization')).toBe(authenticated ? 'Bearer jwt' : null);
  },
);

test.each(Object.entries(CSV_METHODS))('%s requests a CSV file from its route', async (operationId, { call }) => {
  const token = async () => 'jwt';
  const asked = await askedBy((fetch) => call(new ManagementClient({ baseUrl: BASE, token, fetch })));
  const path = pathFor(document, asked?.url.pathname ?? '');
  expect(`${asked?.init.method} ${path}`).toBe(operations.get(operationId)?.route);
  expect(asked?.headers.get('accept')).toBe('text/csv');
});

test.each(Object.entries(CLIENT_CSV_METHODS))(
  '%s requests a CSV file from its route',
  async (operationId, { call }) => {
    const asked = await askedBy((fetch) => call(new MessagingClient({ baseUrl: BASE, apiKey: 'k', fetch })));
    const path = pathFor(document, asked?.url.pathname ?? '');
    expect(`${asked?.init.method} ${path}`).toBe(operations.get(operationId)?.route);
    expect(asked?.headers.get('accept')).toBe('text/csv');
  },
);

test('an operator names the account once', async () => {
  const options = { baseUrl: BASE, token: async () => 'jwt', account: 'shop' };
  const asked = await askedBy((fetch) => new ManagementClient({ ...options, fetch }).account.signatures().page());
  expect(asked?.url.search).toBe('?account=shop');
});

type Asked = ScriptedFetch['asked'][number] | undefined;

async function askedBy(call: (fetch: ScriptedFetch['fetch']) => Promise<unknown>): Promise<Asked> {
  const script = new ScriptedFetch(ok({ items: [], next_cursor: null, next_after: 0, last: 0 }));
  await call(script.fetch);
  return script.asked[0];
}

function expectOperation(operationId: string, asked: Asked): void {
  const described = operations.get(operationId);
  const path = pathFor(document, asked?.url.pathname ?? '');
  expect(`${asked?.init.method} ${path}`).toBe(described?.route);
  const actual = [
    ...[...(asked?.url.searchParams.keys() ?? [])].map((name) => `query ${name.replace(/^metadata\..*/, 'metadata')}`),
    ...[...(asked?.headers.keys() ?? [])]
      .filter((name) => name === 'idempotency-key')
      .map(() => 'header Idempotency-Key'),
    ...Object.keys(Object(asked?.body)).map((name) => `body ${name}`),
  ];
  expect(actual.sort()).toEqual(described && inputsOf(described.operation));
}
