import { RequestMethod, SetMetadata, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_PATH, PATH_METADATA } from '@nestjs/common/constants.js';
import { type ApplicationConfig, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { messagingControllerOptions } from './messaging-controller.js';
import type { EdgeRoute } from './route-table.js';

/** A handler of one of our controllers, at one path. */
export interface MountedHandler {
  readonly controller: Type<object>;
  /** Name of the method in the controller. */
  readonly name: string;
  readonly handler: object;
  /** `GET`, `POST`, … */
  readonly method: string;
  /** The full path with parameters as `:name`. */
  readonly path: string;
  /** The path without the host's global prefix. */
  readonly unprefixedPath: string;
}

/**
 * The handlers of all our controllers that are mounted in this application, with the paths that Nest registers them
 * under: the host's global prefix (and its exclusions), its RouterModule, the controller's path, the handler's.
 */
export function mountedHandlers(modules: ModulesContainer, config: ApplicationConfig): MountedHandler[] {
  const scanner = new MetadataScanner();
  const handlers: MountedHandler[] = [];
  for (const { metatype: module, controllers } of modules.values()) {
    const modulePath: string | undefined =
      Reflect.getMetadata(MODULE_PATH + modules.applicationId, module) ?? Reflect.getMetadata(MODULE_PATH, module);
    for (const { metatype: controller } of controllers.values()) {
      if (!isClass(controller) || messagingControllerOptions(controller) === undefined) continue;
      const controllerPath: unknown = Reflect.getMetadata(PATH_METADATA, controller);
      if (typeof controllerPath !== 'string') continue;
      for (const name of scanner.getAllMethodNames(controller.prototype)) {
        const handler = controller.prototype[name];
        const handlerPaths: string | string[] | undefined = handler && Reflect.getMetadata(PATH_METADATA, handler);
        if (handler === undefined || handlerPaths === undefined) continue;
        const method: RequestMethod = Reflect.getMetadata(METHOD_METADATA, handler);
        for (const handlerPath of [handlerPaths].flat()) {
          const unprefixedPath = join(modulePath, controllerPath, handlerPath);
          const path = withPrefix(unprefixedPath, method, config);
          handlers.push({ controller, name, handler, method: RequestMethod[method], path, unprefixedPath });
        }
      }
    }
  }
  return handlers;
}

/** The mounted handlers as the edge needs them. */
export function mountedRoutes(modules: ModulesContainer, config: ApplicationConfig): EdgeRoute[] {
  return mountedHandlers(modules, config).map(({ controller, handler, method, path }) => {
    const { intake = true, authenticated = true } = messagingControllerOptions(controller) ?? {};
    const { deadline = true, waits = false, rawBody } = messagingRouteOptions(handler);
    return { method, path, intake, authenticated, deadline: intake && deadline, waits, rawBody };
  });
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
  /** True: the handler waits for events and changes nothing, so a shutdown answers with 503. Default false. */
  readonly waits?: boolean;
  /**
   * Passes the body on unparsed, of any content type, for `@RawBody()`: its largest size in bytes. For unauthenticated routes
   * only. Default: the body is JSON.
   */
  readonly rawBody?: number;
}

const ROUTE = 'nestjs-messaging:route';

/** Sets the options of one route of a `@MessagingController()`. */
export const MessagingRoute = (options: MessagingRouteOptions): MethodDecorator => SetMetadata(ROUTE, options);

/** The options that {@link MessagingRoute} set on a handler. */
export function messagingRouteOptions(handler: object): MessagingRouteOptions {
  return Reflect.getMetadata(ROUTE, handler) ?? {};
}
