import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpException,
  Injectable,
  type LoggerService,
  Module,
  type NestInterceptor,
  type Provider,
  Scope,
  type Type,
  UnauthorizedException,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { isMessagingRoute } from 'nestjs-messaging';
import { map, type Observable, of, tap } from 'rxjs';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { type Adapter, type AppSetup, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { CallingSandbox } from '../../support/mounting/calling-transport.js';
import { type MessagingApp, OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const LOGIN = { authorization: 'Bearer a-session-of-the-host' };
const MSGAPP = { tariff: { text: 1, media: 2 }, credentialsKey: 'a key for credentials in tests, 0123456789' };

@Controller('orders')
class OrdersController {
  @Get()
  list() {
    return [{ order: 1 }];
  }
}

/** A guard as a host writes it that does not know about us. */
@Injectable()
class JwtGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest().headers.authorization === LOGIN.authorization) return true;
    throw new UnauthorizedException('the host knows no such session');
  }
}

@Injectable()
class CourteousJwtGuard extends JwtGuard {
  override canActivate(context: ExecutionContext): boolean {
    return isMessagingRoute(context) || super.canActivate(context);
  }
}

@Injectable()
class Wrapper implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

@Injectable()
class CourteousWrapper extends Wrapper {
  override intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return isMessagingRoute(context) ? next.handle() : super.intercept(context, next);
  }
}

/** An interceptor that sees our answers and leaves them unchanged. */
class Journal implements NestInterceptor {
  readonly seen: unknown[] = [];

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(tap((answer) => void this.seen.push(answer)));
  }
}

/** Caches by URL, as Nest's own cache does. */
class UrlCache implements NestInterceptor {
  private readonly answers = new Map<string, unknown>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { url } = context.switchToHttp().getRequest();
    if (this.answers.has(url)) return of(this.answers.get(url));
    return next.handle().pipe(tap((answer) => void this.answers.set(url, answer)));
  }
}

type Way = 'provided' | 'provided for each request' | 'set on the application';
const WAYS: Way[] = ['provided', 'provided for each request', 'set on the application'];

let app: MessagingApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

/** A host with a route of its own. Returns the warnings of its messaging module so far. */
async function start(adapter: Adapter, providers: Provider[], configure?: AppSetup['configure']): Promise<string[]> {
  @Module({ controllers: [OrdersController], providers })
  class Orders {}
  const warnings: string[] = [];
  const warn = (text: unknown, from: unknown) => void (from === 'Messaging' && warnings.push(String(text)));
  const logger: LoggerService = { log() {}, error() {}, warn };
  const options = {
    sms: { ...OPTIONS.sms, transport: CallingSandbox },
    otp: { pepper: PEPPER },
    msgapp: MSGAPP,
    signatures: OPTIONS.signatures,
  };
  app = await startMessaging(adapter, options, {
    imports: [SandboxModule.forRoot(), Orders],
    options: { logger },
    ...(configure && { configure }),
  });
  return warnings;
}

async function startWithGuard(adapter: Adapter, way: Way, guard: Type<CanActivate>): Promise<string[]> {
  if (way === 'set on the application') return start(adapter, [], (host) => void host.useGlobalGuards(new guard()));
  const scope = way === 'provided' ? Scope.DEFAULT : Scope.REQUEST;
  return start(adapter, [{ provide: APP_GUARD, useClass: guard, scope }]);
}

async function startWithInterceptor(adapter: Adapter, way: Way, interceptor: Type<NestInterceptor>): Promise<string[]> {
  if (way === 'set on the application')
    return start(adapter, [], (host) => void host.useGlobalInterceptors(new interceptor()));
  const scope = way === 'provided' ? Scope.DEFAULT : Scope.REQUEST;
  return start(adapter, [{ provide: APP_INTERCEPTOR, useClass: interceptor, scope }]);
}

/** One request to each kind of our routes: the API, a carrier's call, a page of a code, the sandbox. */
async function visit(): Promise<{ status: number; body: unknown }[]> {
  const { url, key } = app ?? { url: '', key: '' };
  const sms = { signature: 'INFOS', content: 'x', number: ['22670000000'] };
  const replies = [
    await call(`${url}/api/v1/balance`, { headers: { 'x-api-key': key } }),
    await call(`${url}/api/v1/send/sms`, { method: 'POST', headers: { 'x-api-key': key }, body: sms }),
    await call(`${url}/api/v1/sms/callbacks/carrier`, { method: 'POST', body: '200' }),
    await call(`${url}/api/v1/msgapp/web/qr/unknown`),
    await call(`${url}/sandbox`),
    await call(`${url}/sandbox/phones`),
    await call(`${url}/sandbox/phones/22670000100/scan`, { method: 'POST', body: { qr: 'none' } }),
  ];
  return replies.map(({ status, body }) => ({ status, body }));
}

const orders = (headers = {}) => call(`${app?.url}/orders`, { headers });

describeOnBothAdapters('a global guard that requires a session of the host', (adapter) => {
  describe.each(WAYS)('%s', (way) => {
    test('refuses all our routes, and the first refused one logs a warning', async () => {
      const warnings = await startWithGuard(adapter, way, JwtGuard);
      expect(warnings).toEqual([]);
      expect((await visit()).map(({ status }) => status)).toEqual(Array(7).fill(401));
      expect(warnings).toEqual([
        'A global guard (JwtGuard) refused a request to a messaging route with 401. If it is meant for your own routes only, let it return true if isMessagingRoute(context).',
      ]);
      expect((await orders()).body).toMatchObject({ message: 'the host knows no such session' });
      expect(warnings).toHaveLength(1);
    });

    test('admits all of them if it checks isMessagingRoute, and still guards the host', async () => {
      const warnings = await startWithGuard(adapter, way, CourteousJwtGuard);
      expect((await visit()).map(({ status }) => status)).toEqual([200, 200, 200, 404, 200, 200, 404]);
      expect((await call(`${app?.url}/api/v1/balance`)).status).toBe(401); // our own guard
      expect((await orders()).status).toBe(401);
      expect((await orders(LOGIN)).body).toEqual([{ order: 1 }]);
      expect(warnings).toEqual([]);
    });
  });
});

describeOnBothAdapters('a global interceptor that wraps answers', (adapter) => {
  describe.each(WAYS)('on %s', (way) => {
    test('wraps our answers, and the first wrapped one logs a warning', async () => {
      const warnings = await startWithInterceptor(adapter, way, Wrapper);
      expect(warnings).toEqual([]);
      expect((await visit())[0]?.body).toMatchObject({ data: { balance: 1000 } });
      expect(warnings).toEqual([
        'A global interceptor (Wrapper) changed the answer of a messaging route. If it is meant for your own routes only, let it return next.handle() if isMessagingRoute(context).',
      ]);
      expect((await orders()).body).toEqual({ data: [{ order: 1 }] });
    });

    test('leaves them unchanged if it checks isMessagingRoute, and still wraps the host’s', async () => {
      const warnings = await startWithInterceptor(adapter, way, CourteousWrapper);
      const [balance, , callback, , page, phones] = await visit();
      expect(balance?.body).toMatchObject({ balance: 1000 });
      expect([callback?.body, typeof page?.body, Array.isArray(phones?.body)]).toEqual(['', 'string', true]);
      expect((await orders()).body).toEqual({ data: [{ order: 1 }] });
      expect(warnings).toEqual([]);
    });
  });
});

describeOnBothAdapters('other globals of a host', (adapter) => {
  test('cause a warning about a wrapper without the check, even beside a guard with the check', async () => {
    const warnings = await start(adapter, [
      { provide: APP_GUARD, useClass: CourteousJwtGuard },
      { provide: APP_INTERCEPTOR, useClass: Wrapper },
    ]);
    await visit();
    expect(warnings).toEqual([expect.stringMatching(/^A global interceptor \(Wrapper\) changed/)]);
  });

  test('apply to our routes too without a warning: a throttler, a guard by address, a journal', async () => {
    let left = 9;
    let isKnown = true;
    const throttler: CanActivate = {
      canActivate: () => {
        if (left-- > 0) return true;
        throw new HttpException('Too Many Requests', 429);
      },
    };
    const addresses: CanActivate = {
      canActivate: (context) => {
        if (isKnown) return true;
        isMessagingRoute(context); // This guard knows whose route it refuses.
        throw new ForbiddenException('the host does not know this address');
      },
    };
    const journal = new Journal();
    const warnings = await start(adapter, [], (host) => {
      host.useGlobalGuards(throttler, addresses);
      host.useGlobalInterceptors(journal);
    });
    expect((await visit()).map(({ status }) => status)).toEqual([200, 200, 200, 404, 200, 200, 404]);
    expect(journal.seen).toHaveLength(5);
    isKnown = false;
    expect((await visit()).map(({ status }) => status)).toEqual([403, 403, 429, 429, 429, 429, 429]);
    expect((await visit())[0]?.body).toEqual({
      statusCode: 429,
      message: 'Too Many Requests',
      error: 'Too Many Requests',
    });
    expect(warnings).toEqual([]);
  });

  test('that answer in our place cause a warning: a cache by URL gives the answers of one account to another', async () => {
    const warnings = await start(adapter, [{ provide: APP_INTERCEPTOR, useClass: UrlCache }]);
    await visit();
    expect(warnings).toEqual([]);
    await visit();
    expect(warnings).toEqual([expect.stringMatching(/^A global interceptor \(UrlCache\) answered in place of/)]);
  });
});
