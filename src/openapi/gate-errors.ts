import type { Type } from '@nestjs/common';
import { messagingControllerOptions } from '../http/messaging-controller.js';
import { messagingRouteOptions } from '../http/mounted-routes.js';
import type { RouteError, Surroundings } from './controller-description.js';

/** For every route that asks storage for something; one behind an API key always does. */
export const STORAGE_UNAVAILABLE: RouteError = { code: 'error.storage_unavailable', retryAfter: 1 };

/** What stands in front of a handler, as the edge sees it. */
export interface Gate {
  /** Whether the edge takes its requests in: body, deadline. */
  readonly edge: boolean;
  /** Whether an API key is asked for. */
  readonly authenticated: boolean;
  readonly errors: readonly RouteError[];
}

/** The refusals that a route gives without its handler's doing. */
export function gateOf(controller: Type<object>, handler: object, { accounts }: Surroundings): Gate {
  const options = messagingControllerOptions(controller);
  const edge = options?.intake ?? false;
  const authenticated = options?.authenticated ?? false;
  const { deadline: timed = true, rawBody } = messagingRouteOptions(handler);
  const deadline = edge && timed;
  return {
    edge,
    authenticated,
    errors: [
      ...(authenticated ? REFUSED : []),
      ...(authenticated && accounts.legacyBearer === false ? BEARER_REFUSED : []),
      ...(authenticated && edge ? CROWDED : []),
      ...(edge ? (rawBody === undefined ? BAD_BODY : [TOO_LARGE]) : []),
      { code: 'error.internal' },
      ...(authenticated ? [STORAGE_UNAVAILABLE] : []),
      ...(deadline ? TOO_LATE : []),
    ],
  };
}

const REFUSED: readonly RouteError[] = [{ code: 'error.unauthorized' }];
const BEARER_REFUSED: readonly RouteError[] = [{ code: 'error.use_x_api_key' }];
const CROWDED: readonly RouteError[] = [{ code: 'error.too_many_in_flight', retryAfter: 1 }];
const TOO_LARGE: RouteError = { code: 'error.body_too_large' };
const BAD_BODY: readonly RouteError[] = [
  { code: 'error.malformed_json' },
  { code: 'error.body_not_object' },
  TOO_LARGE,
  { code: 'error.unsupported_media_type' },
];
const TOO_LATE: readonly RouteError[] = [{ code: 'error.timeout' }];
