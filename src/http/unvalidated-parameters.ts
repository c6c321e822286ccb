import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner } from '@nestjs/core';

/** Nest's own decorators that hand a caller's input over as it came. */
const RAW_INPUT = [RouteParamtypes.BODY, RouteParamtypes.QUERY];

/**
 * The handlers of a controller that take a body or a query with Nest's `@Body()` or `@Query()` and no pipe of their own:
 * our rules would not be asked there. `Controller.handler` each.
 */
export function unvalidatedParameters(controller: Type<object>): string[] {
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
