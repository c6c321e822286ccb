import { applyDecorators, SetMetadata, type Type, UseFilters, UseGuards } from '@nestjs/common';
import { MessagingApiKeyGuard } from '../accounts/api-key.guard.js';
import { MessagingExceptionFilter } from './messaging-exception.filter.js';

/** What all routes of one of our controllers share. */
export interface MessagingControllerOptions {
  /** False: no API key is asked for and none is looked at. Default true. */
  readonly authenticated?: boolean;
  /** False: requests are the host's to take in, without our limits; errors have our shape all the same. Default true. */
  readonly intake?: boolean;
}

const CONTROLLER = 'nestjs-messaging:controller';

/**
 * Marks a base class whose routes are ours: binds our guard and our filter, and has the edge take care of its requests
 * (key before body, body limit, deadline). The class gets its path, and so its routes, from {@link mountController}.
 * Bodies and queries are validated where they are asked for: `@MessagingBody()`, `@MessagingQuery()`.
 */
export function MessagingController({
  authenticated = true,
  intake = true,
}: MessagingControllerOptions = {}): ClassDecorator {
  const options: Required<MessagingControllerOptions> = { authenticated, intake };
  return applyDecorators(
    SetMetadata(CONTROLLER, options),
    UseFilters(MessagingExceptionFilter),
    ...(authenticated ? [UseGuards(MessagingApiKeyGuard)] : []),
  );
}

/**
 * The options a class was marked with; undefined when it is none of ours. A host's global guard or interceptor can
 * ask with `context.getClass()` and let our routes pass.
 */
export function messagingControllerOptions(
  controller: Type<unknown>,
): Required<MessagingControllerOptions> | undefined {
  return Reflect.getMetadata(CONTROLLER, controller);
}
