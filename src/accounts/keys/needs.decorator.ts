import { SetMetadata } from '@nestjs/common';
import { type Permission, type PermissionName, permissionOf } from './permissions.js';

const NEEDS = 'nestjs-messaging:needs';

/** Says who may use one route of ours: by a name of `PERMISSIONS`, or in full. Every route that needs credentials has it. */
export const Needs = (permission: PermissionName | Permission): MethodDecorator =>
  SetMetadata(NEEDS, typeof permission === 'string' ? permissionOf(permission) : permission);

/** What {@link Needs} said. */
export function neededBy(handler: object): Permission | undefined {
  return Reflect.getMetadata(NEEDS, handler);
}
