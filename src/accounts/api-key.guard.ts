import {
  type ExecutionContext,
  HttpException,
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { renderText } from '../common/catalogue.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import { MessagingApiKeyGuard } from './messaging-api-key.guard.js';

/**
 * Puts a host's own route behind our API keys, with the same precedence, deprecation headers and `WWW-Authenticate` as on
 * our routes. Read the caller with `@Caller()`. HTTP only, on Express and Fastify.
 *
 * A refusal is an `UnauthorizedException` (401) with the contract's body, and a `ServiceUnavailableException` (503) when
 * storage cannot answer, so the host's own filters see what they are used to.
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
