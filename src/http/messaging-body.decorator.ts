import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { MessagingValidationPipe } from './messaging-validation.pipe.js';

interface PlatformRequest {
  readonly body?: unknown;
  readonly query?: unknown;
}

const RequestBody = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return context.switchToHttp().getRequest<PlatformRequest>().body;
});

const RequestQuery = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return context.switchToHttp().getRequest<PlatformRequest>().query;
});

/**
 * The body as the parameter's DTO, checked by our rules alone. Nest's own `@Body()` would first hand it to the host's
 * global ValidationPipe, whose `forbidNonWhitelisted` or texts are not ours; that pipe passes over parameters of custom
 * decorators. Swagger does not see those either: `*.openapi.ts` beside the controller describes them.
 */
export const MessagingBody = (): ParameterDecorator => RequestBody(undefined, MessagingValidationPipe);

/** The query string as the parameter's DTO; the same applies. */
export const MessagingQuery = (): ParameterDecorator => RequestQuery(undefined, MessagingValidationPipe);
