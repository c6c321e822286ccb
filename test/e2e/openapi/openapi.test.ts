import { afterEach, expect, test } from '@jest/globals';
import { Controller, Get, type INestApplication, Module, Param, RequestMethod, VersioningType } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { SERVED_TYPES } from '../../../src/sandbox/sandbox-files.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { MANAGEMENT_SECRET } from '../../support/management/management-app.js';
import { CallingSandbox } from '../../support/mounting/calling-transport.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { CallingMsgapp } from '../../support/msgapp/calling-msgapp.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { playEvents } from '../../support/openapi/openapi-events.js';
import { type Fetch, validatingFetch } from '../../support/openapi/openapi-fetch.js';
import { playHooks } from '../../support/openapi/openapi-hooks.js';
import { serveDocument } from '../../support/openapi/openapi-host.js';
import { playCap, playLimits } from '../../support/openapi/openapi-limits.js';
import { playMsgapp } from '../../support/openapi/openapi-msgapp.js';
import { servePage } from '../../support/openapi/openapi-page.js';
import { rawFetch } from '../../support/openapi/openapi-raw-fetch.js';
import { type Described, operationsOf, pathFor } from '../../support/openapi/openapi-reader.js';
import { watchRoutes } from '../../support/openapi/openapi-routes.js';
import { IN_FLIGHT, MAX_BYTES, MAX_RECIPIENTS, playScenario, UNITS } from '../../support/openapi/openapi-scenario.js';
import { structuralFaults } from '../../support/openapi/openapi-structure.js';
import { playTemplates } from '../../support/openapi/openapi-templates.js';
import { exampleFor } from '../../support/openapi/openapi-texts.js';
import { TroubledStorage } from '../../support/openapi/openapi-troubles.js';
import { playWebhooks } from '../../support/openapi/openapi-webhooks.js';
import { PEPPER } from '../../support/otp/otp-app.js';

let closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

@Controller('shop')
class ShopController {
  @Get('orders/:id')
  @ApiOkResponse({ description: 'An order.' })
  order(@Param('id') id: string): object {
    return { id };
  }
}

@Module({ controllers: [ShopController] })
class ShopModule {}

/** The number of media types of an answer. */
function lengthOf(name: string, status: string): number {
  if (status === '204') return 0;
  if (status !== '200') return 1;
  if (name === 'GET /sandbox/phones/{number}/messages/{messageID}/media') return SERVED_TYPES.length;
  return name === 'GET /sandbox/media/{name}' ? 4 : 1;
}

const QR = '/api/v1/msgapp/web/qr/{qrToken}';

/**
 * Only a fault in our own code could cause these: the routes ask nobody for anything, or treat every fault as a
 * refusal.
 */
const OUT_OF_REACH = [
  ...['', '/events', '/codes', '/links', '/media/{name}', '/hooks', '/hooks/{name}'].map(
    (path) => `GET /sandbox${path} 500 internal`,
  ),
  `GET ${QR} 500 internal`,
  `GET ${QR}/image 500 internal`,
  `GET ${QR}/image 504 timeout`,
  ...['live', 'ready'].map((name) => `GET /api/v1/health/${name} 500 internal`),
  'POST /sandbox/phones/{number}/scan 500 internal',
  'POST /sandbox/phones/{number}/messages 404 callback_not_found',
];

interface Host {
  readonly options?: Partial<MessagingOptions>;
  readonly sandboxes?: readonly string[];
  readonly units?: number;
  readonly configure?: (app: INestApplication) => void;
}

async function start(adapter: Adapter, { options = {}, sandboxes = ['sandbox'], units = 1000, ...host }: Host = {}) {
  let routes = (): string[] => [];
  const app = await startMessaging(
    adapter,
    { msgapp: MSGAPP, webhooks: { pepper: PEPPER }, ...options },
    {
      imports: [...sandboxes.map((path) => SandboxModule.forRoot({ path })), ShopModule],
      units,
      configure: (nest) => {
        host.configure?.(nest);
        routes = watchRoutes(nest);
        serveDocument(nest);
      },
    },
  );
  closing.push(() => app.close());
  const document: Described = JSON.parse(await (await fetch(`${app.url}/docs-json`)).text());
  const served = routes().filter((route) => !/^GET \/docs\b/.test(route));
  return { app, document, served, described: [...operationsOf(document).keys()] };
}

describeOnBothAdapters('the OpenAPI document', (adapter) => {
  test.each<[string, Host]>([
    ['as it is by default', {}],
    ['below a global prefix', { configure: (app) => app.setGlobalPrefix('gateway/eu') }],
    [
      'below a prefix that leaves some routes out',
      {
        configure: (app) =>
          app.setGlobalPrefix('gateway', { exclude: [{ path: 'api/v1/balance', method: RequestMethod.GET }] }),
      },
    ],
    ['under a path of its own', { options: { path: 'messaging' } }],
    ['beside versions of the host', { configure: (app) => app.enableVersioning({ type: VersioningType.URI }) }],
    ['with a second mount', { sandboxes: ['sandbox', 'internal/phones'] }],
    ['with two channels', { options: { msgapp: [MSGAPP, { ...MSGAPP, channel: 'support' }] } }],
    ['with log-in hooks', { options: { hooks: { pepper: PEPPER } } }],
    ['with the management API', { options: { management: { secret: MANAGEMENT_SECRET } } }],
    ['with campaigns', { options: { campaigns: {} } }],
    ['without routes', { options: { controllers: false }, sandboxes: [] }],
  ])('describes exactly the routes that are mounted: %s', async (_, host) => {
    const { document, served, described } = await start(adapter, host);
    expect(described.sort()).toEqual(served.sort());
    expect(described).toContainEqual(expect.stringContaining('/shop/orders/{id}'));
    expect(structuralFaults(document)).toEqual([]);
  });

  test('describes every route correctly, in success and in every error', async () => {
    const storage = new TroubledStorage();
    const clock = new FakeClock();
    const { app, document } = await start(adapter, {
      options: {
        storage: { useValue: storage },
        clock: { useValue: clock },
        limits: { bodyBytes: MAX_BYTES, inFlight: IN_FLIGHT },
        sms: { ...OPTIONS.sms, maxRecipients: MAX_RECIPIENTS, transport: CallingSandbox },
        // The clock advances in large steps.
        msgapp: { ...MSGAPP, transport: CallingMsgapp, sessions: { leaseMs: 600_000, scanMs: 3_600_000 } },
        media: { allow: 'loopback' },
      },
      units: UNITS,
    });
    const seen = new Set<string>();
    const validated = validatingFetch(document, rawFetch);
    const noting: Fetch = async (input, init = {}) => {
      const answer = await validated(input, init);
      const path = pathFor(document, new URL(input).pathname) ?? '';
      const method = init.method ?? 'GET';
      const place = `${method} ${path} ${answer.status}`;
      const media =
        document.paths[path]?.[method.toLowerCase()]?.responses[answer.status]?.content?.['application/json'];
      const error = answer.ok || media === undefined ? '' : exampleFor(await answer.clone().json(), media);
      seen.add(`${place} ${error}`.trimEnd());
      return answer;
    };
    await playScenario({ fetch: noting, app, storage, clock });
    const sms = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
    const send = { method: 'POST', path: '/api/v1/send/sms', status: 429, body: sms };
    await playCap({ fetch: noting, app, storage, clock }, [send]);
    await playMsgapp({ fetch: noting, app, storage, clock });
    await playEvents({ fetch: noting, app, storage, clock });
    await playWebhooks({ fetch: noting, app, storage, clock });
    await playTemplates({ fetch: noting, app, storage, clock });
    await playLimits({ fetch: noting, app, storage, clock }, document);

    const promised = [...operationsOf(document)]
      .filter(([name]) => !name.includes('/shop/'))
      .flatMap(([name, { responses }]) =>
        Object.entries(responses).flatMap(([status, { content = {} }]) =>
          Number(status) < 300
            ? [`${name} ${status}`]
            : Object.keys(content['application/json']?.examples ?? {}).map((error) => `${name} ${status} ${error}`),
        ),
      );
    expect([...seen].sort()).toEqual(promised.filter((each) => !OUT_OF_REACH.includes(each)).sort());
  });

  test('has a page at /docs', async () => {
    const { document } = await start(adapter);
    const { url, host } = await servePage(document, adapter);
    closing.push(async () => {
      host.kill();
    });
    const page = await call(`${url}/docs`);
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('swagger-ui')]);
    const script = await call(`${url}/docs/swagger-ui-init.js`);
    expect([script.status, script.body]).toEqual([200, expect.stringContaining('/api/v1/send/sms')]);
    const bundle = await call(`${url}/docs/swagger-ui-bundle.js`);
    expect(bundle.status).toBe(200);
  });
});

test('the OpenAPI document says what each of our routes does and answers', async () => {
  const { document } = await start('express');
  for (const [name, operation] of operationsOf(document)) {
    if (name.includes('/shop/')) continue;
    expect([name, operation]).toEqual([name, expect.objectContaining({ summary: expect.any(String) })]);
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^20[04]$/), '500']),
    );
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      expect(Object.keys(content)).toHaveLength(lengthOf(name, status));
    }
  }
});

test('log-in hooks answer as the OpenAPI document says, in success and to wrong calls', async () => {
  const { app, document } = await start('express', { options: { hooks: { pepper: PEPPER } } });
  expect(await playHooks(validatingFetch(document, rawFetch), app)).toEqual([]);
});

const MISTAKES: readonly [what: string, right: string, wrong: string][] = [
  ['the type of a field', '"balance":{"type":"integer"', '"balance":{"type":"string"'],
  ['a field that does not exist', '"required":["userID","balance"', '"required":["account","userID","balance"'],
  ['a field that is left out', '"balance":{"type":"integer"', '"left":{"type":"integer"'],
  ['the values of a field', '"enum":["sms_units"]', '"enum":["units"]'],
  ['a content type', '"application/json"', '"application/xml"'],
  ['a status', '"200":', '"201":'],
  ['a method', '"get":', '"put":'],
  ['a path', '/api/v1/balance', '/api/v1/credit'],
];

test('mistakes in an OpenAPI document are detected', async () => {
  const { app, document } = await start('express');
  const ask = (described: Described) =>
    validatingFetch(described)(`${app.url}/api/v1/balance`, { headers: { 'x-api-key': app.key } });
  await expect(ask(document)).resolves.toHaveProperty('status', 200);

  const text = JSON.stringify(document);
  const unnoticed: string[] = [];
  for (const [what, right, wrong] of MISTAKES) {
    expect(text).toContain(right);
    const altered: Described = JSON.parse(text.replaceAll(right, wrong));
    await ask(altered).then(
      () => unnoticed.push(what),
      () => undefined,
    );
  }
  expect(unnoticed).toEqual([]);
});
