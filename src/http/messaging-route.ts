import { SetMetadata } from '@nestjs/common';

/** What the edge does for one route. */
export interface MessagingRouteOptions {
  /** False: the request is never cut with a 504, for answers that stream (SSE). Default true. */
  readonly deadline?: boolean;
  /** True: its handler waits for news and changes nothing, so a shutdown answers its requests with 503. Default false. */
  readonly waits?: boolean;
  /**
   * Hands the body on as it came, whatever its content type, for `@RawBody()`: at most so many bytes, on an unauthenticated
   * route only. Default: a body is JSON.
   */
  readonly rawBody?: number;
}

const ROUTE = 'nestjs-messaging:route';

/** Sets what is special about one route of a `@MessagingController()`. */
export const MessagingRoute = (options: MessagingRouteOptions): MethodDecorator => SetMetadata(ROUTE, options);

/** What a handler was given by {@link MessagingRoute}. */
export function messagingRouteOptions(handler: object): MessagingRouteOptions {
  return Reflect.getMetadata(ROUTE, handler) ?? {};
}
