import { SetMetadata } from '@nestjs/common';
import { type Permission, type PermissionName, permissionOf } from './permissions.js';

const NEEDS = 'nestjs-messaging:needs';

/**
 * Declares who may use one of our routes, by a name of `PERMISSIONS` or by a permission. Every route that needs
 * credentials has it.
 */
export const Needs = (permission: PermissionName | Permission): MethodDecorator =>
  SetMetadata(NEEDS, typeof permission === 'string' ? permissionOf(permission) : permission);

/** The permission that {@link Needs} has declared for a handler. */
export function neededBy(handler: object): Permission | undefined {
  return Reflect.getMetadata(NEEDS, handler);
}
