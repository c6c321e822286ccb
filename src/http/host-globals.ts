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
import { messagingControllerOptions } from './messaging-route.js';
import { rawRequest } from './parameters.js';
import { requestContextOf } from './request-context.js';

/** Statuses with which a guard for other routes refuses our callers. A throttler's 429 is wanted here too. */
const NOT_LET_IN = [401, 403];

/**
 * Warns when a global guard or interceptor of the host gets in the way of our routes, which a host easily overlooks: at the
 * first such request, once each. It changes nothing. A host that asks {@link isMessagingRoute} in the request has decided, and
 * is not warned; nor is one whose globals let our requests and answers pass as they are.
 */
@Injectable()
export class HostGlobals {
  private readonly logger = new Logger('Messaging');
  private readonly warned = new Set<string>();

  constructor(
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
  ) {}

  /** Looks at an error of one of our routes: our own refusals are no `HttpException`. */
  noteError(error: unknown, host: ArgumentsHost): void {
    if (!(error instanceof HttpException) || !NOT_LET_IN.includes(error.getStatus())) return;
    const guards = [...this.config.getGlobalGuards(), ...this.config.getGlobalRequestGuards()];
    if (guards.length === 0 || isDecided(host)) return;
    this.warn(
      `A global guard${namesOf(guards)} refused a request to a messaging route with ${error.getStatus()}. If it is meant for your own routes only, let it return true where isMessagingRoute(context).`,
    );
  }

  /**
   * Compares the answers of our handlers with what is sent, in a host with global interceptors; elsewhere it would only cost
   * time. To be called after the host's `app.useGlobalInterceptors()`, and before Nest reads what is bound to controllers.
   */
  watchAnswers(): void {
    const interceptors = [...this.config.getGlobalInterceptors(), ...this.config.getGlobalRequestInterceptors()];
    const who = `A global interceptor${namesOf(interceptors)}`;
    const cure = 'let it return next.handle() where isMessagingRoute(context).';
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
          // All that is bound stays, the host's own too, but for the watch of another application with the same modules.
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

/** Starts the look at answers: `configure()` is the one moment between the host's set-up and the registration of routes. */
@Module({ providers: [HostGlobals], exports: [HostGlobals] })
export class HostGlobalsModule implements NestModule {
  constructor(private readonly globals: HostGlobals) {}

  configure(): void {
    this.globals.watchAnswers();
  }
}

interface Findings {
  /** What is sent is not what the handler returned. */
  changed(): void;
  /** Something is sent, and the handler has not been called. */
  replaced(): void;
}

/** The part of Express's response and of Fastify's reply that is used here. */
interface PlatformResponse {
  readonly statusCode: number;
}

/** As a guard it runs before the global interceptors, as an interceptor after them. */
class AnswerWatch implements CanActivate, NestInterceptor {
  private readonly returned = new WeakMap<object, { readonly value: unknown }>();
  /** Handlers of which an answer has been compared; to compare each would serialise it twice more. */
  private readonly compared = new Set<object>();

  constructor(private readonly findings: Findings) {}

  canActivate(context: ExecutionContext): boolean {
    // What the guards asked says nothing of the interceptors.
    const request = requestContextOf(rawRequest(context));
    if (request !== undefined) request.recognised = false;
    const response = context.switchToHttp().getResponse<PlatformResponse>();
    // Of Express; Fastify sends all with the other.
    const method = 'json' in response ? 'json' : 'send';
    const send: (body: unknown) => unknown = Reflect.get(response, method);
    Reflect.set(response, method, (body: unknown) => {
      Reflect.set(response, method, send);
      if (response.statusCode < 400 && !isDecided(context)) this.look(context, body);
      return send.call(response, body);
    });
    return true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = rawRequest(context);
    return next.handle().pipe(tap((value) => void this.returned.set(request, { value })));
  }

  private look(context: ExecutionContext, body: unknown): void {
    const returned = this.returned.get(rawRequest(context));
    const handler = context.getHandler();
    if (returned === undefined) this.findings.replaced();
    else if (!this.compared.has(handler) && !(body instanceof Stream)) {
      this.compared.add(handler);
      if (JSON.stringify(body) !== JSON.stringify(returned.value)) this.findings.changed();
    }
  }
}

/** Whether the host has recognised the request as one of ours; one without a context is none of ours. */
function isDecided(host: ArgumentsHost): boolean {
  return requestContextOf(rawRequest(host))?.recognised ?? true;
}

/** The names of classes, in brackets: of instances, and of what Nest makes for each request. */
function namesOf(enhancers: readonly object[]): string {
  const names = enhancers.map((each) => ('metatype' in each ? each.metatype : each.constructor));
  const classes = names.flatMap((each) => (typeof each === 'function' && each !== Object ? [each.name] : []));
  return classes.length === 0 ? '' : ` (${classes.join(', ')})`;
}
