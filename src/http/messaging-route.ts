import type { ExecutionContext } from '@nestjs/common';
import { rawRequest } from './parameters.js';
import { requestContextOf } from './request-context.js';

/** Options of all routes of a controller. */
export interface MessagingControllerOptions {
  /** False: API keys are neither required nor read. Default true. */
  readonly authenticated?: boolean;
  /** False: the host receives the requests, without our limits; errors still have our shape. Default true. */
  readonly intake?: boolean;
}

/** The metadata of our controllers. */
export const CONTROLLER = 'nestjs-messaging:controller';

/** The options of a controller of ours, undefined for any other class. */
export function messagingControllerOptions(controller: object): Required<MessagingControllerOptions> | undefined {
  return Reflect.getMetadata(CONTROLLER, controller);
}

/**
 * Whether a request is for one of our routes: the API, carriers' callbacks, pages of codes and the sandbox. Our routes have API
 * keys, signatures and tokens of their own (the sandbox has none). So a global guard or interceptor that is meant for the host's
 * own routes should call this function first, before it refuses anything, and let our routes pass. A guard that is meant for all
 * routes, such as a throttler or an IP filter, does not need it.
 *
 * @example
 * ```ts
 * canActivate(context: ExecutionContext) {
 *   return isMessagingRoute(context) || this.isLoggedIn(context);
 * }
 * ```
 */
export function isMessagingRoute(context: ExecutionContext): boolean {
  if (messagingControllerOptions(context.getClass()) === undefined) return false;
  const request = requestContextOf(rawRequest(context));
  if (request !== undefined) request.recognised = true;
  return true;
}
