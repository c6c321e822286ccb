import { applyDecorators, SetMetadata, UseFilters, UseGuards } from '@nestjs/common';
import { MessagingApiKeyGuard } from '../accounts/keys/api-key.guard.js';
import { MessagingExceptionFilter } from './messaging-exception.filter.js';
import { CONTROLLER, type MessagingControllerOptions } from './messaging-route.js';

/**
 * Marks a base class of a controller of ours. It binds our guard and our filter, and puts the class's requests behind the edge,
 * which checks the key before it reads the body, limits the body and sets the deadline. {@link mountController} gives the class
 * its path. `@MessagingBody()` and `@MessagingQuery()` validate bodies and queries.
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
