import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { renderText } from '../common/catalogue.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import { AccountSettings } from './account-options.js';
import { CHALLENGE, deprecationHeaders } from './authentication-headers.js';
import {
  type Answer,
  Authenticator,
  callerOf,
  type HttpRequest,
  type RawRequest,
  rawRequestOf,
  rememberCaller,
} from './authenticator.js';

/**
 * Authenticates requests to our own controllers; a refusal is a `MessagingError` for our filter. A request that the edge has
 * authenticated is not authenticated again.
 */
@Injectable()
export class MessagingApiKeyGuard implements CanActivate {
  private readonly deprecation: readonly (readonly [string, string])[];

  constructor(
    private readonly authenticator: Authenticator,
    protected readonly settings: AccountSettings,
    protected readonly adapterHost: HttpAdapterHost,
  ) {
    this.deprecation = Object.entries(deprecationHeaders(settings));
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const raw = rawRequestOf(http.getRequest<HttpRequest>());
    const response = http.getResponse<object>();
    const answer = callerOf(raw, this.authenticator) ?? this.authenticator.authenticate(raw.headers);
    return answer instanceof Promise
      ? answer.then((known) => this.admit(known, raw, response))
      : this.admit(answer, raw, response);
  }

  private admit(answer: Answer, raw: RawRequest, response: object): boolean {
    const { httpAdapter } = this.adapterHost;
    rememberCaller(raw, this.authenticator, answer);
    if (answer.kind === 'refused') {
      httpAdapter.setHeader(response, 'WWW-Authenticate', CHALLENGE);
      throw new MessagingError(answer.code);
    }
    if (answer.caller.via === 'legacy-bearer') {
      // Appended, because the host may have links of its own; the other headers have one value.
      for (const [name, value] of this.deprecation) {
        if (name === 'Link') httpAdapter.appendHeader(response, name, value);
        else httpAdapter.setHeader(response, name, value);
      }
    }
    return true;
  }
}

/**
 * Protects a host's own route with our API keys, with the same precedence, deprecation headers and `WWW-Authenticate` as on
 * our routes. Read the caller with `@Caller()`. HTTP only, on Express and Fastify.
 *
 * @throws UnauthorizedException (401) with the API's error body
 * @throws ServiceUnavailableException (503) when the storage is unavailable
 * @example
 * ```ts
 * @UseGuards(ApiKeyGuard)
 * @Get('invoices')
 * list(@Caller() caller: Caller) { return this.invoices.of(caller.accountId); }
 * ```
 */
@Injectable()
export class ApiKeyGuard extends MessagingApiKeyGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await super.canActivate(context);
    } catch (error) {
      throw error instanceof MessagingError ? this.translate(error, context) : error;
    }
  }

  private translate(error: MessagingError, context: ExecutionContext): HttpException {
    const message = renderText(this.settings.catalogue, error.code, error.values);
    const cause = { cause: error };
    if (!(error instanceof StorageUnavailableError)) {
      return new UnauthorizedException({ statusCode: 401, message, error: 'Unauthorized' }, cause);
    }
    const response = context.switchToHttp().getResponse<object>();
    this.adapterHost.httpAdapter.setHeader(response, 'Retry-After', String(error.retryAfter ?? 1));
    return new ServiceUnavailableException({ statusCode: 503, message, error: 'Service Unavailable' }, cause);
  }
}
