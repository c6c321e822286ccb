import { Controller, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner } from '@nestjs/core';
import { neededBy } from '../accounts/keys/needs.decorator.js';
import { messagingControllerOptions } from './messaging-route.js';

/**
 * Makes a subclass of one of our controllers, with its routes below `path` (below the host's global prefix, and the same in every
 * API version of the host). Each call returns another class, so that several mounts and several applications in one process share
 * nothing. Routes, guards, filters and injected types are those of `Base`.
 * @throws Error if a handler takes a body or a query with Nest's own decorators and no pipe, or if it needs credentials and has no
 *   `@Needs()`
 */
export function mountController(Base: Type<object>, path: string): Type<object> {
  const [unvalidated] = messagingControllerOptions(Base) === undefined ? [] : unvalidatedParameters(Base);
  if (unvalidated !== undefined) {
    throw new Error(`${unvalidated}: use @MessagingBody() or @MessagingQuery(), our rules do not see Nest's own.`);
  }
  const [open] = messagingControllerOptions(Base)?.authenticated ? routesWithoutNeeds(Base) : [];
  if (open !== undefined) throw new Error(`${open}: say with @Needs() who may use it.`);
  class Mounted extends Base {}
  Object.defineProperty(Mounted, 'name', { value: Base.name, configurable: true });
  Controller({ path, version: VERSION_NEUTRAL })(Mounted);
  return Mounted;
}

/** The handlers of a controller that do not say who may use them; each as `Controller.handler`. */
function routesWithoutNeeds(controller: Type<object> & { readonly prototype: Record<string, object> }): string[] {
  return new MetadataScanner()
    .getAllMethodNames(controller.prototype)
    .filter((name) => {
      const handler = controller.prototype[name];
      return handler && Reflect.hasMetadata(PATH_METADATA, handler) && neededBy(handler) === undefined;
    })
    .map((name) => `${controller.name}.${name}`);
}

/** Nest's own decorators that pass on a caller's input without validation. */
const RAW_INPUT = [RouteParamtypes.BODY, RouteParamtypes.QUERY];

/**
 * The handlers of a controller that take a body or a query with Nest's `@Body()` or `@Query()` and no pipe, so that our
 * rules would not apply. Each is written as `Controller.handler`.
 */
function unvalidatedParameters(controller: Type<object>): string[] {
  return new MetadataScanner()
    .getAllMethodNames(controller.prototype)
    .filter((handler) => {
      const parameters: Readonly<Record<string, { readonly pipes: readonly unknown[] }>> =
        Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {};
      return Object.entries(parameters).some(
        ([key, { pipes }]) => pipes.length === 0 && RAW_INPUT.some((type) => key.startsWith(`${type}:`)),
      );
    })
    .map((handler) => `${controller.name}.${handler}`);
}
