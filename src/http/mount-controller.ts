import { Controller, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import { messagingControllerOptions } from './messaging-controller.js';
import { unvalidatedParameters } from './unvalidated-parameters.js';

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
