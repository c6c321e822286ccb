import { RequestMethod, SetMetadata, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_PATH, PATH_METADATA } from '@nestjs/common/constants.js';
import { type ApplicationConfig, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { neededBy } from '../accounts/keys/needs.decorator.js';
import { messagingControllerOptions } from './messaging-route.js';
import type { EdgeRoute } from './route-table.js';

/** A route with the handler that answers it. */
export interface MountedRoute extends EdgeRoute {
  readonly controller: Type<object>;
  /** Name of the handler in its controller. */
  readonly name: string;
  readonly handler: object;
  /** The path without the host's global prefix. */
  readonly unprefixedPath: string;
}

/**
 * The routes of all our controllers that are mounted in this application, with the paths that Nest registers them
 * under: the host's global prefix (and its exclusions), its RouterModule, the controller's path, the handler's.
 */
export function mountedRoutes(modules: ModulesContainer, config: ApplicationConfig): MountedRoute[] {
  const scanner = new MetadataScanner();
  const routes: MountedRoute[] = [];
  for (const { metatype: module, controllers } of modules.values()) {
    const modulePath: string | undefined =
      Reflect.getMetadata(MODULE_PATH + modules.applicationId, module) ?? Reflect.getMetadata(MODULE_PATH, module);
    for (const { metatype: controller } of controllers.values()) {
      if (!isClass(controller)) continue;
      const options = messagingControllerOptions(controller);
      const controllerPath: unknown = Reflect.getMetadata(PATH_METADATA, controller);
      if (options === undefined || typeof controllerPath !== 'string') continue;
      for (const name of scanner.getAllMethodNames(controller.prototype)) {
        const handler = controller.prototype[name];
        const handlerPaths: string | string[] | undefined = handler && Reflect.getMetadata(PATH_METADATA, handler);
        if (handler === undefined || handlerPaths === undefined) continue;
        const method: RequestMethod = Reflect.getMetadata(METHOD_METADATA, handler);
        const {
          deadline = true,
          waits = false,
          whileClosing = false,
          rawBody,
          streamed,
        } = messagingRouteOptions(handler);
        for (const handlerPath of [handlerPaths].flat()) {
          const unprefixedPath = join(modulePath, controllerPath, handlerPath);
          routes.push({
            controller,
            name,
            handler,
            method: RequestMethod[method],
            path: withPrefix(unprefixedPath, method, config),
            unprefixedPath,
            intake: options.intake,
            authenticated: options.authenticated,
            permission: neededBy(handler),
            deadline: options.intake && deadline,
            waits,
            whileClosing,
            rawBody,
            streamed,
          });
        }
      }
    }
  }
  return routes;
}

function withPrefix(path: string, method: RequestMethod, config: ApplicationConfig): string {
  const excluded = config
    .getGlobalPrefixOptions()
    .exclude?.some(
      ({ requestMethod, pathRegex }) =>
        (requestMethod === method || requestMethod === RequestMethod.ALL) && pathRegex.test(path),
    );
  return excluded ? path : join(config.getGlobalPrefix(), path);
}

function join(...parts: readonly (string | undefined)[]): string {
  const segments = parts.flatMap((part) => (part ?? '').split('/')).filter((segment) => segment !== '');
  return `/${segments.join('/')}`;
}

function isClass(metatype: unknown): metatype is Type<object> & { readonly prototype: Record<string, object> } {
  return typeof metatype === 'function' && metatype.prototype !== undefined;
}

/** Options of one route. */
interface MessagingRouteOptions {
  /** False: the request has no deadline, for answers that stream (SSE). Default true. */
  readonly deadline?: boolean;
  /** True: the handler waits for events and changes nothing, so a shutdown answers it with 503. Default false. */
  readonly waits?: boolean;
  /** True: the route also answers during a shutdown, and the shutdown does not wait for it. Default false. */
  readonly whileClosing?: boolean;
  /**
   * The largest size in bytes of a body that is passed to `@RawBody()` unparsed, whatever its content type. For unauthenticated
   * routes only. Default: the body is parsed as JSON.
   */
  readonly rawBody?: number;
  /**
   * The media type whose bodies are passed to `@BodyStream()` as they arrive. The handler limits their size. Other bodies are parsed
   * as JSON. Default: none.
   */
  readonly streamed?: string;
}

const ROUTE = 'nestjs-messaging:route';

/** Sets the options of one route of a `@MessagingController()`. */
export const MessagingRoute = (options: MessagingRouteOptions): MethodDecorator => SetMetadata(ROUTE, options);

/** The options that {@link MessagingRoute} set on a handler. */
function messagingRouteOptions(handler: object): MessagingRouteOptions {
  return Reflect.getMetadata(ROUTE, handler) ?? {};
}
