import { applyDecorators, SetMetadata, UseFilters, UseGuards } from '@nestjs/common';
import { MessagingApiKeyGuard } from '../accounts/keys/api-key.guard.js';
import { MessagingExceptionFilter } from './messaging-exception.filter.js';
import { CONTROLLER, type MessagingControllerOptions } from './messaging-route.js';

/**
 * Marks a base class whose routes are ours: binds our guard and our filter, and puts its requests behind the edge (key
 * before body, body limit, deadline). {@link mountController} gives the class its path. Bodies and queries are validated by
 * `@MessagingBody()` and `@MessagingQuery()`.
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
