import { Controller, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner } from '@nestjs/core';
import { messagingControllerOptions } from './messaging-controller.js';

/**
 * A fresh subclass of one of our controllers, with its routes below `path` (below the host's global prefix, and the
 * same in every API version of the host). Mounting again gives another class, so that several mounts and several
 * applications in one process share nothing; routes, guards, filters and injected types are those of `Base`.
 */
export function mountController(Base: Type<object>, path: string): Type<object> {
  const [unvalidated] = messagingControllerOptions(Base) === undefined ? [] : unvalidatedParameters(Base);
  if (unvalidated !== undefined) {
    throw new Error(`${unvalidated}: use @MessagingBody() or @MessagingQuery(), our rules do not see Nest's own.`);
  }
  class Mounted extends Base {}
  Object.defineProperty(Mounted, 'name', { value: Base.name, configurable: true });
  Controller({ path, version: VERSION_NEUTRAL })(Mounted);
  return Mounted;
}

/** Nest's own decorators that hand a caller's input over as it came. */
const RAW_INPUT = [RouteParamtypes.BODY, RouteParamtypes.QUERY];

/**
 * The handlers of a controller that take a body or a query with Nest's `@Body()` or `@Query()` and no pipe of their own:
 * our rules would not be asked there. `Controller.handler` each.
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
