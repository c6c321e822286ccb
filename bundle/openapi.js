import { readFileSync, writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { eventTypeViews } from '../build/src/webhooks/feed/event-type-views.js';
import { describeMessaging, MessagingModule } from '../dist/index.js';
import { MemoryStorage } from '../dist/testing/index.js';

// Makes `dist/openapi.json`: what a service with all its capabilities describes, on the options' defaults. The sandbox, which has
// no authentication and is for tests, the calls of carriers, messaging apps and log-in systems, and health are no part of it: they are not for clients.

class Service {}
Module({
  imports: [
    MessagingModule.forRoot({
      storage: MemoryStorage,
      signatures: ['INFOS', 'ALERTE', 'SERVICE'],
      sms: { tariff: { base: 1, international: 3, home: 'BF' } },
      otp: { pepper: 'only to describe; no code is derived from it' },
      webhooks: { pepper: 'only to describe; no secret is derived from it' },
      hooks: { pepper: 'only to describe; nothing is encrypted with it' },
      campaigns: {},
      management: { secret: 'only to describe; no token is signed with it' },
      msgapp: { tariff: { text: 1, media: 2 }, credentialsKey: 'only to describe; nothing is encrypted with it' },
    }),
  ],
})(Service);

const { version, description } = JSON.parse(readFileSync('package.json', 'utf8'));
const app = await NestFactory.createApplicationContext(Service, { logger: ['error'], abortOnError: false });
const { paths, tags, ...document } = describeMessaging(app, {
  openapi: '3.1.0',
  info: { title: 'nestjs-messaging', version, description },
  paths: {},
});
await app.close();

const NOT_FOR_CLIENTS = ['Carriers', 'Calls of messaging apps', 'Log-in systems', 'Health'];
const isOurs = (operation) => !operation.tags.some((tag) => NOT_FOR_CLIENTS.includes(tag));
const types = eventTypeViews().map(({ schema: { $schema, ...schema }, ...each }) => ({
  ...each,
  schema,
  name: `event.${each.type}`,
}));
const header = (name, meaning) => ({
  name,
  in: 'header',
  required: true,
  description: meaning,
  schema: { type: 'string' },
});
/** One for each type; a call of an endpoint with batches has `{ events }` instead. */
const webhooks = types.map(({ type, description, name }) => {
  const event = { $ref: `#/components/schemas/${name}` };
  const batch = { type: 'object', properties: { events: { type: 'array', items: event } }, required: ['events'] };
  const post = {
    operationId: `on.${type}`,
    summary: description,
    tags: ['Webhooks'],
    security: [],
    parameters: [
      header('webhook-id', 'The same in every repeat of the call.'),
      header('webhook-timestamp', 'When the call was signed, in seconds since 1970.'),
      header(
        'webhook-signature',
        'Standard Webhooks: `v1,…` (HMAC-SHA256) or `v1a,…` (Ed25519); several with blanks between.',
      ),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: { oneOf: [event, batch] } } } },
    responses: {
      '2XX': { description: 'Received.' },
      410: { description: 'Disables the endpoint at once.' },
      default: { description: 'The call is made again later; on 429 and 503 not before `Retry-After`.' },
    },
  };
  return [type, { post }];
});
const own = Object.fromEntries(
  Object.entries(paths)
    .map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).filter(([, operation]) => isOurs(operation))),
    ])
    .filter(([, item]) => Object.keys(item).length > 0),
);

/** Answers to errors that so many operations share stand once in the document. */
const MANY = 10;
/** By their texts: where each error is answered. */
const answered = new Map();
for (const { responses } of Object.values(own).flatMap((item) => Object.values(item))) {
  for (const status of Object.keys(responses).filter((each) => Number(each) >= 400)) {
    const text = JSON.stringify(responses[status]);
    answered.set(text, [...(answered.get(text) ?? []), { responses, status }]);
  }
}
const shared = {};
for (const [text, places] of answered) {
  if (places.length < MANY) continue;
  const answer = JSON.parse(text);
  const name = Object.keys(answer.content['application/json'].examples).join('.');
  if (name in shared) throw new Error(`Two answers have the name ${name}.`);
  shared[name] = answer;
  for (const { responses, status } of places) responses[status] = { $ref: `#/components/responses/${name}` };
}

const described = {
  ...document,
  tags: tags.filter(({ name }) => !NOT_FOR_CLIENTS.includes(name)),
  components: {
    ...document.components,
    responses: shared,
    schemas: { ...document.components.schemas, ...Object.fromEntries(types.map(({ name, schema }) => [name, schema])) },
  },
  webhooks: Object.fromEntries(webhooks),
  paths: own,
};
writeFileSync('dist/openapi.json', JSON.stringify(described));
