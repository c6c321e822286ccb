import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { Authenticator } from '../accounts/authenticator.js';
import { Clock } from '../common/clock.js';
import { Admission } from './admission.js';
import { type ExpressApp, installErrorsOnExpress, installOnExpress } from './express-edge.js';
import { type FastifyApp, installOnFastify } from './fastify-edge.js';
import { HttpSettings } from './http-settings.js';
import { mountedRoutes } from './mounted-routes.js';
import { RouteTable } from './route-table.js';

/**
 * Stands in front of our routes and nothing else, without a line from the host. It installs itself as soon as the
 * application has a platform, before the host's body parsers are mounted.
 */
@Injectable()
export class MessagingEdge implements OnModuleInit {
  readonly #admission: Admission;
  #table: RouteTable | undefined;
  #builtFor: readonly unknown[] = [];

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly settings: HttpSettings,
    authenticator: Authenticator,
    clock: Clock,
  ) {
    this.#admission = new Admission(authenticator, settings, clock);
    adapterHost.init$.subscribe(() => this.install());
  }

  /** By now all routes are registered, and the host's own error handling is not yet. */
  onModuleInit(): void {
    if (this.platform() !== 'express' || !this.settings.controllers) return;
    installErrorsOnExpress(this.adapterHost.httpAdapter.getInstance<ExpressApp>(), this.#admission);
  }

  private install(): void {
    if (!this.settings.controllers) return;
    const platform = this.platform();
    const { httpAdapter } = this.adapterHost;
    if (platform === 'express') {
      const app = httpAdapter.getInstance<ExpressApp>();
      installOnExpress(app, this.#admission, () => this.table(app));
    } else if (platform === 'fastify') {
      installOnFastify(httpAdapter.getInstance<FastifyApp>(), this.#admission, () => this.table());
    } else if (platform) {
      new Logger('Messaging').warn(`No body limit, deadline or JSON rules on the platform "${platform}".`);
    }
  }

  /** Undefined in an application without HTTP. */
  private platform(): string | undefined {
    return this.adapterHost.httpAdapter?.getType?.();
  }

  /** The routes under the host's prefix as it is now: the host sets it after we are made. */
  private table(express?: ExpressApp): RouteTable {
    const now = [this.config.getGlobalPrefix(), this.config.getGlobalPrefixOptions()];
    if (this.#table === undefined || now.some((value, index) => value !== this.#builtFor[index])) {
      this.#builtFor = now;
      this.#table = new RouteTable(mountedRoutes(this.modules, this.config), {
        caseSensitive: express?.enabled('case sensitive routing') ?? true,
        strict: express?.enabled('strict routing') ?? true,
      });
    }
    return this.#table;
  }
}
