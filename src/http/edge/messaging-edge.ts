import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { AccountSettings } from '../../accounts/account-options.js';
import { Admission } from '../../accounts/admission.js';
import { deprecationHeaders } from '../../accounts/keys/authentication-headers.js';
import { Authenticator } from '../../accounts/keys/authenticator.js';
import { Clock } from '../../common/clock.js';
import { HttpSettings } from '../http-options.js';
import { mountedRoutes } from '../mounted-routes.js';
import { MessagingReadiness } from '../readiness.js';
import { RoutePaths } from '../route-table.js';
import { type BodyTest, type ContinuingServer, holdContinue } from './expect-continue.js';
import { type ExpressApp, installErrorsOnExpress, installOnExpress } from './express-edge.js';
import { type FastifyApp, installOnFastify } from './fastify-edge.js';
import { RequestGate } from './request-gate.js';

/**
 * Installs the request gate on our routes and on no others. The host needs no code for this: the gate is installed as soon as the
 * application has a platform, before the host's body parsers are mounted.
 *
 * Limits set by Nest: a host's global guards run before ours (their refusals get our shape), and its global interceptors see
 * our answers; they can recognise our routes with `isMessagingRoute(context)`. On Express, requests
 * refused here (400, 413, 415, 504) do not pass the host's `app.use()` and `enableCors()`. On Fastify, the router answers
 * paths that it cannot decode (400) and parameters of over 100 characters (414); the documentation shows how a host gives
 * those answers our shape.
 */
@Injectable()
export class MessagingEdge implements OnModuleInit, OnModuleDestroy {
  private readonly gate: RequestGate;
  private express: ExpressApp | undefined;
  private takesBody: BodyTest | undefined;
  private routes: RoutePaths | undefined;
  private prefix: string | undefined;
  private prefixOptions: object | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly readiness: MessagingReadiness,
    settings: HttpSettings,
    authenticator: Authenticator,
    admission: Admission,
    accounts: AccountSettings,
    clock: Clock,
  ) {
    this.gate = new RequestGate(authenticator, admission, settings, deprecationHeaders(accounts), clock);
    adapterHost.init$.subscribe(() => this.install());
  }

  /**
   * Installs the error handling. At this time the server exists and all routes are registered, but the host's error
   * handling is not.
   */
  onModuleInit(): void {
    const server: ContinuingServer | undefined = this.adapterHost.httpAdapter?.getHttpServer?.();
    if (server !== undefined && this.takesBody !== undefined) holdContinue(server, this.takesBody);
    if (this.express !== undefined) installErrorsOnExpress(this.express, this.gate);
  }

  /**
   * Ends the readiness, then closes the gate. Resolves when our handlers have ended, because workers, sessions and the storage stop
   * in later hooks.
   */
  onModuleDestroy(): Promise<void> {
    this.readiness.end();
    return this.gate.close();
  }

  private install(): void {
    const { httpAdapter } = this.adapterHost;
    const platform = this.platform();
    if (platform === undefined || mountedRoutes(this.modules, this.config).length === 0) return;
    if (platform === 'express') {
      const app = httpAdapter.getInstance<ExpressApp>();
      this.express = app;
      this.takesBody = installOnExpress(app, this.gate, () => this.table());
    } else if (platform === 'fastify') {
      this.takesBody = installOnFastify(httpAdapter.getInstance<FastifyApp>(), this.gate, () => this.table());
    } else {
      new Logger('Messaging').warn(`No body limit, deadline or JSON rules on the platform "${platform}".`);
    }
  }

  /** The platform's name, undefined in an application without HTTP. */
  private platform(): string | undefined {
    return this.adapterHost.httpAdapter?.getType?.() || undefined;
  }

  /** The routes under the host's current prefix, which the host sets after this class is instantiated. */
  private table(): RoutePaths {
    const prefix = this.config.getGlobalPrefix();
    const prefixOptions = this.config.getGlobalPrefixOptions();
    if (this.routes === undefined || prefix !== this.prefix || prefixOptions !== this.prefixOptions) {
      this.prefix = prefix;
      this.prefixOptions = prefixOptions;
      this.routes = new RoutePaths(mountedRoutes(this.modules, this.config), {
        caseSensitive: this.express?.enabled('case sensitive routing') ?? true,
        strict: this.express?.enabled('strict routing') ?? true,
      });
    }
    return this.routes;
  }
}
