import { Stream } from 'node:stream';
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Injectable,
  Logger,
  Module,
  type NestInterceptor,
  type NestModule,
} from '@nestjs/common';
import { GUARDS_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { type Observable, tap } from 'rxjs';
import { responseIn } from '../common/http-context.js';
import { messagingControllerOptions } from './messaging-route.js';
import { rawRequest } from './parameters.js';
import { requestContextOf } from './request-context.js';

/** Statuses with which a host's guard for other routes refuses our callers. A throttler's 429 is intended on our routes too. */
const NOT_LET_IN = [401, 403];

/**
 * Logs a warning if a global guard of the host refuses a request to our routes, or a global interceptor changes one of our
 * answers. Example: the host's global log-in guard answers 401 to our callers. Each kind is logged once, at the first such
 * request; nothing is changed. If the host has called {@link isMessagingRoute} in the request, it has decided on purpose, and
 * there is no warning.
 */
@Injectable()
export class HostGlobals {
  private readonly logger = new Logger('Messaging');
  private readonly warned = new Set<string>();

  constructor(
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
  ) {}

  /**
   * Logs a warning about an error of one of our routes if it came from the host. An `HttpException` comes from the
   * host, because our own refusals are of another class.
   */
  noteError(error: unknown, host: ArgumentsHost): void {
    if (!(error instanceof HttpException) || !NOT_LET_IN.includes(error.getStatus())) return;
    const guards = [...this.config.getGlobalGuards(), ...this.config.getGlobalRequestGuards()];
    if (guards.length === 0 || isDecided(host)) return;
    this.warn(
      `A global guard${namesOf(guards)} refused a request to a messaging route with ${error.getStatus()}. If it is meant for your own routes only, let it return true if isMessagingRoute(context).`,
    );
  }

  /**
   * Compares the answers of our handlers with the answers that are sent, if the host has global interceptors. Without
   * them it would only cost time. Call it after the host's `app.useGlobalInterceptors()`, and before Nest reads the
   * guards and interceptors of controllers.
   */
  watchAnswers(): void {
    const interceptors = [...this.config.getGlobalInterceptors(), ...this.config.getGlobalRequestInterceptors()];
    const who = `A global interceptor${namesOf(interceptors)}`;
    const cure = 'let it return next.handle() if isMessagingRoute(context).';
    const watch = new AnswerWatch({
      changed: () =>
        this.warn(`${who} changed the answer of a messaging route. If it is meant for your own routes only, ${cure}`),
      replaced: () =>
        this.warn(
          `${who} answered in place of a messaging route. A cache gives the answers of one account to another: ${cure}`,
        ),
    });
    for (const { controllers } of this.modules.values()) {
      for (const { metatype } of controllers.values()) {
        if (!metatype || messagingControllerOptions(metatype) === undefined) continue;
        for (const key of [GUARDS_METADATA, INTERCEPTORS_METADATA]) {
          const bound: unknown[] = Reflect.getMetadata(key, metatype) ?? [];
          // All bound interceptors stay, including the host's. Only the watch of another application with the same
          // modules is removed.
          const others = bound.filter((each) => !(each instanceof AnswerWatch));
          Reflect.defineMetadata(key, interceptors.length > 0 ? [...others, watch] : others, metatype);
        }
      }
    }
  }

  private warn(sentence: string): void {
    if (this.warned.has(sentence)) return;
    this.warned.add(sentence);
    this.logger.warn(sentence);
  }
}

/** Starts to watch answers, in `configure()`: Nest calls it after the host's set-up and before it registers routes. */
@Module({ providers: [HostGlobals], exports: [HostGlobals] })
export class HostGlobalsModule implements NestModule {
  constructor(private readonly globals: HostGlobals) {}

  configure(): void {
    this.globals.watchAnswers();
  }
}

interface Findings {
  /** Called if what is sent is not what the handler returned. */
  changed(): void;
  /** Called if something is sent although the handler has not been called. */
  replaced(): void;
}

/** The part of Express's response and of Fastify's reply that is used here. */
interface PlatformResponse {
  readonly statusCode: number;
}

/** How many requests of each handler are watched. A watched request costs a tenth more processor time. */
const WATCHED = 100;

/** A request that is watched. */
interface Watched {
  /** What the handler returned; undefined until it has. */
  returned?: { readonly value: unknown };
}

/** Watches answers. As a guard it runs before the global interceptors, and as an interceptor after them. */
class AnswerWatch implements CanActivate, NestInterceptor {
  private readonly watched = new WeakMap<object, Watched>();
  private readonly requests = new Map<object, number>();

  constructor(private readonly findings: Findings) {}

  canActivate(context: ExecutionContext): boolean {
    // A guard that has called `isMessagingRoute` says nothing about the interceptors.
    const request = requestContextOf(rawRequest(context));
    if (request !== undefined) request.recognised = false;
    const requests = (this.requests.get(context.getHandler()) ?? 0) + 1;
    if (requests > WATCHED) return true;
    this.requests.set(context.getHandler(), requests);
    const watched: Watched = {};
    this.watched.set(rawRequest(context), watched);
    const response = responseIn<PlatformResponse>(context);
    // Express sends objects with `json`. Fastify sends everything with `send`.
    const method = 'json' in response ? 'json' : 'send';
    const send: (body: unknown) => unknown = Reflect.get(response, method);
    Reflect.set(response, method, (body: unknown) => {
      Reflect.set(response, method, send);
      if (response.statusCode < 400 && !isDecided(context)) this.look(watched, body);
      return send.call(response, body);
    });
    return true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const watched = this.watched.get(rawRequest(context));
    if (!watched) return next.handle();
    return next.handle().pipe(
      tap((value) => {
        watched.returned = { value };
      }),
    );
  }

  private look({ returned }: Watched, body: unknown): void {
    if (returned === undefined) this.findings.replaced();
    else if (!(body instanceof Stream) && JSON.stringify(body) !== JSON.stringify(returned.value))
      this.findings.changed();
  }
}

/** Whether the host has recognised the request as ours. A request without a context does not belong to us. */
function isDecided(host: ArgumentsHost): boolean {
  return requestContextOf(rawRequest(host))?.recognised ?? true;
}

/** The names of the classes, in brackets. Nest wraps a class that it makes for each request, so its name is in `metatype`. */
function namesOf(enhancers: readonly object[]): string {
  const names = enhancers.map((each) => ('metatype' in each ? each.metatype : each.constructor));
  const classes = names.flatMap((each) => (typeof each === 'function' && each !== Object ? [each.name] : []));
  return classes.length === 0 ? '' : ` (${classes.join(', ')})`;
}
