import { afterEach, describe, expect, test } from '@jest/globals';
import {
  ArgumentsHost,
  Body,
  CallHandler,
  Catch,
  Controller,
  type DynamicModule,
  ExceptionFilter,
  ExecutionContext,
  ForbiddenException,
  Get,
  HttpCode,
  type INestApplication,
  Module,
  type NestApplicationOptions,
  NestInterceptor,
  Post,
  type RawBodyRequest,
  Req,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { IsString } from 'class-validator';
import express from 'express';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { isMessagingRoute } from '../../../src/http/messaging-route.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { hostModule, toyModule } from '../../support/http/edge-toys.js';
import { type Adapter, describeOnBothAdapters, type RunningApp, startApp } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';

const KEY = { 'x-api-key': 'good' };
const JSON_TYPE = { 'content-type': 'application/json' };
const SEND = { signature: 'INFOS', number: ['22670000000'] };
const MALFORMED = {
  statusCode: 400,
  message: 'Le corps de la requête n’est pas un JSON valide',
  error: 'Bad Request',
};

const INVALID = { statusCode: 400, message: 'Requête invalide', error: 'Bad Request' };

class HostBody {
  @IsString()
  name!: string;
}

/** The host's own routes, some of them below our path. */
@Controller('api/v1')
class HostController {
  @Post('own')
  @HttpCode(200)
  own(@Body() body: HostBody, @Req() req: RawBodyRequest<object>) {
    return { body, raw: req.rawBody?.toString() ?? null };
  }

  @Get('sms/export')
  export() {
    return { exported: true };
  }

  @Get('boom')
  boom() {
    throw new ForbiddenException('the host says no');
  }
}

let running: RunningApp | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

interface Variant {
  readonly options?: NestApplicationOptions;
  readonly configure?: (app: INestApplication, adapter: Adapter) => void;
  readonly path?: string;
  readonly hostPath?: string;
}

const ownParser = (app: INestApplication, adapter: Adapter): void => {
  if (adapter === 'express') app.use(express.json({ limit: '100kb' }));
};

const variants: Record<string, Variant> = {
  'as it comes': {},
  'with a parser of its own': { options: { bodyParser: false }, configure: ownParser },
  'with raw bodies': { options: { rawBody: true } },
  'with a global prefix': { configure: (app) => app.setGlobalPrefix('/shop/'), path: 'shop/api/v1' },
  'with our path out of its prefix': {
    configure: (app) => app.setGlobalPrefix('shop', { exclude: ['api/v1/send/sms', 'api/v1/echo'] }),
    hostPath: 'shop/api/v1',
  },
  'with versions in the URI': {
    configure: (app) => app.enableVersioning({ type: VersioningType.URI, defaultVersion: '3' }),
    hostPath: 'v3/api/v1',
  },
};

describeOnBothAdapters('a host', (adapter) => {
  describe.each(['NestFactory', 'TestingModule'])('made with %s', (maker) => {
    test.each(Object.entries(variants))(
      '%s keeps its own body rules and gets ours on our routes',
      async (_name, variant) => {
        const { options = {}, configure, path = 'api/v1', hostPath = path } = variant;
        const module = hostModule(toyModule({ limits: { bodyBytes: 3_000_000 } }), { controllers: [HostController] });
        const compiled =
          maker === 'NestFactory' ? module : await Test.createTestingModule({ imports: [module] }).compile();
        running = await startApp(compiled, adapter, { options, configure: (app) => configure?.(app, adapter) });
        const ours = `${running.url}/${path}`;
        const host = `${running.url}/${hostPath}`;
        const post = (url: string, body: unknown) =>
          call(url, { method: 'POST', headers: { ...KEY, ...JSON_TYPE }, body });

        // The host's limit is 100 kB on Express and 1 MiB on Fastify.
        expect(await post(`${ours}/echo`, { a: 'x'.repeat(2_000_000) })).toMatchObject({ status: 200 });
        expect((await post(`${ours}/echo`, { a: 'x'.repeat(3_000_000) })).body).toEqual({
          statusCode: 413,
          message: 'Requête trop volumineuse',
          error: 'Payload Too Large',
        });
        expect((await post(`${ours}/echo`, '{"a":')).body).toEqual(MALFORMED);
        expect(await post(`${ours}/send/sms`, SEND)).toMatchObject({ status: 200, body: { by: 'acme' } });

        const text = '{"name": "Awa", "more": 1}';
        expect((await post(`${host}/own`, text)).body).toEqual({
          body: { name: 'Awa', more: 1 },
          raw: options.rawBody ? text : null,
        });
        const tooLarge = await post(`${host}/own`, { name: 'x'.repeat(2_000_000) });
        expect([tooLarge.status, tooLarge.body]).toMatchObject([413, { statusCode: 413 }]);
        expect(tooLarge.body).not.toMatchObject({ message: 'Requête trop volumineuse' });
        const malformed = await post(`${host}/own`, '{"name":');
        expect([malformed.status, malformed.body]).toMatchObject([400, { statusCode: 400 }]);
        expect(malformed.body).not.toEqual(MALFORMED);
        const form = await call(`${host}/own`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'name=Awa',
        });
        if (options.bodyParser !== false) expect(form.body).toMatchObject({ body: { name: 'Awa' } });

        expect((await call(`${host}/boom`)).body).toEqual({
          statusCode: 403,
          message: 'the host says no',
          error: 'Forbidden',
        });
        expect((await call(`${host}/sms/export`)).body).toEqual({ exported: true });
      },
    );
  });

  test('finds our routes below a path that RouterModule sets', async () => {
    const toys = toyModule();
    running = await startApp(
      hostModule(toys, { imports: [RouterModule.register([{ path: 'inner', module: toys.module }])] }),
      adapter,
      { configure: (app) => void app.setGlobalPrefix('outer') },
    );
    const reply = await call(`${running.url}/outer/inner/api/v1/echo`, {
      method: 'POST',
      headers: { ...KEY, ...JSON_TYPE },
      body: '[',
    });
    expect(reply.body).toEqual(MALFORMED);
  });

  test('keeps our validation and error body on our routes, despite its global pipe, filter and guard', async () => {
    @Catch()
    class HostFilter implements ExceptionFilter {
      catch(_error: unknown, host: ArgumentsHost): void {
        const response = host.switchToHttp().getResponse();
        response.status(418).send({ host: 'filter' });
      }
    }
    running = await startApp(hostModule(toyModule(), { controllers: [HostController] }), adapter, {
      configure: (app) => {
        app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
        app.useGlobalFilters(new HostFilter());
        app.useGlobalGuards({
          canActivate: (context: ExecutionContext) =>
            context.switchToHttp().getRequest().headers['x-blocked'] === undefined,
        });
      },
    });
    const post = (path: string, body: unknown, headers = {}) =>
      call(`${running?.url}/api/v1/${path}`, { method: 'POST', headers: { ...KEY, ...headers }, body });
    expect(await post('send/sms', { ...SEND, unknown: 1 })).toMatchObject({ status: 200 });
    expect((await post('send/sms', { signature: 7 })).body).toMatchObject({
      message: 'Le champ signature doit être une chaîne de caractères',
    });
    expect((await post('fail/unexpected', {})).body).toMatchObject({ message: 'Erreur interne du service' });
    // A global guard runs first and may refuse. The refusal still has our error body.
    expect(await post('send/sms', SEND, { 'x-blocked': '1' })).toMatchObject({
      status: 403,
      body: { statusCode: 403, message: 'Forbidden resource', error: 'Forbidden' },
    });
    expect(await post('own', { name: 'Awa', more: 1 })).toMatchObject({ status: 418, body: { host: 'filter' } });
  });

  test('wraps our answers with a global interceptor unless that checks whose route it is', async () => {
    class Wrap implements NestInterceptor {
      constructor(private readonly spare: boolean) {}
      intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
        return this.spare && isMessagingRoute(context) ? next.handle() : next.handle().pipe(map((data) => ({ data })));
      }
    }
    for (const spare of [false, true]) {
      const app = await startApp(hostModule(toyModule()), adapter, {
        configure: (host) => void host.useGlobalInterceptors(new Wrap(spare)),
      });
      const { body } = await call(`${app.url}/api/v1/sms`, { headers: KEY });
      await app.close();
      expect(body).toEqual(spare ? { page: {} } : { data: { page: {} } });
    }
  });

  test('gets our error body for errors of its middleware on our routes, and its own elsewhere', async () => {
    running = await startApp(hostModule(toyModule(), { controllers: [HostController] }), adapter, {
      configure: (app) => {
        app.use((_req: unknown, _res: unknown, next: (error: unknown) => void) => next(new Error('no tenant')));
      },
    });
    const ours = await call(`${running.url}/api/v1/sms`, { headers: KEY });
    expect([ours.status, ours.body]).toEqual([
      500,
      { statusCode: 500, message: 'Erreur interne du service', error: 'Internal Server Error' },
    ]);
    expect((await call(`${running.url}/api/v1/boom`)).body).toEqual({
      statusCode: 500,
      message: 'Internal server error',
    });
  });

  test('may have read our bodies already, with a parser in front of everything', async () => {
    running =
      adapter === 'express'
        ? await startApp(hostModule(toyModule()), adapter, {
            platform: new ExpressAdapter(express().use(express.json())),
          })
        : await startApp(hostModule(toyModule()), adapter, { configure: (app) => void app.use(express.json()) });
    const reply = await call(`${running.url}/api/v1/send/sms`, { method: 'POST', headers: KEY, body: SEND });
    expect(reply).toMatchObject({ status: 200, body: { body: SEND } });
  });

  test('may be an application context without HTTP', async () => {
    @Module({ imports: [toyModule()] })
    class Context {}
    const context = await Test.createTestingModule({ imports: [Context] }).compile();
    await context.init();
    await context.close();
  });
});

/** Our whole module with its sandbox, as the README mounts it. */
function sandboxed(): DynamicModule {
  return hostModule(MessagingModule.forRoot(OPTIONS), { imports: [SandboxModule.forRoot()] });
}

describe('paths on Express', () => {
  test('are compared as Express compares them: any case, one slash more, a whole URL as the target', async () => {
    running = await startApp(hostModule(toyModule()), 'express');
    for (const path of ['/API/v1/Echo', '/api/v1/echo/', '/api/v1/echo?x=/y', '/Api/V1/fail/refused/']) {
      const reply = await call(`${running.url}${path}`, {
        method: 'POST',
        headers: { ...KEY, ...JSON_TYPE },
        body: '{',
      });
      expect(reply.body).toEqual(MALFORMED);
    }
  });

  test('that cannot be decoded are refused with our error body', async () => {
    running = await startApp(hostModule(toyModule()), 'express');
    const reply = await call(`${running.url}/api/v1/sms/%FF`, { headers: KEY });
    expect([reply.status, reply.body]).toEqual([400, INVALID]);
    await running.close();
    running = await startApp(hostModule(toyModule({ locale: 'en' })), 'express');
    expect((await call(`${running.url}/api/v1/sms/%FF`, { headers: KEY })).body).toMatchObject({
      message: 'Invalid request',
    });
  });

  test('of the sandbox are ours as well', async () => {
    running = await startApp(sandboxed(), 'express');
    for (const path of ['phones/%FF/messages', 'phones/22670000000%/messages', 'media/%FF']) {
      const reply = await call(`${running.url}/sandbox/${path}`);
      expect([path, reply.status, reply.body]).toEqual([path, 400, INVALID]);
    }
    const long = await call(`${running.url}/sandbox/phones/${'a'.repeat(9000)}/messages`);
    expect([long.status, long.body]).toEqual([400, { ...INVALID, message: `Numéro invalide : ${'a'.repeat(63)}…` }]);
  });
});

describe('paths on Fastify', () => {
  test('that its router refuses have our error body if the host configures it as in docs/http-api.md', async () => {
    const platform = new FastifyAdapter({
      routerOptions: { maxParamLength: 1000 },
      frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) => {
        void reply
          .code(400)
          .header('X-Error-Code', 'request_invalid')
          .send({ statusCode: 400, message: 'Requête invalide', error: 'Bad Request' });
      },
    });
    running = await startApp(sandboxed(), 'fastify', { platform });
    for (const path of ['api/v1/sms/%FF', 'sandbox/phones/%FF/messages', `api/v1/sms/${'a'.repeat(1001)}`]) {
      const reply = await call(`${running.url}/${path}`, { headers: KEY });
      expect([path, reply.status, reply.body]).toEqual([path, 400, INVALID]);
    }
    expect(await call(`${running.url}/sandbox/phones/${'a'.repeat(1000)}/messages`)).toMatchObject({
      status: 400,
      body: { message: `Numéro invalide : ${'a'.repeat(63)}…` },
    });
    expect(await call(`${running.url}/api/v1/sms/${'a'.repeat(1000)}`, { headers: KEY })).toMatchObject({
      status: 401,
    });
  });
});
