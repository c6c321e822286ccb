import { SetMetadata, type Type } from '@nestjs/common';
import { mountController } from '../http/mount-controller.js';
import type { ControllerDescription } from './controller-description.js';

const DESCRIPTION = 'nestjs-messaging:description';

/**
 * Mounts a controller below `path` and stores its description on the mounted class, where `describeMessaging` finds it.
 */
export function mountDescribed(description: ControllerDescription, path: string): Type<object> {
  const mounted = mountController(description.controller, path);
  SetMetadata(DESCRIPTION, description)(mounted);
  return mounted;
}

/** The description of a mounted controller; undefined for a controller of the host. */
export function descriptionOf(controller: Type<object>): ControllerDescription | undefined {
  return Reflect.getMetadata(DESCRIPTION, controller);
}
