import { afterEach, describe, expect, test } from '@jest/globals';
import { Body, Controller, type DynamicModule, type INestApplication, Module, Post, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiBearerAuth, ApiOkResponse, ApiProperty, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { describeMessaging } from '../../../src/openapi/describe-messaging.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { documentOf } from '../../support/openapi/openapi-host.js';
import type { Described, DescribedOperation } from '../../support/openapi/openapi-reader.js';
import { structuralFaults } from '../../support/openapi/openapi-structure.js';
import { PEPPER } from '../../support/otp/otp-app.js';

let closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

/** An application that has not been started. */
async function hostOf(...imports: (Type | DynamicModule)[]): Promise<INestApplication> {
  @Module({ imports })
  class Host {}
  const app = await NestFactory.create(Host, { logger: false });
  closing.push(() => app.close());
  return app;
}

const withOptions = (options: Partial<MessagingOptions> = {}) =>
  hostOf(MessagingModule.forRoot({ ...OPTIONS, ...options }));

/** The document as a client gets it. */
function served(document: object): Described & { readonly components: { readonly securitySchemes: object } } {
  return JSON.parse(JSON.stringify(document));
}

function operation({ paths }: Described, method: string, path: string): DescribedOperation {
  const found = paths[path]?.[method];
  if (found === undefined) throw new Error(`${method} ${path} is not described`);
  return found;
}

const send = (document: Described) => operation(document, 'post', '/api/v1/send/sms');
const balance = (document: Described) => operation(document, 'get', '/api/v1/balance');

function texts({ responses }: DescribedOperation, status: number): Record<string, unknown> {
  const examples = responses[status]?.content?.['application/json']?.examples ?? {};
  return Object.fromEntries(Object.entries(examples).map(([name, { value }]) => [name, Object(value).message]));
}

class Order {
  @ApiProperty({ type: Number })
  total = 0;
}

// A class of the host with the same name as our error body.
const HostError = { Error: class extends Order {} }.Error;

@Controller('orders')
@ApiBearerAuth('ApiKey')
class OrderController {
  @Post()
  @ApiOkResponse({ description: 'An error of the host.', type: HostError })
  order(@Body() order: Order): Order {
    return order;
  }
}

@Module({ controllers: [OrderController] })
class OrderModule {}

describe('describeMessaging', () => {
  test('leaves a document unchanged if nothing of ours is mounted', async () => {
    const app = await hostOf(OrderModule);
    const document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(describeMessaging(app, document)).toBe(document);
  });

  test('keeps what the host says, even under names that are ours', async () => {
    const app = await hostOf(MessagingModule.forRoot(OPTIONS), OrderModule);
    const config = new DocumentBuilder().addTag('SMS', 'Of the host').addBearerAuth(undefined, 'ApiKey').build();
    const theirs = SwaggerModule.createDocument(app, config);
    const before = served(theirs);
    const document = served(describeMessaging(app, theirs));

    expect(served(theirs)).toEqual(before);
    expect(document.paths['/orders']).toEqual(before.paths['/orders']);
    expect(document.components.schemas).toMatchObject(before.components.schemas ?? {});
    expect(document.components.securitySchemes).toMatchObject(before.components.securitySchemes);
    expect(document).toHaveProperty('tags', [
      { name: 'SMS', description: 'Of the host' },
      expect.objectContaining({ name: 'Balance' }),
      expect.objectContaining({ name: 'Carriers' }),
      expect.objectContaining({ name: 'Health' }),
      expect.objectContaining({ name: 'Templates' }),
    ]);

    expect(balance(document).security).toEqual([{ MessagingApiKey: [] }, { LegacyBearer: [] }]);
    expect(JSON.stringify(balance(document))).toContain('#/components/schemas/MessagingError"');
    expect(JSON.stringify(balance(document))).not.toContain('#/components/schemas/Error"');
    expect(structuralFaults(document)).toEqual([]);
  });

  test('may be called again', async () => {
    const app = await hostOf(MessagingModule.forRoot(OPTIONS), OrderModule);
    const once = documentOf(app);
    expect(served(describeMessaging(app, once))).toEqual(served(once));
  });

  test('gives each mount its own operation ids', async () => {
    const app = await hostOf(
      MessagingModule.forRoot(OPTIONS),
      SandboxModule.forRoot(),
      SandboxModule.forRoot({ path: 'b' }),
    );
    const document = served(documentOf(app));
    expect(operation(document, 'get', '/sandbox').operationId).toBe('showSandbox');
    expect(operation(document, 'get', '/b').operationId).toBe('showSandbox_2');
  });

  test('handles a document that leaves out the global prefix', async () => {
    const app = await withOptions();
    app.setGlobalPrefix('gateway');
    const config = new DocumentBuilder().addServer('/gateway').build();
    const document = describeMessaging(app, SwaggerModule.createDocument(app, config, { ignoreGlobalPrefix: true }));
    expect(Object.keys(document.paths)).toContain('/api/v1/balance');
    expect(Object.keys(document.paths)).not.toContain('/gateway/api/v1/balance');
    expect(balance(served(document)).summary).toBe('Read the balance');
  });

  test('writes null as OpenAPI 3.1 does if the document is of that version', async () => {
    const app = await withOptions();
    const older = JSON.stringify(documentOf(app, '3.0.0').components?.schemas?.SmsPage);
    const newer = JSON.stringify(documentOf(app, '3.1.0'));
    expect(older).toContain('"nullable":true');
    expect(newer).not.toContain('"nullable"');
    expect(newer).toContain('"type":["string","null"]');
  });

  test('shows the limits and signatures of the host', async () => {
    const app = await withOptions({
      signatures: ['SHOP', 'ALERT', 'CARE'],
      sms: { ...OPTIONS.sms, maxRecipients: 7, maxSegments: 3 },
    });
    const document = served(documentOf(app));
    expect(document.components.schemas?.SendSms).toHaveProperty('properties.number.maxItems', 7);
    expect(JSON.stringify(send(document).requestBody)).toContain('"signature":"SHOP"');
    expect(texts(send(document), 400)).toMatchObject({
      too_many_recipients: 'Trop de destinataires : 8, maximum 7',
      too_many_segments: 'Message trop long : 4 segments, maximum 3',
    });
  });

  test('shows the limit of SMS lists that is set on a shared core', async () => {
    const { sms, ...options } = OPTIONS;
    const core = MessagingCore.forRoot(options);
    const app = await hostOf(SmsModule.forRoot({ core, ...sms, maxRecipients: 7 }));
    expect(served(documentOf(app)).components.schemas?.SendSms).toHaveProperty('properties.number.maxItems', 7);
  });

  test('says what happens to texts and numbers if the host has changed that', async () => {
    const plain = JSON.stringify(documentOf(await withOptions()).components?.schemas?.SendSms);
    expect(plain).toContain('It is not changed.');
    expect(plain).not.toContain('numbering plan');
    const sms = { ...OPTIONS.sms, transliterate: 'punctuation', strictNumbers: true } as const;
    const changed = JSON.stringify(documentOf(await withOptions({ sms })).components?.schemas?.SendSms);
    expect(changed).toContain('Typographic punctuation becomes plain');
    expect(changed).toContain('Numbers that are in no numbering plan are refused.');
  });

  test('derives the fields of a body, and their errors, from the rules of its DTO', async () => {
    const document = served(documentOf(await withOptions({ otp: { pepper: PEPPER } })));
    expect(document.components.schemas?.SendOtp).toMatchObject({
      properties: {
        service: { type: 'string', minLength: 1, maxLength: 128 },
        number: { type: 'string', pattern: '^[1-9]\\d{6,14}$' },
        channel: { type: 'string', nullable: true },
      },
      required: ['service', 'number'],
    });
    expect(Object.keys(texts(operation(document, 'post', '/api/v1/send/otp'), 400))).toEqual(
      expect.arrayContaining([
        'field_missing.service',
        'field_not_string.service',
        'field_invalid.service',
        'field_missing.number',
        'field_not_string.number',
        'invalid_number',
        'field_not_string.channel',
      ]),
    );
  });

  test('shows errors in the language of the host', async () => {
    const document = served(documentOf(await withOptions({ locale: { 'error.empty_message': 'Rien à dire' } })));
    expect(texts(send(document), 400)).toMatchObject({
      empty_message: 'Rien à dire',
      insufficient_balance: 'Solde SMS insuffisant',
    });
    const english = served(documentOf(await withOptions({ locale: 'en' })));
    expect(texts(send(english), 401)).toEqual({ unauthorized: 'Missing or invalid API key' });
  });

  test('marks the deprecated way to send the key, and announces its end', async () => {
    const sunset = new Date('2027-06-01T00:00:00Z');
    const document = served(
      documentOf(await withOptions({ legacyBearer: { sunset, link: 'https://example.org/keys' } })),
    );
    expect(document.components.securitySchemes).toHaveProperty('LegacyBearer', {
      type: 'http',
      scheme: 'bearer',
      'x-deprecated': true,
      description: expect.stringMatching(/^\*\*Deprecated\*\*.*Tue, 01 Jun 2027 00:00:00 GMT/),
    });
    expect(Object.keys(balance(document).responses['200']?.headers ?? {})).toEqual(['Deprecation', 'Sunset', 'Link']);
    expect(balance(document).responses['401']?.headers).not.toHaveProperty('Deprecation');
  });

  test('does not mention that way if it is switched off', async () => {
    const document = served(documentOf(await withOptions({ legacyBearer: false })));
    expect(balance(document).security).toEqual([{ ApiKey: [] }]);
    expect(Object.keys(document.components.securitySchemes)).toEqual(['ApiKey']);
    expect(balance(document).responses['200']).not.toHaveProperty('headers');
    expect(texts(balance(document), 401)).toHaveProperty('use_x_api_key');
  });

  test('mentions user tokens only if somebody verifies them', async () => {
    const useValue: UserTokenVerifier = { verify: async () => undefined };
    const document = served(documentOf(await withOptions({ userTokens: { useValue } })));
    expect(balance(document).security).toEqual([
      { ApiKey: [] },
      { LegacyBearer: [] },
      { UserToken: [] },
      { UserTokenHeader: [] },
    ]);
    expect(texts(balance(document), 404)).toEqual({ account_not_found: 'Compte introuvable' });

    // The provider is in a place that the module does not see.
    @Module({ providers: [{ provide: UserTokenVerifier, useValue }] })
    class Elsewhere {}
    const without = served(documentOf(await hostOf(MessagingModule.forRoot(OPTIONS), Elsewhere)));
    expect(balance(without).security).toEqual([{ ApiKey: [] }, { LegacyBearer: [] }]);
    expect(balance(without).responses).not.toHaveProperty('404');
  });

  test('asks for no key in the sandbox, whatever the host requires elsewhere', async () => {
    const app = await hostOf(MessagingModule.forRoot(OPTIONS), SandboxModule.forRoot());
    const { security, responses } = operation(served(documentOf(app)), 'get', '/sandbox/phones');
    expect(security).toEqual([]);
    expect(Object.keys(responses)).toEqual(['200', '403', '500', '503']);
  });
});
