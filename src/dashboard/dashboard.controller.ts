import { posix } from 'node:path';
import { Get, Header, Headers, Injectable, Param, StreamableFile } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { once } from '../common/concurrency/once.js';
import { MessagingError } from '../common/errors.js';
import { HttpSettings } from '../http/http-options.js';
import { MessagingController } from '../http/messaging-controller.js';
import { mountedRoutes } from '../http/mounted-routes.js';
import { ReplyHeaders } from '../http/parameters.js';
import { dashboardFiles, packed } from './dashboard-files.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';
import { type DashboardPage, dashboardPage } from './dashboard-page.js';
import { acceptTrailingSlash } from './trailing-slash.js';

/** The options of the mounted dashboard. The class is the injection token. */
export abstract class DashboardSettings {
  abstract readonly options: ResolvedDashboardOptions;
}

/** The page of the mounted dashboard with the address of its API. */
@Injectable()
export class DashboardPages {
  constructor(
    private readonly settings: DashboardSettings,
    private readonly http: HttpSettings,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
    { httpAdapter }: HttpAdapterHost,
  ) {
    // An application context without HTTP has no adapter.
    if (httpAdapter?.getType() === 'fastify') acceptTrailingSlash(httpAdapter.getInstance(), () => this.path());
  }

  /** Returns the page. It is built at the first request, when all routes are known. */
  readonly page = once((): DashboardPage => {
    const { options } = this.settings;
    return dashboardPage(options, options.apiUrl ?? this.pathToApi());
  });

  /** Returns the path under which the page is registered. */
  private path(): string {
    const routes = mountedRoutes(this.modules, this.config);
    const page = routes.find(
      ({ controller, name }) => controller.prototype instanceof DashboardController && name === 'show',
    );
    return page?.path ?? '/';
  }

  /** Returns the address of the API relative to the folder of the page, computed from both paths. */
  private pathToApi(): string {
    const routes = mountedRoutes(this.modules, this.config);
    const root = `/${this.http.path}/`;
    const known = routes.find(({ path, authenticated }) => authenticated && path.includes(root))?.path ?? root;
    return posix.relative(this.path(), known.slice(0, known.indexOf(root) + root.length - 1)) || '.';
  }
}

/** Serves the built application from memory. */
@MessagingController({ authenticated: false, intake: false })
export class DashboardController {
  constructor(private readonly pages: DashboardPages) {}

  /** Returns the page. */
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Header('Cross-Origin-Opener-Policy', 'same-origin')
  @Header('Referrer-Policy', 'no-referrer')
  @Header('X-Content-Type-Options', 'nosniff')
  show(@Headers('if-none-match') known: string | undefined, @ReplyHeaders() reply: ReplyHeaders): string {
    const { html, policy, etag } = this.pages.page();
    reply.set('Content-Security-Policy', policy);
    reply.set('ETag', etag);
    if (known !== etag) return html;
    reply.status(304);
    return '';
  }

  /** Returns a file of the application. Its name changes with its content. */
  @Get('assets/:file')
  @Header('Cache-Control', 'public, max-age=31536000, immutable')
  @Header('Cross-Origin-Resource-Policy', 'same-origin')
  @Header('Vary', 'Accept-Encoding')
  @Header('X-Content-Type-Options', 'nosniff')
  asset(
    @Param('file') name: string,
    @Headers('accept-encoding') accepted: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): StreamableFile {
    const file = dashboardFiles().files.get(name);
    if (!file) throw new MessagingError('error.file_not_found');
    const [encoding, bytes] = packed(file, accepted ?? '');
    if (encoding !== undefined) reply.set('Content-Encoding', encoding);
    return new StreamableFile(bytes, { type: file.type, length: bytes.length });
  }
}
