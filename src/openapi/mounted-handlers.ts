import { RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  MODULE_PATH,
  PATH_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/constants.js';
import { type ApplicationConfig, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';

/** A handler at one of the places where it is mounted. */
export interface MountedHandler {
  /** The mounted class. */
  readonly controller: Type<object>;
  readonly name: string;
  readonly handler: object;
  /** As OpenAPI writes it: `get`, `post`, … */
  readonly method: string;
  /** The whole path as OpenAPI writes it: `/api/v1/sms/{smsID}`. */
  readonly path: string;
  /** The same without the host's global prefix. */
  readonly unprefixedPath: string;
  /** The status of a success. */
  readonly status: number;
}

/** Every handler of the application's controllers that `isWanted` says yes to, at every path that Nest gives it. */
export function mountedHandlers(
  modules: ModulesContainer,
  config: ApplicationConfig,
  isWanted: (controller: Type<object>) => boolean,
): MountedHandler[] {
  return [...modules.values()].flatMap(({ metatype: module, controllers }) => {
    const modulePath: string | undefined =
      Reflect.getMetadata(MODULE_PATH + modules.applicationId, module) ?? Reflect.getMetadata(MODULE_PATH, module);
    return [...controllers.values()].flatMap(({ metatype }) =>
      isClass(metatype) && isWanted(metatype) ? handlersOf(metatype, modulePath, config) : [],
    );
  });
}

function handlersOf(
  controller: Type<object>,
  modulePath: string | undefined,
  config: ApplicationConfig,
): MountedHandler[] {
  const prototype: Readonly<Record<string, object | undefined>> = controller.prototype;
  const versioning = config.getVersioning();
  return new MetadataScanner().getAllMethodNames(controller.prototype).flatMap((name) => {
    const handler = prototype[name];
    const methodPaths: string | string[] | undefined = handler && Reflect.getMetadata(PATH_METADATA, handler);
    if (handler === undefined || methodPaths === undefined) return [];
    const requestMethod: RequestMethod = Reflect.getMetadata(METHOD_METADATA, handler);
    const method = (RequestMethod[requestMethod] ?? '').toLowerCase();
    const status: number = Reflect.getMetadata(HTTP_CODE_METADATA, handler) ?? (method === 'post' ? 201 : 200);
    return [methodPaths].flat().flatMap((methodPath) => {
      const pathsBelow = (globalPrefix: string): string[] =>
        new RoutePathFactory(config).create(
          {
            methodPath,
            methodVersion: Reflect.getMetadata(VERSION_METADATA, handler),
            ctrlPath: Reflect.getMetadata(PATH_METADATA, controller),
            controllerVersion: Reflect.getMetadata(VERSION_METADATA, controller),
            ...(versioning && { versioningOptions: versioning }),
            ...(modulePath !== undefined && { modulePath }),
            globalPrefix,
          },
          requestMethod,
        );
      const unprefixed = pathsBelow('');
      return pathsBelow(config.getGlobalPrefix()).map((path, index) => ({
        ...{ controller, name, handler, method, status },
        path: template(path),
        unprefixedPath: template(unprefixed[index] ?? path),
      }));
    });
  });
}

/** `:name` is `{name}` in OpenAPI. */
function template(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function isClass(metatype: unknown): metatype is Type<object> {
  return typeof metatype === 'function' && metatype.prototype !== undefined;
}
