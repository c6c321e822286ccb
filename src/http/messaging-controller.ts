import { applyDecorators, SetMetadata, type Type, UseFilters, UseGuards } from '@nestjs/common';
import { MessagingApiKeyGuard } from '../accounts/api-key.guard.js';
import { MessagingExceptionFilter } from './messaging-exception.filter.js';

/** Options of all routes of a controller. */
export interface MessagingControllerOptions {
  /** False: API keys are neither required nor read. Default true. */
  readonly authenticated?: boolean;
  /** False: the host receives the requests, without our limits; errors still have our shape. Default true. */
  readonly intake?: boolean;
}

const CONTROLLER = 'nestjs-messaging:controller';

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

/**
 * The options of a controller of ours, undefined for any other class. A host's global guard or interceptor can call it with
 * `context.getClass()` to skip our routes.
 *
 * @example
 * ```ts
 * if (messagingControllerOptions(context.getClass())) return true;
 * ```
 */
export function messagingControllerOptions(
  controller: Type<unknown>,
): Required<MessagingControllerOptions> | undefined {
  return Reflect.getMetadata(CONTROLLER, controller);
}
