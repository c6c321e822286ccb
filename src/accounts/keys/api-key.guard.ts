import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  HttpException,
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type ErrorCode, MessagingError, StorageUnavailableError } from '../../common/errors.js';
import { requestIn, responseIn } from '../../common/http-context.js';
import { renderText } from '../../common/text/catalogue.js';
import { AccountSettings } from '../account-options.js';
import { Admission } from '../admission.js';
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
import { neededBy } from './needs.decorator.js';

/** The common part of Express's and Fastify's requests. */
interface FramedRequest {
  readonly url?: string;
  readonly ip?: string;
}

/**
 * Authenticates requests to our own controllers. It refuses a request with a `MessagingError`, which our filter
 * answers. A request that the edge has authenticated is not authenticated again.
 */
@Injectable()
export class MessagingApiKeyGuard implements CanActivate {
  private readonly deprecation: readonly (readonly [string, string])[];

  constructor(
    private readonly authenticator: Authenticator,
    private readonly admission: Admission,
    protected readonly settings: AccountSettings,
    protected readonly adapterHost: HttpAdapterHost,
  ) {
    this.deprecation = Object.entries(deprecationHeaders(settings));
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestIn<HttpRequest & FramedRequest>(context);
    const raw = rawRequestOf(request);
    const response = responseIn<object>(context);
    const answer = callerOf(raw, this.authenticator) ?? this.answerOf(context, raw, request);
    return answer instanceof Promise
      ? answer.then((known) => this.admit(known, raw, response))
      : this.admit(answer, raw, response);
  }

  private answerOf(context: ExecutionContext, raw: RawRequest, { url, ip }: FramedRequest): Answer | Promise<Answer> {
    const permission = neededBy(context.getHandler());
    const admit = (answer: Answer) => this.admission.admit(answer, permission, { target: url ?? '', ip });
    const answer = this.authenticator.authenticate(raw.headers, permission?.bearer);
    return answer instanceof Promise ? answer.then(admit) : admit(answer);
  }

  private admit(answer: Answer, raw: RawRequest, response: object): boolean {
    const { httpAdapter } = this.adapterHost;
    rememberCaller(raw, this.authenticator, answer);
    if (answer.kind === 'refused') {
      if (isUnauthorized(answer.code)) httpAdapter.setHeader(response, 'WWW-Authenticate', CHALLENGE);
      throw new MessagingError(answer.code, {}, answer.retryAfter);
    }
    if (answer.caller.via === 'legacy-bearer') {
      // `Link` is appended, because the host may have set links of its own. The other headers have one value.
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
 * @throws ForbiddenException (403) for an address from which the key may not be used, and for an operator, who belongs
 * to no account
 * @throws HttpException (429) above the requests per minute of the key, with `Retry-After`
 * @throws ServiceUnavailableException (503) if the storage is unavailable
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
    if (!(error instanceof StorageUnavailableError) && isUnauthorized(error.code)) {
      return new UnauthorizedException({ statusCode: 401, message, error: 'Unauthorized' }, cause);
    }
    const retryAfter = error instanceof StorageUnavailableError ? (error.retryAfter ?? 1) : error.retryAfter;
    if (retryAfter !== undefined) {
      const response = responseIn<object>(context);
      this.adapterHost.httpAdapter.setHeader(response, 'Retry-After', String(retryAfter));
    }
    if (error.code === 'error.key_rate') {
      return new HttpException({ statusCode: 429, message, error: 'Too Many Requests' }, 429, cause);
    }
    if (error.code === 'error.address_not_allowed' || error.code === 'error.role_missing') {
      return new ForbiddenException({ statusCode: 403, message, error: 'Forbidden' }, cause);
    }
    return new ServiceUnavailableException({ statusCode: 503, message, error: 'Service Unavailable' }, cause);
  }
}

function isUnauthorized(code: ErrorCode): boolean {
  return code === 'error.unauthorized' || code === 'error.use_x_api_key';
}
